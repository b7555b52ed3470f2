/**
 * Bundles the programs that tests start, once for a run: see `testing/programs.ts`. They are bundled together, so that a
 * program and a module that it imports before share one copy of each source.
 */

import { cpSync, writeFileSync } from "node:fs";
import path from "node:path";
import { repositoryRoot } from "./command.ts";
import { bundlePrograms, member } from "./packages/index.ts";

/** Programs besides the member. */
const OTHERS: readonly string[] = [
  "client/scripts/quoin-found.ts",
  "client/scripts/quoinctl.ts",
  "node/local/main.ts",
  "node/test/http2/hostile/attacker.ts",
  "node/test/storage/crash-installer.ts",
  "node/test/storage/crash-joiner.ts",
  "node/test/storage/crash-recoverer.ts",
  "node/test/storage/crash-restorer.ts",
  "node/test/storage/crash-writer.ts",
  "node/test/storage/kill-at-mark.ts",
  "node/test/storage/open-and-report.ts",
  "operator/src/main.ts",
];

/** The names of the entries: the paths of their sources, because all files are in one folder. */
const others = Object.fromEntries(
  OTHERS.map((source) => [source.replace(/\.ts$/, "").replaceAll("/", "-"), source] as const),
);

/**
 * @param directory an empty folder
 * @returns the file that lists the bundled programs, for PROGRAMS_VARIABLE
 */
export async function bundleTestPrograms(directory: string): Promise<string> {
  const folder = path.join(directory, "dist");
  await bundlePrograms(folder, { others, withAddon: true, minify: false });
  // Where a member, and the other programs, read their version.
  cpSync(path.join(repositoryRoot, "package.json"), path.join(directory, "package.json"));
  const programs = Object.entries({ ...member, ...others }).map(([name, source]) => {
    return [path.join(repositoryRoot, source), path.join(folder, `${name}.js`)] as const;
  });
  const list = path.join(directory, "programs.json");
  writeFileSync(list, JSON.stringify(Object.fromEntries(programs)));
  return list;
}
