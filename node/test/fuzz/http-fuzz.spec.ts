/**
 * Writes to the HTTP port of a member byte by byte: valid requests of every operation in /openapi.json, each with one
 * change. The answers are compared with what the document allows.
 *
 * No request hangs and none is an internal error. Every refusal has the common form and a code of the operation, and a
 * refused request has changed nothing. The seed is the same in each run, unless QUOIN_SEED says otherwise.
 */

import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { drawnSeed, seedFor } from "../../../testing/index.ts";
import { streamOf } from "../../verify/sim/index.ts";
import { ClusterUnderTest } from "../harness/index.ts";
import { abandon, ask, type RawAnswer } from "./answer.ts";
import { fetchOperations, type Operation, refusalsOf, successOf } from "./document.ts";
import { Fixtures } from "./fixtures.ts";
import { asItIs, BODY_MUTATIONS, MUTATIONS, type Mutated } from "./mutations.ts";
import { type RightValues, validRequest } from "./valid-request.ts";

/** The token is in a mail that was never sent, so no request can succeed. */
const NEVER_ACCEPTED = "verifyEmail";
/** They answer in text, also while a member is not ready. */
const CHECKS = ["getHealth", "getReadiness"];
/** Refusals of any path and method before an operation is known. */
const NO_OPERATION = ["400 invalid_request", "404 not_found", "405 method_not_allowed"];
/** The refusal of an incomplete request or a bad head, before its operation is known. */
const NO_REQUEST = ["400 invalid_request"];
/** An election is no failure, as long as there are few. */
const PASSING = ["503 unavailable", "504 timeout"];
const PASSING_MAX = 20;
/** Far longer than the ten seconds that a member gives to a stalled request. */
const HANG_MS = 30_000;
const MIB = 1024 * 1024;
/** Limit for the growth of a member during the second half of the mutations; it includes uncollected garbage. */
const GROWTH_BYTES_MAX = 128 * MIB;
const FIRST_ERROR_STATUS = 400;
const INTERNAL_ERROR = "500 internal_error";
/** Length of a request in a message. */
const TOLD_CHARACTERS = 400;
const LIMITS = ["token-requests", "token-failures", "login-requests", "login-failures"];
const UNLIMITED = LIMITS.flatMap((name) => ["--rate-limit", `${name}=0`]);

describe("the HTTP port of a member, with requests changed on the wire", function () {
  this.timeout(180_000);
  const seed = drawnSeed("requests on the wire");
  const mutations = Object.entries({ ...MUTATIONS, ...BODY_MUTATIONS });
  let cluster: ClusterUnderTest;
  let fixtures: Fixtures;
  let port: number;
  let operations: readonly Operation[];
  let allRefusals: readonly string[];
  let memoryBefore: ReadonlyMap<number, number>;
  let passing = 0;

  before(async () => {
    cluster = await ClusterUnderTest.start(3, {
      placementOf: async () => ({ flags: [...UNLIMITED, "--mail-to-log"] }),
    });
    const member = await cluster.follower();
    port = member.ports.http;
    const url = `http://${member.host}:${port}`;
    fixtures = new Fixtures(url, await cluster.tokens.token());
    operations = await fetchOperations(url);
    allRefusals = [...new Set([...NO_OPERATION, ...operations.flatMap(refusalsOf)])];
    await askAll();
  });

  after(() => cluster?.dispose());

  for (const [at, [name, mutation]] of mutations.entries()) {
    it(`does as documented: ${name}`, async () => {
      if (at === Math.floor(mutations.length / 2)) {
        // What the first requests of a kind take does not count as growth: code, threads, memory to hash passwords.
        memoryBefore = memoryOfMembers();
      }
      const random = streamOf(seedFor(name, seed));
      for (const operation of operations.filter(({ requestBody }) => !(name in BODY_MUTATIONS) || requestBody)) {
        const request = await validRequest(operation, random, fixtures, rightValues());
        const mutated = mutation(request, random);
        const mayChange = request.method !== "GET" || mutated.isElsewhere === true;
        const before = mayChange ? await fixtures.state() : "";
        const isDone = await judge(operation, mutated);
        if (isDone && mutated.isElsewhere === true) {
          fixtures.forget();
        }
        if (!isDone && mayChange) {
          expect(await fixtures.state(), `${told(operation, mutated)} changed something`).to.equal(before);
        }
      }
    });
  }

  it("serves as before, and is not much larger", async () => {
    await askAll();
    expect(cluster.members.map(({ pid }) => pid)).to.deep.equal([...memoryBefore.keys()]);
    for (const [pid, bytes] of memoryBefore) {
      expect(memoryBytes(pid) - bytes, `growth of process ${pid}`).to.be.below(GROWTH_BYTES_MAX);
    }
    expect(passing, "requests refused during elections").to.be.at.most(PASSING_MAX);
  });

  /** Sends a valid request for each operation once. */
  async function askAll(): Promise<void> {
    for (const operation of operations) {
      const request = await validRequest(operation, streamOf(seed), fixtures, rightValues());
      await judge(operation, asItIs(request));
    }
  }

  function memoryOfMembers(): ReadonlyMap<number, number> {
    return new Map(cluster.members.map(({ pid }) => [pid, memoryBytes(pid)]));
  }

  function rightValues(): RightValues {
    const { email, password } = cluster.owner;
    const isNew = { email: `${randomUUID()}@quoin.test`, password: randomUUID() };
    const [namespace, namespaces] = ["default", ["default"]];
    const keys = { api_key: cluster.secrets.apiKey, current_password: password };
    const common = { ...keys, name: randomUUID(), role: "member", namespace, namespaces };
    return { logIn: { email, password }, other: { ...common, ...isNew } };
  }

  /** Returns whether it was executed, or may have been. Fails unless the answer is as it must be. */
  async function judge(operation: Operation, mutated: Mutated): Promise<boolean> {
    const { expected, pieces, isElsewhere = false } = mutated;
    const about = told(operation, mutated);
    const startMs = performance.now();
    const answer = expected === "broken" ? await abandon(port, pieces) : await ask(port, pieces);
    expect(performance.now() - startMs, `milliseconds that ${about} took`).to.be.below(HANG_MS);
    if (answer === null) {
      expect(expected, `${about} is not answered`).to.equal("broken");
      return false;
    }
    const { status, headers, body } = answer;
    expect(headers.get("api-version"), about).to.equal("v1");
    if (status < FIRST_ERROR_STATUS) {
      expect(expected, `${about} is answered with ${status}`).to.be.oneOf(["accepted", "any"]);
      expect(status, about).to.be.oneOf(isElsewhere ? [200, 201] : [successOf(operation)]);
      return true;
    }
    // An answer to HEAD has no body with a code.
    const hasNoCode = pieces[0]?.startsWith("HEAD ");
    const code = hasNoCode ? null : isNotReady(operation, answer) ? "unavailable" : codeOf(answer, about);
    const refusal = code === null ? String(status) : `${status} ${code}`;
    const documented = isElsewhere ? allRefusals : [...refusalsOf(operation), ...NO_REQUEST];
    const allowed = documented.filter((one) => one !== INTERNAL_ERROR);
    expect(code === null ? allowed.map((one) => one.split(" ")[0]) : allowed, `${about}: ${body}`).to.include(refusal);
    if (PASSING.includes(refusal)) {
      passing++;
      return true;
    }
    const isRight = expected !== "accepted" || operation.operationId === NEVER_ACCEPTED;
    expect(isRight, `${about} is valid and refused with ${refusal}: ${body}`).to.equal(true);
    return false;
  }
});

/** Whether a member that is not ready says so in text, as the document allows for its checks. */
function isNotReady({ operationId }: Operation, { status, headers }: RawAnswer): boolean {
  return CHECKS.includes(operationId) && status === 503 && headers.get("content-type") === "text/plain; charset=utf-8";
}

/** The code of a refusal, which must have the common form. */
function codeOf({ headers, body }: RawAnswer, about: string): string {
  expect(headers.get("content-type"), about).to.equal("application/json; charset=utf-8");
  expect(headers.get("content-length"), about).to.equal(String(body.length));
  const refusal = JSON.parse(Buffer.from(body, "latin1").toString("utf8"));
  expect(Object.keys(refusal).sort(), about).to.deep.equal(["code", "error"]);
  expect(refusal.error, about).to.be.a("string").that.is.not.equal("");
  return refusal.code;
}

/** The request in a form that people can search for, without its secrets. */
function told({ operationId }: Operation, { pieces }: Mutated): string {
  const start = pieces.join("").slice(0, TOLD_CHARACTERS);
  return `${operationId} as ${JSON.stringify(start.replace(/Bearer [^\r\n]*/gi, "Bearer ..."))}`;
}

/** Memory of the process in bytes. */
function memoryBytes(pid: number): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) * 1024;
}
