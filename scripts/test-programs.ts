/**
 * Bundles the programs that tests start, once for a run: see `testing/programs.ts`. They are bundled together, so that a
 * program and a module that it imports before share one copy of each source.
 */

import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { repositoryRoot } from "./command.ts";
import { bundlePrograms, MEMBER } from "./packages/index.ts";

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
  "node/test/storage/former-log-opener.ts",
  "node/test/storage/kill-at-mark.ts",
  "node/test/storage/open-and-report.ts",
  "operator/src/main.ts",
];

/** The names of the entries: the paths of their sources, because all files are in one folder. */
const others = Object.fromEntries(
  OTHERS.map((source) => [source.replace(/\.ts$/, "").replaceAll("/", "-"), source] as const),
);

/** The cost of the hash of a password, and the lowest that is still a cost: a hash names its own. */
const COST = "{ ln: 15, r: 8, p: 3 }";
const TEST_COST = "{ ln: 4, r: 8, p: 1 }";

/**
 * Lets bundled members hash passwords for next to nothing. Each start of a cluster and each login hashes one, for a
 * quarter of a second of processor time. `node/src/access/password.spec.ts` tests the real cost.
 */
function cheapenHashes(folder: string): void {
  const having = globSync("*.js", { cwd: folder })
    .map((name) => path.join(folder, name))
    .map((file) => ({ file, code: readFileSync(file, "utf8") }))
    .filter(({ code }) => code.includes(COST));
  const [only] = having;
  if (only === undefined || having.length > 1) {
    throw new Error(`${having.length} files of the bundle have the cost of a hash, ${COST}, instead of one`);
  }
  writeFileSync(only.file, only.code.replace(COST, TEST_COST));
}

/**
 * @param directory an empty folder
 * @returns the file that lists the bundled programs, for PROGRAMS_VARIABLE
 */
export async function bundleTestPrograms(directory: string): Promise<string> {
  const folder = path.join(directory, "dist");
  await bundlePrograms(folder, { others, withAddon: true, minify: false });
  cheapenHashes(folder);
  // Where a member, and the other programs, read their version.
  cpSync(path.join(repositoryRoot, "package.json"), path.join(directory, "package.json"));
  const programs = Object.entries({ ...MEMBER, ...others }).map(([name, source]) => {
    return [path.join(repositoryRoot, source), path.join(folder, `${name}.js`)] as const;
  });
  const list = path.join(directory, "programs.json");
  writeFileSync(list, JSON.stringify(Object.fromEntries(programs)));
  return list;
}
