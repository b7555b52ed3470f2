/**
 * A Python virtual environment with the packages of a requirements file, installed by pip from the index that this
 * machine is configured for.
 *
 * It is made once, in the cache of the user, and reused while requirements and Python stay the same: later runs, of any
 * checkout, need no network. Several runs may use it at the same time.
 */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { madeOnce, userCache } from "../../testing/index.ts";

const PYTHON = "python3";
/** Prints the version of the interpreter, and fails if it cannot make virtual environments. */
const PROBE = "import ensurepip, platform, sys, venv; print(sys.executable, platform.python_version())";
const DIGEST_CHARACTERS = 16;

const execute = promisify(execFile);

/** There is no usable Python; the message says what to do. */
export class PythonMissing extends Error {}

/**
 * The interpreter of the environment for this file.
 * @throws PythonMissing; any other error comes from pip, with its whole output
 */
export async function pythonEnvironment(requirements: URL): Promise<string> {
  const version = await probe();
  const digest = createHash("sha256").update(version).update(readFileSync(requirements)).digest("hex");
  const directory = userCache("quoin", "python", digest.slice(0, DIGEST_CHARACTERS));
  await madeOnce(directory, (draft) => make(draft, fileURLToPath(requirements)));
  return interpreterOf(directory);
}

async function probe(): Promise<string> {
  try {
    return (await execute(PYTHON, ["-c", PROBE])).stdout;
  } catch (error) {
    throw new PythonMissing(
      "python3 with the modules venv and ensurepip is missing; on Debian and Ubuntu: apt-get install python3 python3-venv",
      { cause: error },
    );
  }
}

async function make(directory: string, requirements: string): Promise<void> {
  await execute(PYTHON, ["-m", "venv", directory]);
  const install = ["-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--quiet"];
  await execute(interpreterOf(directory), [...install, "--requirement", requirements]);
}

function interpreterOf(directory: string): string {
  return join(directory, "bin", "python");
}
