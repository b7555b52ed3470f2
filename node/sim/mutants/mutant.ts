/**
 * Mutants: deliberate bugs that the tests must catch.
 *
 * A mutant is one piece of text in one file of the product, and what stands there instead while it is tried. It is put
 * in as the module loads (`loader.ts`), so the product holds no switch and none can ship. What catches a mutant is kept
 * apart from it, in the record (`record.ts`), because it is found anew from time to time.
 */

import { readFileSync } from "node:fs";
import path from "node:path";

/** The root folder of the repository. */
export const repositoryRoot: string = path.resolve(import.meta.dirname, "../../..");

/** Where the files of mutants lie, from the root of the repository, but for those of the package of backups. */
const SOURCE_FOLDER = "node/src";
const BACKUP_FOLDER = "backup/src";

export interface Mutant {
  /** What is wrong, in a few words with hyphens. Unique. */
  readonly name: string;
  /** The rule that it breaks, such as "P5". */
  readonly pitfall: string;
  /** Below node/src, or from backup/src on. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** The text that a mutant replaces is not there, or is there twice: the mutant says nothing any more. */
export class StaleMutant extends Error {
  constructor({ name, file }: Mutant, count: number) {
    super(`stale mutant ${name}: what it replaces stands ${count} times in ${file} instead of once`);
    this.name = "StaleMutant";
  }
}

/** The source with the bug in it. Raises a StaleMutant. */
export function mutated(source: string, mutant: Mutant): string {
  const { find, replace } = mutant;
  const [before, after, ...more] = source.split(find);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new StaleMutant(mutant, source.split(find).length - 1);
  }
  return `${before}${replace}${after}`;
}

/** The file of a mutant from the root of the repository. */
export function fileOf({ file }: Pick<Mutant, "file">): string {
  return file.startsWith(`${BACKUP_FOLDER}/`) ? file : `${SOURCE_FOLDER}/${file}`;
}

/** The file of a mutant, as it is on the disk. */
export function pathOf(mutant: Mutant): string {
  return path.join(repositoryRoot, fileOf(mutant));
}

/** What stands in the file of a mutant now. */
export function sourceOf(mutant: Mutant): string {
  return readFileSync(pathOf(mutant), "utf8");
}
