import { inspect } from "node:util";
import { UserRole, UserStatus } from "@quoin/proto";
import { expect } from "chai";
import {
  FakeRuntime,
  failure,
  issueTokens,
  type Refusal,
  refuse,
  ScriptedMember,
  TEST_CERTIFICATE,
  TEST_KEY,
} from "../../test/index.ts";
import { createTokenSource, type ExchangeRequest, exchangeApiKey, logIn, type QuoinError } from "../index.ts";

const API_KEY = "qk_verysecret";
const PASSWORD = "correct horse";
/** Nothing listens here: the port of an obsolete service. */
const CLOSED_ENDPOINT = "127.0.0.1:1";
const NO_LEADER: Refusal = { code: "UNAVAILABLE", reason: "NO_LEADER", message: "no leader" };

describe("exchanges for tokens", function () {
  // Usually milliseconds: a limit for a busy machine.
  this.timeout(20_000);

  const members: ScriptedMember[] = [];
  let runtime: FakeRuntime;

  beforeEach(() => {
    runtime = new FakeRuntime();
    // Begins with the first endpoint.
    runtime.chance = 0;
  });

  afterEach(() => {
    for (const member of members.splice(0)) {
      member.stop();
    }
  });

  async function start(...parameters: Parameters<typeof ScriptedMember.start>): Promise<ScriptedMember> {
    const member = await ScriptedMember.start(...parameters);
    members.push(member);
    return member;
  }

  function exchange(endpoints: readonly string[], options: Partial<ExchangeRequest> = {}) {
    return exchangeApiKey({ apiKey: API_KEY, endpoints, ...options }, runtime);
  }

  async function secretFailure(work: Promise<unknown>): Promise<QuoinError> {
    const error = await failure(work);
    const shown = inspect(error, { depth: 10 });
    expect(shown, "the key is never repeated").to.not.include(API_KEY);
    expect(shown, "the password is never repeated").to.not.include(PASSWORD);
    return error;
  }

  describe("exchangeApiKey", () => {
    it("sends the key without a token, and the lifetime if there is one", async () => {
      const member = await start({ exchangeToken: issueTokens() });
      expect(await exchange([member.endpoint])).to.deep.equal({ accessToken: "token-1", expiresInSeconds: 3_600 });
      await exchange([member.endpoint], { expiresInSeconds: 60 });
      expect(member.calls.map(({ request, authorization }) => [request, authorization])).to.deep.equal([
        [{ apiKey: API_KEY, expiresInSeconds: 0n }, []],
        [{ apiKey: API_KEY, expiresInSeconds: 60n }, []],
      ]);
      const refused = await secretFailure(exchange([member.endpoint], { expiresInSeconds: 0 }));
      expect(refused.message).to.equal("expiresInSeconds must be 1 or more, not 0");
    });

    const refusals: readonly Refusal[] = [
      { code: "INVALID_ARGUMENT", reason: "BAD_FIELD" },
      { code: "UNAUTHENTICATED", reason: "INVALID_API_KEY" },
      { code: "UNIMPLEMENTED", reason: "NOT_SERVED" },
      { code: "RESOURCE_EXHAUSTED", reason: "RATE_LIMITED" },
      { code: "INTERNAL", reason: "INTERNAL" },
    ];
    for (const refusal of refusals) {
      it(`takes ${refusal.code} as final, and tries no other member`, async () => {
        const [first, second] = [await start({ exchangeToken: () => refuse(refusal) }), await start({})];
        const error = await secretFailure(exchange([first.endpoint, second.endpoint]));
        expect(error).to.include({ code: refusal.code, reason: refusal.reason, outcome: "not-executed" });
        expect([first.calls.length, second.calls.length]).to.deep.equal([1, 0]);
      });
    }

    it("tries the next member if one has no leader, hangs, or does not run", async () => {
      const withoutLeader = await start({ exchangeToken: () => refuse(NO_LEADER) });
      const hanging = await start({ exchangeToken: () => new Promise(() => undefined) });
      const fit = await start({ exchangeToken: issueTokens() });
      const endpoints = [CLOSED_ENDPOINT, withoutLeader.endpoint, hanging.endpoint, fit.endpoint];
      expect((await exchange(endpoints, { timeoutMs: 2_000 })).accessToken).to.equal("token-1");
    });

    it("is UNAVAILABLE when no member decides until the end of its time", async () => {
      const error = await secretFailure(exchange([CLOSED_ENDPOINT]));
      expect(error).to.include({ code: "UNAVAILABLE", outcome: "not-executed" });
      expect(error.message).to.match(/^no connection to 127.0.0.1:1: .*ECONNREFUSED/);
      expect(runtime.nowMs - 1_000).to.be.within(4_000, 5_000);
      expect(await secretFailure(exchange([]))).to.include({ reason: "BAD_FIELD" });
    });

    it("tries members that cannot decide at most four times", async () => {
      const withoutLeader = await start({ exchangeToken: () => refuse(NO_LEADER) });
      const error = await secretFailure(exchange([withoutLeader.endpoint], { timeoutMs: 20_000 }));
      expect(error).to.include({ code: "UNAVAILABLE", reason: "NO_LEADER", message: "no leader" });
      expect(withoutLeader.calls).to.have.length(4);
    });

    it("refuses a time beyond the range of timers", async () => {
      for (const timeoutMs of [0, -1, Number.NaN, 2 ** 31]) {
        expect(await secretFailure(exchange([CLOSED_ENDPOINT], { timeoutMs }))).to.include({ reason: "BAD_FIELD" });
      }
    });

    it("refuses an answer without a valid token", async () => {
      const answers = [
        {},
        { accessToken: "t" },
        { expiresInSeconds: 60n },
        { accessToken: "t", expiresInSeconds: -1n },
        { accessToken: "two words", expiresInSeconds: 60n },
      ];
      for (const answer of answers) {
        const member = await start({ exchangeToken: () => answer });
        expect(await secretFailure(exchange([member.endpoint]))).to.include({ code: "INTERNAL" });
      }
    });

    it("speaks TLS with the given authority and certificate, and only with them", async () => {
      const options = { tls: { certificate: TEST_CERTIFICATE, key: TEST_KEY } };
      const member = await start({ exchangeToken: issueTokens() }, options);
      const tls = { ca: TEST_CERTIFICATE, certificate: TEST_CERTIFICATE, key: TEST_KEY };
      expect((await exchange([member.endpoint], { tls })).accessToken).to.equal("token-1");
      const refused = await secretFailure(
        exchange([member.endpoint], { tls: { certificate: TEST_CERTIFICATE, key: TEST_KEY } }),
      );
      expect(refused.message).to.include("self-signed");
      expect(await secretFailure(exchange([member.endpoint], { tls: { ca: TEST_CERTIFICATE } }))).to.include({
        code: "UNAVAILABLE",
      });
      expect(member.calls).to.have.length(1);
    });
  });

  describe("a source for several clients", () => {
    it("tries each member once, because the operations that wait try again", async () => {
      const without = await Promise.all([1, 2].map(() => start({ exchangeToken: () => refuse(NO_LEADER) })));
      const endpoints = [CLOSED_ENDPOINT, ...without.map(({ endpoint }) => endpoint)];
      const source = createTokenSource({ credentials: { apiKey: API_KEY }, endpoints, runtime });
      const error = await secretFailure(Promise.resolve(source.token()));
      expect(error).to.include({ code: "UNAVAILABLE", outcome: "not-executed" });
      expect(without.map(({ calls }) => calls.length)).to.deep.equal([1, 1]);
      without[1]!.scripts.exchangeToken = issueTokens();
      expect(await source.token()).to.equal("token-1");
    });
  });

  describe("logIn", () => {
    const user = {
      userId: "u",
      email: "ada@example.com",
      role: UserRole.MEMBER,
      namespaces: ["a"],
      status: UserStatus.ACTIVE,
      createdAtMs: 1n,
    };
    const request = { email: "ada@example.com", password: PASSWORD };

    it("sends the e-mail address and the password without a token, and returns the user", async () => {
      const member = await start({ login: () => ({ accessToken: "token", expiresInSeconds: 60n, user }) });
      expect(await logIn({ ...request, endpoints: [CLOSED_ENDPOINT, member.endpoint] }, runtime)).to.deep.equal({
        accessToken: "token",
        expiresInSeconds: 60,
        user: { ...user, role: "member", status: "active", createdAtMs: 1 },
      });
      expect(member.calls.map(({ request: sent, authorization }) => [sent, authorization])).to.deep.equal([
        [request, []],
      ]);
    });

    it("fails with the refusal, or without a user in the answer", async () => {
      const member = await start({ login: () => ({ accessToken: "token", expiresInSeconds: 60n }) });
      const endpoints = [member.endpoint];
      expect(await secretFailure(logIn({ ...request, endpoints }, runtime))).to.include({ code: "INTERNAL" });
      for (const refusal of [
        { code: "PERMISSION_DENIED", reason: "EMAIL_NOT_VERIFIED" },
        { code: "UNAUTHENTICATED", reason: "INVALID_CREDENTIALS" },
      ] as const) {
        member.scripts.login = () => refuse(refusal);
        expect(await secretFailure(logIn({ ...request, endpoints }, runtime))).to.include(refusal);
      }
    });

    it("gives operations their tokens, if the password is the credentials of a source", async () => {
      let count = 0;
      const login = () => {
        count += 1;
        return { accessToken: `token-${count}`, expiresInSeconds: 60n, user };
      };
      const member = await start({ login });
      const source = createTokenSource({ credentials: request, endpoints: [member.endpoint], runtime });
      expect(await Promise.all([source.token(), source.token()])).to.deep.equal(["token-1", "token-1"]);
      expect(await source.refresh("token-1")).to.equal("token-2");
      expect(member.calls.map(({ request: sent }) => sent)).to.deep.equal([request, request]);
      member.scripts.login = () => refuse({ code: "UNAUTHENTICATED", reason: "INVALID_CREDENTIALS" });
      const refused = await secretFailure(source.refresh("token-2") as Promise<unknown>);
      expect(refused).to.include({ code: "UNAUTHENTICATED", reason: "INVALID_CREDENTIALS", outcome: "not-executed" });
    });

    it("waits 10 s for members that do not run", async () => {
      const error = await secretFailure(logIn({ ...request, endpoints: [CLOSED_ENDPOINT] }, runtime));
      expect(error).to.include({ code: "UNAVAILABLE", outcome: "not-executed" });
      expect(runtime.nowMs - 1_000).to.be.within(9_000, 10_000);
    });
  });
});
