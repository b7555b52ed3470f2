/**
 * Names of the state directories: `state-<n>`. The file `state` names the live one.
 */

import { basename, dirname, join } from "node:path";
import { invariant } from "../../primitives/index.ts";

const POINTER_FILE = "state";
const PREFIX = "state-";
const NUMBER_PATTERN = /^state-([1-9][0-9]*)$/;

/** Number of the state in this directory. */
export function stateNumberOf(directory: string): number {
  const number = NUMBER_PATTERN.exec(basename(directory))?.[1];
  invariant(number !== undefined, "a state lies in a directory named state-<n>", () => directory);
  return Number(number);
}

/** The directory of another state beside this one. */
export function stateDirectoryBeside(directory: string, number: number): string {
  return join(dirname(directory), `${PREFIX}${number}`);
}

/** The file that names the live state, beside its directory. */
export function statePointerBeside(directory: string): string {
  return join(dirname(directory), POINTER_FILE);
}

/** Content of the file while the state in this directory is the live one. */
export function statePointerTo(directory: string): string {
  return `${basename(directory)}\n`;
}
