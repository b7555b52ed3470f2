/**
 * Schemathesis and a cluster of three: valid and invalid requests that follow from /openapi.json, single ones and
 * sequences that follow from answers. Every answer is compared with the document. Without Python it is skipped, with
 * the reason.
 *
 * The same QUOIN_SEED gives the same requests for the same document.
 */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ClusterUnderTest } from "../../node/test/harness/index.ts";
import { drawnSeed } from "../../testing/index.ts";
import { PythonMissing, pythonEnvironment } from "../python/index.ts";

const REQUIREMENTS = new URL("requirements.txt", import.meta.url);
/** Requests for each operation in a phase with random ones. The fixed requests of all operations are about 5,800. */
const EXAMPLES = 4;
/** A run takes about two minutes on two cores; the first run also downloads packages. */
const LIMIT_MS = 900_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const LIMITS = ["token-requests", "token-failures", "login-requests", "login-failures"];
/** All requests come from one address and one user. */
const UNLIMITED = LIMITS.flatMap((name) => ["--rate-limit", `${name}=0`]);

describe("the HTTP interface, tried out by its own description", function () {
  this.timeout(LIMIT_MS);
  let python: string;
  let cluster: ClusterUnderTest | undefined;

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
    cluster = await ClusterUnderTest.start(3, {
      placementOf: async () => ({ flags: [...UNLIMITED, "--mail-to-log"] }),
    });
  });

  after(() => cluster?.dispose());

  it("answers as /openapi.json says, whatever it is asked", async () => {
    const seed = drawnSeed("schemathesis");
    const member = await cluster?.follower();
    const url = `http://${member?.host}:${member?.ports.http}`;
    const token = await logIn(url, cluster?.owner);
    const printed = await run(python, `${url}/openapi.json`, seed, token);
    console.log(`    ${/^.*[0-9]+ generated.*$/m.exec(printed)?.[0].trim()}`);
  });
});

/**
 * An owner token that belongs to no API key, so that no request can revoke it. The last owner can be neither deleted,
 * disabled nor demoted.
 */
async function logIn(url: string, owner: ClusterUnderTest["owner"] | undefined): Promise<string> {
  const response = await fetch(`${url}/auth/login`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(owner),
  });
  const { access_token: token } = (await response.json()) as { access_token: string };
  return token;
}

/** The output. Rejects with it if any answer differs from the document, or if there was no request. */
function run(python: string, location: string, seed: number, token: string): Promise<string> {
  const phases = ["--phases", "coverage,fuzzing,stateful", "--max-examples", String(EXAMPLES), "--continue-on-failure"];
  const args = ["-m", "schemathesis.cli", "run", location, ...phases, "--seed", String(seed), "--no-color"];
  const options = {
    // The folder of its configuration, and of the files that this names.
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    env: { ...process.env, QUOIN_TOKEN: token, PYTHONDONTWRITEBYTECODE: "1" },
    maxBuffer: OUTPUT_BYTES_MAX,
  };
  return new Promise((resolve, reject) => {
    execFile(python, args, options, (error, printed, complaint) => {
      if (error === null) {
        resolve(printed);
      } else {
        reject(new Error(`Schemathesis ended with ${error.code}:\n${printed}${complaint}`));
      }
    });
  });
}
