/**
 * Schemathesis at a cluster of three: requests that follow from /openapi.json, valid and not, single ones and such as
 * follow from answers, and every answer compared with what the document says. Skipped, with the reason, where there is
 * no Python.
 *
 * The seed follows from the commit and is printed: the same seed makes the same requests of the same document.
 */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { commitText, firstSeedOf } from "../../node/sim/index.ts";
import { ClusterUnderTest } from "../../node/test/harness/index.ts";
import { PythonMissing, pythonEnvironment } from "../python/index.ts";

const REQUIREMENTS = new URL("requirements.txt", import.meta.url);
/** Of operations, in the two phases that draw requests; some 1,400 requests together with those that are always made. */
const EXAMPLES = 12;
/** A run takes about a minute on two cores; the first one downloads packages before. */
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
    cluster = await ClusterUnderTest.start(3, { placeOf: async () => ({ flags: UNLIMITED }) });
  });

  after(() => cluster?.dispose());

  it("answers as /openapi.json says, whatever it is asked", async () => {
    const seed = Number(process.env.QUOIN_FUZZ_SEED ?? firstSeedOf(commitText(), "schemathesis", 1));
    console.log(
      `    seed ${seed}; again with QUOIN_FUZZ_SEED=${seed} npm test -- e2e/schemathesis/schemathesis.spec.ts`,
    );
    const member = await cluster?.follower();
    const url = `http://${member?.host}:${member?.ports.http}`;
    const token = await logIn(url, cluster?.owner);
    const printed = await run(python, `${url}/openapi.json`, seed, token);
    console.log(`    ${/^.*[0-9]+ generated.*$/m.exec(printed)?.[0].trim()}`);
  });
});

/**
 * A token of the owner that belongs to no API key, so that no request can revoke it: neither can the last owner be
 * deleted, disabled or demoted.
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

/** What was printed. Rejects with it if anything was not as the document says, or nothing was asked. */
function run(python: string, location: string, seed: number, token: string): Promise<string> {
  const phases = ["--phases", "coverage,fuzzing,stateful", "--max-examples", String(EXAMPLES), "--continue-on-failure"];
  const args = ["-m", "schemathesis.cli", "run", location, ...phases, "--seed", String(seed), "--no-color"];
  const options = {
    // Where its configuration is, and what that names.
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
