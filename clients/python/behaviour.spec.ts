/** The Python SDK, as the scenarios of `clients/behaviour` describe it: the client with threads, and that for asyncio. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { PythonMissing, pythonEnvironment } from "../../e2e/python/index.ts";

const DRIVER = fileURLToPath(new URL("../behaviour/driver.ts", import.meta.url));
const PACKAGE = fileURLToPath(new URL(".", import.meta.url));
const REQUIREMENTS = new URL("requirements.txt", import.meta.url);
/** Each kind plays all scenarios, some of which wait for real time. */
const LIMIT_MS = 400_000;

const execute = promisify(execFile);

describe("the SDK for Python, as scenarios describe it", function () {
  this.timeout(LIMIT_MS);
  let python: string;
  let driver: ChildProcess | undefined;
  let url: string;

  before(async function () {
    try {
      python = await pythonEnvironment(REQUIREMENTS);
    } catch (error) {
      if (!(error instanceof PythonMissing)) {
        throw error;
      }
      console.log(`skipped: ${error.message}`);
      this.skip();
    }
    const results = process.env.QUOIN_BEHAVIOUR_RESULTS;
    const args = [DRIVER, ...(results === undefined ? [] : ["--results", results])];
    const started = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    driver = started;
    const [line] = await Promise.race([
      once(createInterface(started.stdout), "line"),
      once(started, "exit").then(() => expect.fail("the driver has ended")),
    ]);
    url = (JSON.parse(String(line)) as { readonly url: string }).url;
  });

  after(async () => {
    if (driver !== undefined && driver.exitCode === null) {
      driver.stdin?.end();
      await once(driver, "exit");
    }
  });

  for (const kind of ["threads", "asyncio"]) {
    it(`plays all of them with the client for ${kind}`, async () => {
      // Failed handshakes are part of the scenarios, and gRPC would report each.
      const env = { ...process.env, PYTHONPATH: "src:tests", PYTHONDONTWRITEBYTECODE: "1", GRPC_VERBOSITY: "NONE" };
      const options = { cwd: PACKAGE, env, maxBuffer: 64 * 1_024 * 1_024 };
      const shown = await execute(python, ["tests/behaviour.py", url, "--client", kind], options).then(
        ({ stdout }) => stdout,
        (error: { readonly stdout?: string; readonly stderr?: string }) => `${error.stdout}${error.stderr}`,
      );
      const lines = shown.split("\n").filter((line) => line !== "");
      expect(lines.filter((line) => !line.startsWith("passed"))).to.deep.equal([]);
      expect(lines).to.have.lengthOf.at.least(50);
    });
  }
});
