/**
 * `node scripts/packages/image.ts DIRECTORY`: writes what the image contains besides Node. The Dockerfile runs it. The
 * programs need no package, because the addon of RocksDB is among their files.
 */

import { cpSync, mkdirSync } from "node:fs";
import path from "node:path";
import { CONSOLE_PACKAGES } from "../../console/scripts/index.ts";
import { repositoryRoot, writeLicences } from "../bundle/index.ts";
import { bundlePrograms, PROGRAMS } from "./programs.ts";
import { writeSbom } from "./sbom.ts";

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  throw new Error("the directory is missing");
}
mkdirSync(directory, { recursive: true });
const { quoinctl, "quoin-found": found, "quoin-operator": operator } = PROGRAMS;
const { packages } = await bundlePrograms(path.resolve(directory, "dist"), {
  others: { quoinctl, "quoin-found": found, "quoin-operator": operator },
  withAddon: true,
  minify: true,
});
writeLicences(path.join(directory, "THIRD-PARTY-LICENSES.txt"), packages);
writeSbom(directory, "quoin", ["node", "client", "operator", "console"], CONSOLE_PACKAGES);
for (const file of ["package.json", "LICENSE"]) {
  cpSync(path.join(repositoryRoot, file), path.join(directory, file));
}
