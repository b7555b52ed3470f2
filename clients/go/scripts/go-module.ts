/** Packs the Go SDK as a file proxy of Go. */

import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { GO_MODULE_FOLDER, goTool } from "./generated-code.ts";

const MODULE = "quoin.dev/client";
const ROOT = path.join(GO_MODULE_FOLDER, "../..");
const LICENSE = path.join(ROOT, "LICENSE");
/** What programs that use the module need, and its tests, but not the tools of this repository. */
const PACKED = /^(?:go\.(?:mod|sum)|[^/]+\.go|(?:internal|quointest)(?:\/.*)?)$/;

const execute = promisify(execFile);

/**
 * Writes the module into a folder in the layout of a file proxy, below `quoin.dev/client/@v`: a program gets it with
 * `GOPROXY=file://FOLDER`. The same sources make the same bytes.
 *
 * @returns the path of the archive.
 * @throws GoMissing, or the error of Go with its output.
 */
export async function packGoModule(folder: string): Promise<string> {
  const program = await goTool();
  const { version: released } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));
  if (!readFileSync(path.join(GO_MODULE_FOLDER, "client.go"), "utf8").includes(`const Version = "${released}"`)) {
    throw new Error(`the version in clients/go/client.go must be ${released}`);
  }
  const version = `v${released}`;
  const source = mkdtempSync(path.join(tmpdir(), "quoin-go-module-"));
  try {
    cpSync(GO_MODULE_FOLDER, source, {
      recursive: true,
      filter: (from) => from === GO_MODULE_FOLDER || PACKED.test(path.relative(GO_MODULE_FOLDER, from)),
    });
    cpSync(LICENSE, path.join(source, "LICENSE"));
    await execute(program, [MODULE, version, source, path.resolve(folder)]);
  } finally {
    rmSync(source, { recursive: true });
  }
  return path.join(folder, MODULE, "@v", `${version}.zip`);
}
