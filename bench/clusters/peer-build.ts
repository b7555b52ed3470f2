/**
 * Builds another system, or the generator of load, with the Go of this machine, from its module in this package, into a
 * cache that version control ignores. It is built once for each content of the module; its go.sum says what the sources
 * must be.
 */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The other system cannot be built here; the message is one line that says why. */
export class BuildError extends Error {}

/** A system that can be built, by the name of the folder of its module. */
export type Peer = "etcd" | "nats";

const MODULES = fileURLToPath(new URL("..", import.meta.url));
const CACHE = fileURLToPath(new URL("../.cache", import.meta.url));
const SOURCES = ["go.mod", "go.sum", "main.go"];
const HASH_LENGTH = 12;

const run = promisify(execFile);

/** The path of the executable, which is built if it was not before. Raises BuildError, or an error when interrupted. */
export function buildPeer(peer: Peer, interrupted: AbortSignal): Promise<string> {
  return build(peer, interrupted);
}

/** The same of the generator of load. */
export function buildLoad(interrupted: AbortSignal): Promise<string> {
  return build("load", interrupted);
}

async function build(name: Peer | "load", interrupted: AbortSignal): Promise<string> {
  const module = join(MODULES, name);
  const hash = createHash("sha256");
  for (const source of SOURCES) {
    hash.update(readFileSync(join(module, source)));
  }
  const path = join(CACHE, `${name}-${hash.digest("hex").slice(0, HASH_LENGTH)}`);
  if (existsSync(path)) {
    return path;
  }
  mkdirSync(CACHE, { recursive: true });
  console.log(`Building ${name}; the first time takes a minute or two ...`);
  // Built beside and renamed, so that what has the name is complete.
  const unfinished = `${path}.${process.pid}`;
  try {
    await run("go", ["build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-o", unfinished, "."], {
      cwd: module,
      signal: interrupted,
    });
  } catch (error) {
    interrupted.throwIfAborted();
    throw new BuildError(`${name} cannot be built: ${reasonOf(error)}`, { cause: error });
  }
  renameSync(unfinished, path);
  return path;
}

/** What went wrong, in one line, by the error of execFile. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  if ("code" in error && error.code === "ENOENT") {
    return "there is no Go on this machine (the command go is not found)";
  }
  const lines = "stderr" in error ? String(error.stderr).split("\n") : [];
  // Progress is not a reason, and neither is a comment that only names the package.
  const reason = lines.find((line) => line.trim() !== "" && !/^(?:go: downloading |# )/.test(line));
  return (reason ?? error.message).trim();
}
