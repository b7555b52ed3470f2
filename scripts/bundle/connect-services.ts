/**
 * Generates the services of the contract for Connect clients, such as connect-web in browsers: ESM with declarations,
 * as protobuf-es writes them, and one module that exports all of them.
 */

import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { repositoryRoot } from "./repository.ts";

const TEMPLATE = {
  version: "v2",
  plugins: [{ local: "protoc-gen-es", out: ".", opt: ["target=js+dts", "import_extension=js"] }],
  // The health service has its own packages.
  inputs: [{ directory: ".", exclude_paths: ["grpc"] }],
};

/**
 * Writes the services into a folder.
 *
 * @throws Error with the complaint of buf.
 */
export function writeConnectServices(directory: string): void {
  mkdirSync(directory, { recursive: true });
  const cache = mkdtempSync(path.join(tmpdir(), "quoin-buf-"));
  try {
    const args = ["generate", "--template", JSON.stringify(TEMPLATE), "--output", directory];
    const { status, stderr, error } = spawnSync("buf", args, {
      cwd: path.join(repositoryRoot, "proto"),
      encoding: "utf8",
      env: { ...process.env, BUF_CACHE_DIR: cache },
    });
    if (status !== 0) {
      throw new Error(`buf generate failed\n${stderr}`, { cause: error });
    }
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
  const modules = globSync("coordination/**/*_pb.js", { cwd: directory }).sort();
  const index = modules.map((module) => `export * from "./${module}";\n`).join("");
  for (const name of ["index.js", "index.d.ts"]) {
    writeFileSync(path.join(directory, name), index);
  }
  writeFileSync(path.join(directory, "package.json"), '{ "type": "module", "sideEffects": false }\n');
}
