/**
 * Mutants: deliberate bugs that the tests must catch.
 *
 * A mutant replaces one piece of text in one file of the product while it is tried. `loader.ts` puts it in when the
 * module loads, so the product has no switch and no mutant can ship. The killer of a mutant is in the record
 * (`record.ts`), not here, because each search may find another one.
 */

import { readFileSync } from "node:fs";
import path from "node:path";

/** The root folder of the repository. */
export const repositoryRoot: string = path.resolve(import.meta.dirname, "../../../..");

/** The folder of the files of mutants, from the root of the repository, except for those of the package of backups. */
const SOURCE_FOLDER = "node/src";
const BACKUP_FOLDER = "backup/src";

export interface Mutant {
  /** The bug, in a few words with hyphens. Unique. */
  readonly name: string;
  /** The rule that it breaks, such as "P5". */
  readonly pitfall: string;
  /** Below node/src, or a path from backup/src on. */
  readonly file: string;
  /** The replaced text, which must be in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** The replaced text is missing or there twice: the mutant proves nothing any more. */
export class StaleMutant extends Error {
  constructor({ name, file }: Mutant, count: number) {
    super(`stale mutant ${name}: what it replaces stands ${count} times in ${file} instead of once`);
    this.name = "StaleMutant";
  }
}

/** The source with the bug in it. Throws a StaleMutant. */
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

/** The absolute path of a mutant's file. */
export function pathOf(mutant: Mutant): string {
  return path.join(repositoryRoot, fileOf(mutant));
}

/** The present content of a mutant's file. */
export function sourceOf(mutant: Mutant): string {
  return readFileSync(pathOf(mutant), "utf8");
}
