/**
 * The Python SDK: its package is built, installed and checked as a user gets it, and its tests run against clusters of
 * this checkout. Without Python they are skipped, with the reason.
 */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { PythonMissing, pythonEnvironment } from "../../e2e/python/index.ts";
import { temporaryDirectory, userCache } from "../../testing/index.ts";
import { buildPythonPackage, packageTools } from "./build.ts";

const PACKAGE = fileURLToPath(new URL(".", import.meta.url));
const LAUNCHER = fileURLToPath(new URL("../../node/local/main.ts", import.meta.url));
const CLIENT_MANIFEST = new URL("../../client/package.json", import.meta.url);
const DEPENDENCIES = new URL("dependencies.txt", import.meta.url);
/** The first run makes environments and downloads packages into them. */
const LIMIT_MS = 400_000;
const OUTPUT_BYTES_MAX = 64 * 1_024 * 1_024;

const execute = promisify(execFile);

describe("the SDK for Python", function () {
  this.timeout(LIMIT_MS);
  let python: string;
  let files: readonly string[];
  /** The folder of the installed wheel. */
  let installed: string;
  let environment: NodeJS.ProcessEnv;

  before(async function () {
    try {
      python = await packageTools();
    } catch (error) {
      if (!(error instanceof PythonMissing)) {
        throw error;
      }
      console.log(`skipped: ${error.message}`);
      this.skip();
    }
    files = await buildPythonPackage(temporaryDirectory());
    installed = temporaryDirectory();
    await run(
      "-m",
      "pip",
      "install",
      "--quiet",
      "--no-deps",
      "--no-index",
      "--no-compile",
      "--target",
      installed,
      wheel(),
    );
    environment = { PYTHONPATH: installed, QUOIN_START: `"${process.execPath}" "${LAUNCHER}"` };
  });

  /** The folders of tests, which are removed with those of this file. */
  const basetemp = (): readonly string[] => ["--basetemp", join(temporaryDirectory(), "pytest")];

  const wheel = (): string => files.find((file) => file.endsWith(".whl")) ?? "";

  /** Runs a module of the tools; a failure has its output. */
  async function run(...args: readonly string[]): Promise<string> {
    // What is installed for the tests must not stand in for what pip is to install.
    const shown = args[1] === "pip" ? {} : environment;
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1", ...shown };
    try {
      return (await execute(python, args, { cwd: PACKAGE, env, maxBuffer: OUTPUT_BYTES_MAX })).stdout;
    } catch (error) {
      const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
      throw new Error(`python ${args.join(" ")} has failed:\n${stdout}${stderr}`, { cause: error });
    }
  }

  it("has the same bytes whenever it is built, and the version of the other packages", async () => {
    const digests = (paths: readonly string[]) =>
      paths.map((path) => createHash("sha256").update(readFileSync(path)).digest("hex"));
    const { version } = JSON.parse(readFileSync(CLIENT_MANIFEST, "utf8")) as { readonly version: string };
    expect(files.map((file) => file.slice(file.lastIndexOf("/") + 1))).to.deep.equal([
      `quoin-${version}-py3-none-any.whl`,
      `quoin-${version}.tar.gz`,
    ]);
    expect(digests(await buildPythonPackage(temporaryDirectory()))).to.deep.equal(digests(files));
  });

  it("runs in an environment with nothing but its dependencies", async () => {
    const dependencies = await pythonEnvironment(DEPENDENCIES);
    const folder = join(temporaryDirectory(), "environment");
    await run("-m", "venv", "--without-pip", folder);
    const empty = join(folder, "bin", "python");
    const code = "import sysconfig; print(sysconfig.get_path('purelib'))";
    const site = (await execute(empty, ["-c", code])).stdout.trim();
    const needed = (await execute(dependencies, ["-c", code])).stdout.trim();
    writeFileSync(join(site, "dependencies.pth"), `${needed}\n`);
    await run("-m", "pip", "--python", empty, "install", "--quiet", "--no-deps", "--no-index", wheel());
    await run("-m", "pip", "--python", empty, "check");
    environment = { ...environment, QUOIN_EMPTY_PYTHON: empty };
    expect(await run("-m", "pytest", "-q", ...basetemp(), "tests/test_docs.py", "-k", "empty")).to.match(/\b1 passed/);
  });

  it("is formatted, and follows the rules of ruff", async () => {
    await run("-m", "ruff", "format", "--check", "--no-cache", "src", "tests", "scripts");
    await run("-m", "ruff", "check", "--no-cache", "src", "tests", "scripts");
  });

  it("has types for mypy", async () => {
    await run("-m", "mypy", "--cache-dir", userCache("quoin", "mypy"), "src", "tests", "scripts");
  });

  it("has types for pyright", async () => {
    await run("-m", "pyright", "--pythonpath", python);
  });

  it("passes its tests at a cluster of three, whose leader is killed", async () => {
    expect(await run("-m", "pytest", "-q", ...basetemp(), "--timeout", "120")).to.match(/\b\d+ passed/);
  });
});
