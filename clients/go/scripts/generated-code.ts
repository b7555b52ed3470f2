/** The Go code of the contract, which the SDK contains: buf makes it with plugins of the versions in `tools/go.sum`. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildGoTool } from "../../../scripts/go/index.ts";
import { messageNames, reasonNames } from "./messages.ts";

/** The folder of the module `quoin.dev/client`. */
export const GO_MODULE_FOLDER = fileURLToPath(new URL("..", import.meta.url));

/** The generated files, within that of the module: a folder with the code of the contract, and the names of the SDK. */
export const GENERATED_FOLDER = "internal/coordination/v1";
export const GENERATED_FILES = ["messages.go", "reasons.go"] as const;

const ROOT = path.join(GO_MODULE_FOLDER, "../..");
const BUF = path.join(ROOT, "node_modules/.bin/buf");
const TOOLS = path.join(GO_MODULE_FOLDER, "tools");
/** The linter. */
export const STATICCHECK = "honnef.co/go/tools/cmd/staticcheck";
/** Those of the compiler of protocol buffers. */
export const PLUGINS = [
  "google.golang.org/protobuf/cmd/protoc-gen-go",
  "google.golang.org/grpc/cmd/protoc-gen-go-grpc",
];
/** An import path of this module, so that its code may use the generated one. */
const PACKAGE = "quoin.dev/client/internal/coordination/v1;coordinationv1";
const SOURCES = "coordination/v1";

const execute = promisify(execFile);

/** Builds a program of the module `tools`: a package that its go.mod names; absent = its own. Raises GoMissing. */
export function goTool(source?: string): Promise<string> {
  const name = source === undefined ? "tools" : path.posix.basename(source);
  return buildGoTool({ name, module: TOOLS, ...(source === undefined ? {} : { package: source }) });
}

/** Builds what the checks and tests of the module need, into the caches of this project and of Go. Raises GoMissing. */
export async function buildGoSdk(): Promise<void> {
  for (const source of [undefined, STATICCHECK, ...PLUGINS]) {
    await goTool(source);
  }
  await execute("go", ["test", "-race", "-run", "^$", "./..."], { cwd: GO_MODULE_FOLDER });
}

/**
 * Makes the generated files.
 *
 * @param directory gets them, as if it was the folder of the module.
 * @throws GoMissing, or the error of a tool with its output.
 */
export async function deriveGoCode(directory: string): Promise<void> {
  const plugins = [];
  for (const source of PLUGINS) {
    plugins.push({ local: await goTool(source), out: ".", opt: ["paths=source_relative"] });
  }
  const override = [{ file_option: "go_package", path: SOURCES, value: PACKAGE }];
  const template = { version: "v2", managed: { enabled: true, override }, plugins };
  const cache = mkdtempSync(path.join(tmpdir(), "quoin-go-"));
  try {
    const target = path.join(directory, "internal");
    const args = ["generate", "--template", JSON.stringify(template), "--output", target, "--path", SOURCES];
    await execute(BUF, args, { cwd: path.join(ROOT, "proto"), env: { ...process.env, BUF_CACHE_DIR: cache } });
    const contents = [messageNames(path.join(directory, GENERATED_FOLDER)), reasonNames()];
    for (const [at, name] of GENERATED_FILES.entries()) {
      writeFileSync(path.join(directory, name), contents[at] ?? "");
    }
    await execute("gofmt", ["-w", ...GENERATED_FILES], { cwd: directory });
  } finally {
    rmSync(cache, { recursive: true });
  }
}
