/**
 * What every request to accounts needs, and how often clients may try: tokens and limits.
 *
 * Entries about limits exhaust the limits of the address that all entries share. So each runs alone, and later
 * entries wait as long as `Retry-After` says.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { answered, expectHttpRefusal, type HttpAnswer, type Table, type TestContext } from "../harness/index.ts";

/** The limits of the contract, which an unchanged configuration has. */
const LOGIN_FAILURES = 10;
const LOGIN_REQUESTS = 300;
const TOKEN_FAILURES = 60;
const TOKEN_REQUESTS = 1_200;
const WINDOW_SECS = 60;

const ROUTES = [
  ["POST", "/keys"],
  ["GET", "/keys?limit=0"],
  ["DELETE", "/keys/1"],
  ["POST", "/users"],
  ["GET", "/users?limit=0"],
  ["GET", "/users/1"],
  ["PATCH", "/users/1"],
  ["DELETE", "/users/1"],
  ["GET", "/billing/usage?from=x"],
] as const;

const tokens: Table = {
  name: "Routes of accounts",
  entries: {
    "want a token in the form of the specification, before they look at anything": async (context) => {
      const { token } = context.testRun.target;
      const [header, payload, signature = ""] = token.split(".");
      const forged = `${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
      const unsigned = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
      for (const [method, target] of ROUTES) {
        for (const authorization of [
          null,
          "",
          "Bearer",
          token,
          `Basic ${token}`,
          `Bearer ${token} x`,
          "Bearer x.y.z",
          `Bearer ${header}.${payload}.${forged}`,
          `Bearer ${unsigned}.${payload}.`,
          [`Bearer ${token}`, `Bearer ${token}`],
        ]) {
          const body = method === "POST" || method === "PATCH" ? { body: "{" } : {};
          const request = { headers: { Authorization: authorization }, ...body };
          expectHttpRefusal(await context.http(null).call(method, target, request), "unauthorized");
        }
      }
    },
    "refuse a token that has expired": async (context) => {
      const token = context.otherToken("that has expired", () => true, true);
      for (const [method, target] of ROUTES) {
        expectHttpRefusal(await context.http(token).call(method, target), "token_expired");
      }
    },
    "have no other methods": async (context) => {
      for (const [target, allowed] of [
        ["/keys", "POST, GET, HEAD"],
        ["/keys/1", "DELETE"],
        ["/users", "POST, GET, HEAD"],
        ["/users/1", "GET, PATCH, DELETE, HEAD"],
        ["/auth/login", "POST"],
        ["/auth/verify", "POST"],
        ["/auth/reset", "POST"],
        ["/billing/usage", "GET, HEAD"],
        ["/.well-known/jwks.json", "GET, HEAD"],
      ]) {
        const answer = await context.http(null).call("PUT", String(target));
        expectHttpRefusal(answer, "method_not_allowed");
        expect(answer.headers.allow).to.equal(allowed);
      }
    },
    "say what is left to a user": async (context) => {
      const answer = await context.http().call("GET", "/keys?limit=1");
      expect(answer.headers["ratelimit-policy"]).to.match(/^"default";q=[1-9][0-9]*;w=[1-9][0-9]*$/);
      expect(answer.headers.ratelimit).to.match(/^"default";r=[0-9]+;t=[0-9]+$/);
    },
  },
};

const limits: Table = {
  name: "Limits of logins and tokens",
  alone: true,
  entries: {
    "let 10 logins with one address fail, and then none succeed": async (context) => {
      const { email, password } = await context.newUser("viewer");
      const attempt = (given: string, address = email) =>
        context.http(null).once("POST", "/auth/login", { json: { email: address, password: given } });
      const failures = await untilLimited(LOGIN_FAILURES, () => attempt("wrong password"), "invalid_credentials");
      expect(failures).to.be.at.least(LOGIN_FAILURES);
      expectLimited(await attempt(password, email.toUpperCase()));
      const other = context.testRun.accounts.newEmail();
      expectHttpRefusal(await attempt("wrong password", other), "invalid_credentials");
    },
    "let 60 API keys of one address be wrong, and then none be right": async (context) => {
      const attempt = (json: object) => context.http(null).once("POST", "/auth/token", { json });
      const wrong = () => attempt({ api_key: "wrong" });
      expect(await untilLimited(TOKEN_FAILURES, wrong, "invalid_api_key")).to.be.at.least(TOKEN_FAILURES);
      await recovered(context, () => attempt({ api_key: "wrong" }));
    },
    "take 300 logins of one address a minute": async (context) => {
      const attempt = () => context.http(null).once("POST", "/auth/login", { json: {} });
      await untilFull(attempt);
      expect(await untilLimited(LOGIN_REQUESTS, attempt, "invalid_request")).to.be.at.least(LOGIN_REQUESTS);
    },
    "take 1,200 API keys of one address a minute": async (context) => {
      const attempt = () => context.http(null).once("POST", "/auth/token", { json: {} });
      await untilFull(attempt);
      expect(await untilLimited(TOKEN_REQUESTS, attempt, "invalid_request")).to.be.at.least(TOKEN_REQUESTS);
    },
  },
};

/** Waits until the limit is fully available again: earlier entries have made requests from the same address. */
async function untilFull(attempt: () => Promise<HttpAnswer>): Promise<void> {
  const { ratelimit } = (await attempt()).headers;
  const fullInSecs = Number(/^"address";r=[0-9]+;t=([0-9]+)$/.exec(String(ratelimit))?.[1]);
  expect(fullInSecs, `RateLimit: ${ratelimit}`).to.be.within(1, WINDOW_SECS);
  await sleep(fullInSecs * 1000);
}

/**
 * Number of requests that are refused with the code before the first one that exceeds the limit. During the requests
 * the limit refills at most once for each window.
 */
async function untilLimited(
  limit: number,
  attempt: () => Promise<HttpAnswer>,
  code: Parameters<typeof expectHttpRefusal>[1],
): Promise<number> {
  const begunMs = performance.now();
  for (let count = 0; ; count++) {
    const answer = await attempt();
    if (answer.status === 429) {
      expectLimited(answer);
      return count;
    }
    expectHttpRefusal(answer, code);
    const windows = (performance.now() - begunMs) / 1000 / WINDOW_SECS;
    expect(count, "attempts without a limit").to.be.at.most(limit * (1 + windows) + 1);
  }
}

function expectLimited(answer: HttpAnswer): void {
  expectHttpRefusal(answer, "rate_limited");
  expect(Number(answer.headers["retry-after"])).to.be.within(1, WINDOW_SECS);
}

/** Waits as long as `Retry-After` says, after which one more request is accepted. */
async function recovered(context: TestContext, attempt: () => Promise<HttpAnswer>): Promise<void> {
  expectLimited(await attempt());
  const answer = await context.http(null).call("POST", "/auth/token", { json: { api_key: "wrong" } });
  expectHttpRefusal(answer, "invalid_api_key");
  answered(await context.http().call("GET", "/keys?limit=1"));
}

export const accountsLimits: readonly Table[] = [tokens, limits];
