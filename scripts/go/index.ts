/**
 * Programs in Go for checks and tests. The Go of this machine builds each of them from a module in this repository,
 * into a cache below node_modules: once for each content of the module. Its go.sum pins the sources of every
 * dependency.
 */
import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

const CACHE = path.resolve(import.meta.dirname, "../../node_modules/.cache/quoin-go");
const HASH_LENGTH = 16;

const execute = promisify(execFile);

/** This machine has no Go. */
export class GoMissing extends Error {}

/**
 * @param name the file name of the program, for readers of the cache
 * @param module the folder with go.mod, go.sum and, for our own programs, the sources
 * @param program the package to build: "." or one that go.mod names
 * @returns the path of the program. Raises GoMissing, or the error of the compiler with its output.
 */
export async function buildGoTool(name: string, module: string, program: string): Promise<string> {
  const hash = createHash("sha256");
  for (const source of readdirSync(module).sort()) {
    hash.update(source).update(readFileSync(path.join(module, source)));
  }
  const built = path.join(CACHE, `${name}-${hash.digest("hex").slice(0, HASH_LENGTH)}`);
  if (!existsSync(built)) {
    mkdirSync(CACHE, { recursive: true });
    // Go writes to another name, and a rename completes it: a file with the final name is always complete.
    const draft = `${built}.${randomUUID()}`;
    try {
      const flags = ["-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", "-s -w", "-o", draft];
      await execute("go", ["build", ...flags, program], { cwd: module });
      renameSync(draft, built);
    } catch (error) {
      throw isMissing(error) ? new GoMissing(GO_ADVICE, { cause: error }) : error;
    } finally {
      rmSync(draft, { force: true });
    }
  }
  return built;
}

const GO_ADVICE = "this machine has no Go; on Debian and Ubuntu: apt-get install golang";

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
