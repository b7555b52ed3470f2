/**
 * The client in Go, built by the Go of this machine into a folder below node_modules: once for each content of its module,
 * whose go.sum says what the sources of others must be.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const MODULE = fileURLToPath(new URL("go", import.meta.url));
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/quoin-interop", import.meta.url));
const HASH_LENGTH = 12;

const execute = promisify(execFile);

/** There is no Go on this machine. */
export class GoMissing extends Error {}

/** The path of the client. Raises GoMissing, or what the compiler says. */
export async function goClient(): Promise<string> {
  const hash = createHash("sha256");
  for (const source of readdirSync(MODULE).sort()) {
    hash.update(source).update(readFileSync(join(MODULE, source)));
  }
  const path = join(CACHE, `go-${hash.digest("hex").slice(0, HASH_LENGTH)}`);
  if (existsSync(path)) {
    return path;
  }
  mkdirSync(CACHE, { recursive: true });
  // Built beside and renamed, so that what has the name is complete.
  const unfinished = `${path}.${process.pid}`;
  try {
    await execute("go", ["build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-o", unfinished, "."], {
      cwd: MODULE,
    });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      throw new GoMissing("there is no Go on this machine: the command go is not found", { cause: error });
    }
    throw error;
  }
  renameSync(unfinished, path);
  return path;
}
