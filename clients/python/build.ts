/** Builds the Python package: a wheel and a source distribution. The same sources give the same bytes. */

import { execFile } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pythonEnvironment } from "../../e2e/python/index.ts";

const PACKAGE = fileURLToPath(new URL(".", import.meta.url));
/** The times in the files: hatchling's own default, whatever the environment says. */
const EPOCH_SECONDS = "1580601600";

const execute = promisify(execFile);

/** The interpreter with the tools of the package. @throws PythonMissing */
export function packageTools(): Promise<string> {
  return pythonEnvironment(new URL("requirements.txt", import.meta.url));
}

/**
 * Builds into a directory, which is created if it is missing.
 *
 * @returns the paths of the wheel and of the source distribution.
 * @throws PythonMissing
 */
export async function buildPythonPackage(directory: string): Promise<readonly string[]> {
  const python = await packageTools();
  const out = resolve(directory);
  mkdirSync(out, { recursive: true });
  const environment = { ...process.env, SOURCE_DATE_EPOCH: EPOCH_SECONDS, PYTHONDONTWRITEBYTECODE: "1" };
  const command = ["-m", "hatchling", "build", "--directory", out, "--target", "wheel", "--target", "sdist"];
  await execute(python, command, { cwd: PACKAGE, env: environment });
  const files = readdirSync(out).filter((name) => /^quoin-.*(\.whl|\.tar\.gz)$/.test(name));
  return files.sort().map((name) => join(out, name));
}

if (import.meta.main) {
  const [directory, ...others] = process.argv.slice(2);
  if (directory === undefined || others.length > 0) {
    console.error("usage: node clients/python/build.ts DIRECTORY");
    process.exitCode = 2;
  } else {
    for (const file of await buildPythonPackage(directory)) {
      console.log(file);
    }
  }
}
