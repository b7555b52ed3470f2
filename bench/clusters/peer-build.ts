/**
 * Builds another system, or the load generator, with the Go of this machine, from its module in this package, into a
 * cache that version control ignores. It builds each content of the module only once; go.sum fixes the sources.
 */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The other system cannot be built here; the message explains why in one line. */
export class BuildError extends Error {}

/** A system to build, by the name of its module's folder. */
export type Peer = "etcd" | "nats";

const MODULES = fileURLToPath(new URL("..", import.meta.url));
const CACHE = fileURLToPath(new URL("../.cache", import.meta.url));
const SOURCES = ["go.mod", "go.sum", "main.go"];
const HASH_LENGTH = 12;

const run = promisify(execFile);

/** The path of the executable; builds it if necessary. Raises BuildError, or an error when interrupted. */
export function buildPeer(peer: Peer, interrupted: AbortSignal): Promise<string> {
  return build(peer, interrupted);
}

/** The same for the load generator. */
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
  // Built under another name and then renamed, so that the file with this name is always complete.
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

/** The problem in one line, from the error of execFile. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  if ("code" in error && error.code === "ENOENT") {
    return "there is no Go on this machine (the command go is not found)";
  }
  const lines = "stderr" in error ? String(error.stderr).split("\n") : [];
  // Progress is not a reason, and neither is a comment with only the name of the package.
  const reason = lines.find((line) => line.trim() !== "" && !/^(?:go: downloading |# )/.test(line));
  return (reason ?? error.message).trim();
}
