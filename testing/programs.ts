/**
 * The programs that tests start, such as a member. The test runner bundles them before a run, because a bundled program
 * starts with half the processor time, and members of the image are bundled, too. Without bundles, or if a test must see
 * the sources, a program runs from its source.
 */

import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

/** The environment variable with the file that lists bundled programs: a JSON object from source to bundle. */
export const PROGRAMS_VARIABLE = "QUOIN_TEST_PROGRAMS";

const lists = new Map<string, ReadonlyMap<string, string>>();

function read(list: string): ReadonlyMap<string, string> {
  const known = lists.get(list) ?? new Map(Object.entries<string>(JSON.parse(readFileSync(list, "utf8"))));
  lists.set(list, known);
  return known;
}

/**
 * @param source the path of a TypeScript program of this repository
 * @param environment of the program: it runs from its source if PROGRAMS_VARIABLE is missing there, or empty
 * @returns the path of its bundle if there is one, or else the source itself
 */
export function programOf(source: string, environment: NodeJS.ProcessEnv = process.env): string {
  const list = environment[PROGRAMS_VARIABLE] ?? "";
  return (list === "" ? undefined : read(list).get(path.resolve(source))) ?? source;
}

/** @returns a value of NODE_OPTIONS that loads the program of this source before another one */
export function importing(source: string): string {
  return `--import=${pathToFileURL(programOf(source)).href}`;
}
