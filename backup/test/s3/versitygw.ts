/**
 * versitygw, an S3 server in Go that keeps objects in a directory. It is built once from the module beside this file, with the
 * Go of this machine, into a cache below node_modules.
 */

import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const MODULE = fileURLToPath(new URL("versitygw", import.meta.url));
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache", import.meta.url));
const PACKAGE = "github.com/versity/versitygw/cmd/versitygw";
const DIGEST_CHARACTERS = 16;

const execute = promisify(execFile);

/** There is no Go that could be used, and what to do about it. */
export class GoMissing extends Error {}

/** The path of the program. Raises GoMissing; any other error is one of Go, with all that it said. */
export async function buildVersitygw(): Promise<string> {
  const hash = createHash("sha256");
  for (const file of ["go.mod", "go.sum"]) {
    hash.update(readFileSync(join(MODULE, file)));
  }
  const program = join(CACHE, `versitygw-${hash.digest("hex").slice(0, DIGEST_CHARACTERS)}`);
  if (!existsSync(program)) {
    await build(program);
  }
  return program;
}

/** Builds it under another name first: what has its name is complete. */
async function build(program: string): Promise<void> {
  const draft = `${program}.${randomUUID()}`;
  mkdirSync(CACHE, { recursive: true });
  try {
    const flags = ["-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", "-s -w", "-o", draft];
    await execute("go", ["build", ...flags, PACKAGE], { cwd: MODULE });
    renameSync(draft, program);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      throw new GoMissing("there is no Go on this machine; on Debian and Ubuntu: apt-get install golang", {
        cause: error,
      });
    }
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
