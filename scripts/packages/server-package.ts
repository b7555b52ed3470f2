/**
 * Builds the package `quoin`: a member with its web console, the launcher of a local cluster, and quoinctl, as the program
 * `quoin`. Npm installs only the addon of RocksDB with it.
 */

import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { CONSOLE_PACKAGES } from "../../console/scripts/index.ts";
import { OLDEST_NODE, packFolder, repositoryRoot, writeLicences } from "../bundle/index.ts";
import { ADDON, bundlePrograms, PROGRAMS } from "./programs.ts";
import { writeSbom } from "./sbom.ts";

/** Writes the tarball into the destination. Returns its path. */
export async function packServer(destination: string): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), "quoin-package-"));
  try {
    const dist = path.join(folder, "dist");
    const { quoin, "quoin-found": found, "quoin-start": start } = PROGRAMS;
    const { packages } = await bundlePrograms(dist, {
      others: { quoin, "quoin-found": found, "quoin-start": start },
      withAddon: false,
      minify: true,
    });
    chmodSync(path.join(dist, "quoin.js"), 0o755);
    writeLicences(path.join(folder, "THIRD-PARTY-LICENSES.txt"), packages);
    writeSbom(folder, "quoin", ["node", "client", "console"], CONSOLE_PACKAGES);
    cpSync(path.join(repositoryRoot, "LICENSE"), path.join(folder, "LICENSE"));
    cpSync(path.join(repositoryRoot, "node/local/README.md"), path.join(folder, "README.md"));
    writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(manifest(), undefined, 2)}\n`);
    return packFolder(folder, destination);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function manifest(): object {
  const { name, version, description, license } = readManifest("package.json");
  return {
    name,
    version,
    description,
    keywords: ["coordination", "distributed-lock", "key-value", "raft", "leader-election", "fencing"],
    license,
    type: "module",
    engines: { node: `>=${OLDEST_NODE}` },
    os: ["linux", "darwin"],
    bin: { quoin: "dist/quoin.js" },
    exports: { "./package.json": "./package.json" },
    dependencies: { [ADDON]: readManifest("node/package.json").dependencies[ADDON] },
  };
}

function readManifest(file: string) {
  return JSON.parse(readFileSync(path.join(repositoryRoot, file), "utf8"));
}
