/**
 * Programs in Go that checks, tests and benchmarks need. The Go of this machine builds each one from a module in this
 * repository, whose go.sum fixes the sources of every dependency, into the cache of the user. It builds each content of
 * the module only once, for all checkouts.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { madeOnce, userCache } from "../../testing/index.ts";

const HASH_LENGTH = 16;

/**
 * How each program is built: without C, so that it also runs in an image without libraries; and the compiler collects its
 * garbage less often, which saves a seventh of its processor time for some hundred MB of memory.
 */
export const GO_ENVIRONMENT = { CGO_ENABLED: "0", GOGC: "400" };

const execute = promisify(execFile);

/** This machine has no Go, or no C compiler for a program with parts in C. The message says how to install it. */
export class GoMissing extends Error {}

/** A program in Go. */
export interface GoProgram {
  /** The file name of the program in the cache. */
  readonly name: string;
  /** The folder with go.mod, go.sum and, for a program of ours, its sources. */
  readonly module: string;
  /** A package that go.mod names; absent = the module itself. */
  readonly package?: string;
  /** Whether it has parts in C. */
  readonly needsC?: boolean;
  /** Ends the build. */
  readonly signal?: AbortSignal;
  /** Called before a build, which takes a minute or two. */
  readonly onBuild?: () => void;
}

/** @returns the path of the program. Raises GoMissing, the error of the compiler with its output, or an AbortError. */
export async function buildGoTool(program: GoProgram): Promise<string> {
  const { name, module, package: source = ".", needsC = false, signal, onBuild } = program;
  const env = { ...process.env, ...GO_ENVIRONMENT, ...(needsC ? { CGO_ENABLED: "1" } : {}) };
  const hash = createHash("sha256").update(env.CGO_ENABLED);
  for (const file of readdirSync(module).sort()) {
    hash.update(file).update(readFileSync(path.join(module, file)));
  }
  const directory = userCache("quoin", "go", `${name}-${hash.digest("hex").slice(0, HASH_LENGTH)}`);
  await madeOnce(directory, async (draft) => {
    onBuild?.();
    if (needsC && (await go(module, ["env", "CGO_ENABLED"], process.env, signal)).trim() !== "1") {
      throw new GoMissing("this machine has no C compiler; on Debian and Ubuntu: apt-get install gcc libc6-dev");
    }
    const flags = ["-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", "-s -w", "-o", path.join(draft, name)];
    await go(module, ["build", ...flags, source], env, signal);
  });
  return path.join(directory, name);
}

/** @throws GoMissing */
export async function assertGo(): Promise<void> {
  await go(".", ["version"], process.env);
}

async function go(module: string, args: readonly string[], env: NodeJS.ProcessEnv, signal?: AbortSignal) {
  try {
    const { stdout } = await execute("go", args, { cwd: module, env, ...(signal === undefined ? {} : { signal }) });
    return stdout;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      throw new GoMissing("this machine has no Go; on Debian and Ubuntu: apt-get install golang", { cause: error });
    }
    throw error;
  }
}
