import { inspect } from "node:util";
import { expect } from "chai";
import {
  answerInTurn,
  FakeRuntime,
  failure,
  ScriptedHttpMember,
  ScriptedTokenEndpoint,
  type StatusAndBody,
  TEST_CERTIFICATE,
  TEST_KEY,
} from "../../test/index.ts";
import type { QuoinError } from "../errors/index.ts";
import { type AccessToken, type ExchangeRequest, exchangeApiKey, exchangeApiKeyOnce, logIn } from "./token-exchange.ts";

const API_KEY = "qk_verysecret";

/** More than the attempts that reach a member. */
const ROUNDS_ALONE = 6;

/** A member that starts only after some rounds have failed. */
class LateMember extends FakeRuntime {
  readonly #answers: StatusAndBody[];
  #port = 0;
  #member: ScriptedHttpMember | undefined;

  constructor(answers: StatusAndBody[]) {
    super();
    this.#answers = answers;
  }

  /** Its future address. */
  async freeUrl(): Promise<string> {
    const member = await ScriptedHttpMember.start(() => undefined);
    const { url } = member;
    await member.stop();
    this.#port = Number(new URL(url).port);
    return url;
  }

  override async sleep(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
    await super.sleep(durationMs, signal);
    if (this.pausesMs.length === ROUNDS_ALONE) {
      this.#member = await ScriptedHttpMember.start(answerInTurn(this.#answers), this.#port);
    }
  }

  async stop(): Promise<void> {
    await this.#member?.stop();
  }
}

describe("exchangeApiKey", () => {
  const endpoints: ScriptedTokenEndpoint[] = [];

  afterEach(async () => {
    for (const endpoint of endpoints.splice(0)) {
      await endpoint.stop();
    }
  });

  async function start(...parameters: Parameters<typeof ScriptedTokenEndpoint.start>): Promise<ScriptedTokenEndpoint> {
    const endpoint = await ScriptedTokenEndpoint.start(...parameters);
    endpoints.push(endpoint);
    return endpoint;
  }

  function exchange(urls: readonly string[], options: Partial<ExchangeRequest> = {}): Promise<AccessToken> {
    return exchangeApiKey({ apiKey: API_KEY, httpEndpoints: urls, ...options });
  }

  async function secretFailure(work: Promise<unknown>): Promise<QuoinError> {
    const result = await work.then(
      () => undefined,
      (error: QuoinError) => error,
    );
    if (result === undefined) {
      throw new Error("the exchange succeeded");
    }
    expect(inspect(result, { depth: 10 }), "the key is never repeated").to.not.include(API_KEY);
    return result;
  }

  it("posts the key, and the lifetime if there is one", async () => {
    const endpoint = await start();
    expect(await exchange([endpoint.url])).to.deep.equal({ accessToken: "token-1", expiresInSeconds: 3_600 });
    await exchange([endpoint.url], { expiresInSeconds: 60 });
    expect(endpoint.bodies).to.deep.equal([{ api_key: API_KEY }, { api_key: API_KEY, expires_in_secs: 60 }]);
  });

  const refusals = [
    [400, "invalid_request", "INVALID_ARGUMENT", "BAD_FIELD"],
    [401, "invalid_api_key", "UNAUTHENTICATED", "INVALID_API_KEY"],
    [404, "not_found", "UNIMPLEMENTED", "NOT_FOUND"],
    [429, "rate_limited", "RESOURCE_EXHAUSTED", "RATE_LIMITED"],
    [418, "teapot", "UNKNOWN", "TEAPOT"],
  ] as const;
  for (const [status, code, expected, reason] of refusals) {
    it(`takes HTTP status ${status} as ${expected}, and tries no other member`, async () => {
      const first = await start(() => ({ status, body: { error: `because ${code}`, code } }));
      const second = await start();
      const error = await secretFailure(exchange([first.url, second.url]));
      expect(error).to.include({
        code: expected,
        reason,
        message: `because ${code}`,
        outcome: "not-executed",
      });
      expect(second.bodies).to.have.length(0);
    });
  }

  it("tries the next member if one has no leader, fails, or does not run", async () => {
    const withoutLeader = await start(() => ({ status: 503, body: { error: "no leader", code: "unavailable" } }));
    const broken = await start(() => ({ status: 500, body: "<html>oops</html>" }));
    const fit = await start();
    const urls = ["http://127.0.0.1:1", withoutLeader.url, broken.url, fit.url];
    expect((await exchange(urls)).accessToken).to.equal("token-1");
  });

  it("is UNAVAILABLE when no member decides", async () => {
    const error = await secretFailure(exchange(["http://127.0.0.1:1"], { timeoutMs: 100 }));
    expect(error).to.include({ code: "UNAVAILABLE", outcome: "not-executed" });
    expect(error.message).to.match(/^no connection to http:\/\/127.0.0.1:1: .*ECONNREFUSED/);
    expect((await secretFailure(exchange([]))).code).to.equal("UNAVAILABLE");
  });

  it("retries within its time while no member runs, or none can decide", async () => {
    const member = new LateMember([
      [503, { error: "no leader", code: "unavailable" }],
      [504, { error: "not in time", code: "timeout" }],
      [200, { access_token: "token", expires_in: 60 }],
    ]);
    try {
      const httpEndpoints = ["http://127.0.0.1:1", await member.freeUrl()];
      expect((await exchangeApiKey({ apiKey: API_KEY, httpEndpoints }, member)).accessToken).to.equal("token");
      expect(member.pausesMs, "rounds without an answer do not count").to.have.length(ROUNDS_ALONE + 2);
      expect(Math.min(...member.pausesMs)).to.be.greaterThan(0);
    } finally {
      await member.stop();
    }
  });

  it("gives up at the end of its time", async () => {
    const runtime = new FakeRuntime();
    const error = await failure(exchangeApiKey({ apiKey: API_KEY, httpEndpoints: ["http://127.0.0.1:1"] }, runtime));
    expect(error).to.include({ code: "UNAVAILABLE", outcome: "not-executed" });
    expect(runtime.nowMs - 1_000).to.be.within(4_000, 5_000);
  });

  it("tries members that cannot decide at most four times, and one with an internal error once", async () => {
    const withoutLeader = await start(() => ({ status: 503, body: { error: "no leader", code: "unavailable" } }));
    expect((await secretFailure(exchange([withoutLeader.url], { timeoutMs: 20_000 }))).message).to.equal("no leader");
    expect(withoutLeader.bodies).to.have.length(4);
    const broken = await start(() => ({ status: 500, body: { error: "oops", code: "internal_error" } }));
    expect((await secretFailure(exchange([broken.url], { timeoutMs: 20_000 }))).message).to.equal("oops");
    expect(broken.bodies).to.have.length(1);
  });

  it("is made in one round for operations, which retry themselves", async () => {
    const withoutLeader = await start(() => ({ status: 503, body: { error: "no leader", code: "unavailable" } }));
    const request = { apiKey: API_KEY, httpEndpoints: [withoutLeader.url, withoutLeader.url] };
    expect((await secretFailure(exchangeApiKeyOnce(request))).code).to.equal("UNAVAILABLE");
    expect(withoutLeader.bodies).to.have.length(2);
  });

  it("refuses a time beyond the range of timers", async () => {
    for (const timeoutMs of [0, -1, Number.NaN, 2 ** 31]) {
      expect(await secretFailure(exchange(["http://127.0.0.1:1"], { timeoutMs }))).to.include({ reason: "BAD_FIELD" });
    }
  });

  it("waits for an answer no longer than its time limit", async () => {
    const silent = await start(() => new Promise(() => undefined));
    const error = await secretFailure(exchange([silent.url], { timeoutMs: 100 }));
    expect(error.code).to.equal("UNAVAILABLE");
  });

  it("refuses an answer without a valid token", async () => {
    const bodies = [
      "",
      "[]",
      "null",
      "not JSON",
      { access_token: "t" },
      { access_token: "t", expires_in: 0 },
      { access_token: "t", expires_in: "60" },
      { access_token: "two words", expires_in: 60 },
      { expires_in: 60 },
    ];
    for (const body of bodies) {
      const endpoint = await start(() => ({ status: 200, body }));
      expect((await secretFailure(exchange([endpoint.url]))).code, JSON.stringify(body)).to.equal("INTERNAL");
    }
  });

  it("does not read an endless answer", async () => {
    const endpoint = await start(() => ({ status: 200, body: "x".repeat(21 * 1_024 * 1_024) }));
    expect((await secretFailure(exchange([endpoint.url]))).message).to.include("the answer is too large");
  });

  it("speaks TLS with the given authority and certificate, and only with them", async () => {
    const endpoint = await start(undefined, { certificate: TEST_CERTIFICATE, key: TEST_KEY });
    const tls = { ca: TEST_CERTIFICATE, certificate: TEST_CERTIFICATE, key: TEST_KEY };
    expect((await exchange([endpoint.url], { tls })).accessToken).to.equal("token-1");
    const refused = (others: typeof tls | { readonly ca: string }) =>
      secretFailure(exchangeApiKeyOnce({ apiKey: API_KEY, httpEndpoints: [endpoint.url], tls: others }));
    expect((await refused({ ...tls, ca: undefined } as unknown as typeof tls)).message).to.include("self-signed");
    expect((await refused({ ca: TEST_CERTIFICATE })).code).to.equal("UNAVAILABLE");
    expect(endpoint.bodies).to.have.length(1);
  });
});

describe("logIn", () => {
  const user = { user_id: "u", email: "ada@example.com", role: "member", namespaces: ["a"] };
  const token = { access_token: "token", expires_in: 60 };

  it("posts the e-mail address and the password, and returns the user", async () => {
    const member = await ScriptedHttpMember.start(
      answerInTurn([
        [200, { ...token, user }],
        [200, token],
        [403, { error: "not yet", code: "email_not_verified" }],
      ]),
    );
    const request = { email: "ada@example.com", password: "correct horse", httpEndpoints: [member.url] };
    try {
      expect(await logIn({ ...request, httpEndpoints: ["http://127.0.0.1:1", member.url] })).to.deep.equal({
        accessToken: "token",
        expiresInSeconds: 60,
        user: { userId: "u", email: "ada@example.com", role: "member", namespaces: ["a"] },
      });
      expect(await failure(logIn(request))).to.include({ code: "INTERNAL" });
      const refused = await failure(logIn(request));
      expect(refused).to.include({ code: "PERMISSION_DENIED", reason: "EMAIL_NOT_VERIFIED" });
      expect(inspect(refused, { depth: 10 }), "the password is never repeated").to.not.include(request.password);
      expect(member.requests.map(({ method, path }) => `${method} ${path}`)[0]).to.equal("POST /auth/login");
      expect(JSON.parse(String(member.requests[0]?.body))).to.deep.equal({
        email: request.email,
        password: request.password,
      });
    } finally {
      await member.stop();
    }
  });

  it("retries while no member runs", async () => {
    const member = new LateMember([[200, { ...token, user }]]);
    try {
      const request = { email: "ada@example.com", password: "correct horse", httpEndpoints: [await member.freeUrl()] };
      expect((await logIn(request, member)).accessToken).to.equal("token");
      expect(member.pausesMs).to.have.length(ROUNDS_ALONE);
    } finally {
      await member.stop();
    }
  });
});
