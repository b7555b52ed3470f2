import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer, type Server } from "node:net";
import { expect } from "chai";
import { until } from "../../../testing/index.ts";
import { FakeRuntime, issueTokens, type Refusal, refuse, ScriptedMember } from "../../test/index.ts";
import { type Client, type ClientOptions, createClient, QuoinError, systemRuntime } from "../index.ts";

/** Nothing listens here: the port of an obsolete service. */
const CLOSED_ENDPOINT = "127.0.0.1:1";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Far more than a busy machine takes for an attempt. Only the clock of the runtime passes it. */
const TIMEOUT_MS = 60_000;

const FOUND = { value: Buffer.from("v"), revision: 7n };

describe("operations", function () {
  // Usually milliseconds: a limit for a busy machine.
  this.timeout(20_000);

  const cleanups: (() => unknown)[] = [];

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) {
      await cleanup();
    }
  });

  async function startMember(
    scripts: ScriptedMember["scripts"],
    options?: Parameters<typeof ScriptedMember.start>[1],
  ): Promise<ScriptedMember> {
    const member = await ScriptedMember.start(scripts, options);
    cleanups.push(() => member.stop());
    return member;
  }

  function connect(endpoints: readonly string[], options: Partial<ClientOptions> = {}): Client {
    const runtime = new FakeRuntime();
    // Begins with the first endpoint.
    runtime.chance = 0;
    const client = createClient({ endpoints, credentials: { token: "t" }, runtime, ...options });
    cleanups.push(() => client.close());
    return client;
  }

  async function failure(work: Promise<unknown>): Promise<QuoinError> {
    try {
      await work;
    } catch (error) {
      expect(error).to.be.instanceOf(QuoinError);
      return error as QuoinError;
    }
    throw new Error("the operation succeeded");
  }

  /** A script that sends the given refusals, and then answers. */
  function refuseFirst(...refusals: readonly Refusal[]) {
    const left = [...refusals];
    return () => {
      const refusal = left.shift();
      return refusal === undefined ? FOUND : refuse(refusal);
    };
  }

  describe("metadata", () => {
    it("carries token, version and a random request id, each once", async () => {
      const member = await startMember({ getKey: () => FOUND });
      const client = connect([member.endpoint], { credentials: { token: "abc.def-123" } });
      await client.keyValue.get("n", "k");
      await client.keyValue.get("n", "k");
      for (const call of member.calls) {
        expect(call.authorization).to.deep.equal(["Bearer abc.def-123"]);
        expect(call.apiVersion).to.deep.equal(["v1"]);
        expect(call.requestId).to.have.length(1);
        expect(call.requestId[0]).to.match(UUID);
      }
      expect(member.calls[0]?.requestId[0]).to.not.equal(member.calls[1]?.requestId[0]);
    });

    it("carries the caller's request id, in lower case", async () => {
      const member = await startMember({ getKey: () => FOUND });
      const requestId = "0123ABCD-0000-7000-8000-00000000000F";
      await connect([member.endpoint]).keyValue.get("n", "k", { requestId });
      expect(member.calls[0]?.requestId).to.deep.equal([requestId.toLowerCase()]);
    });

    it("refuses a request id that is not a UUID before anything is sent", async () => {
      const member = await startMember({ getKey: () => FOUND });
      const error = await failure(connect([member.endpoint]).keyValue.get("n", "k", { requestId: "1" }));
      expect(error).to.include({ code: "INVALID_ARGUMENT", reason: "BAD_FIELD", message: "requestId is not a UUID" });
      expect(member.calls).to.have.length(0);
    });
  });

  describe("retries", () => {
    const retried: readonly Refusal[] = [
      { code: "UNAVAILABLE", reason: "NO_LEADER", outcome: "not-executed" },
      { code: "UNAVAILABLE", reason: "LEADER_CHANGED", outcome: "unknown" },
      { code: "UNAVAILABLE" },
    ];
    for (const refusal of retried) {
      it(`tries ${refusal.code} / ${refusal.reason ?? "no reason"} again with the same request id`, async () => {
        const member = await startMember({ putKey: refuseFirst(refusal, refusal, refusal) });
        await connect([member.endpoint]).keyValue.put("n", "k", "v");
        expect(member.calls).to.have.length(4);
        expect(new Set(member.calls.map((call) => call.requestId[0]))).to.have.property("size", 1);
        expect(new Set(member.calls.map((call) => JSON.stringify(call.request, encodeBigint)))).to.have.property(
          "size",
          1,
        );
      });
    }

    it("gives up after four attempts, with pauses of 50 ms × 2^n and full jitter in between", async () => {
      const member = await startMember({ getKey: () => refuse({ code: "UNAVAILABLE", reason: "NO_LEADER" }) });
      const runtime = new FakeRuntime();
      runtime.chance = 0.5;
      const error = await failure(connect([member.endpoint], { runtime }).keyValue.get("n", "k"));
      expect(error).to.include({ code: "UNAVAILABLE", reason: "NO_LEADER" });
      expect(error.requestId).to.equal(member.calls[0]?.requestId[0]);
      expect(member.calls).to.have.length(4);
      expect(runtime.pausesMs).to.deep.equal([25, 50, 100]);
    });

    it("tries RATE_LIMITED again on the same endpoint, after the requested pause and some jitter", async () => {
      const refusal = { code: "RESOURCE_EXHAUSTED", reason: "RATE_LIMITED", retryDelayMs: 1_500 } as const;
      const member = await startMember({ getKey: refuseFirst(refusal, refusal) });
      const other = await startMember({ getKey: () => FOUND });
      const runtime = new FakeRuntime();
      runtime.chance = 0;
      await connect([member.endpoint, other.endpoint], { runtime, timeoutMs: TIMEOUT_MS }).keyValue.get("n", "k");
      expect(member.calls).to.have.length(3);
      expect(new Set(member.calls.map((call) => call.requestId[0]))).to.have.property("size", 1);
      expect(runtime.pausesMs).to.deep.equal([1_500, 1_500]);
    });

    it("does not wait for a pause that is longer than its deadline", async () => {
      const refusal = { code: "RESOURCE_EXHAUSTED", reason: "RATE_LIMITED", retryDelayMs: TIMEOUT_MS } as const;
      const member = await startMember({ getKey: () => refuse(refusal) });
      const runtime = new FakeRuntime();
      const client = connect([member.endpoint], { runtime, timeoutMs: TIMEOUT_MS });
      expect(await failure(client.keyValue.get("n", "k"))).to.include({ reason: "RATE_LIMITED", retryable: true });
      expect(member.calls).to.have.length(1);
      expect(runtime.pausesMs).to.deep.equal([]);
    });

    const final: readonly Refusal[] = [
      { code: "PERMISSION_DENIED", reason: "ACCESS_DENIED" },
      { code: "DEADLINE_EXCEEDED", reason: "DEADLINE" },
      { code: "INVALID_ARGUMENT", reason: "BAD_FIELD" },
      { code: "NOT_FOUND", reason: "KEY_NOT_FOUND" },
      { code: "ALREADY_EXISTS", reason: "NAMESPACE_EXISTS" },
      { code: "FAILED_PRECONDITION", reason: "REVISION_MISMATCH" },
      { code: "ABORTED", reason: "FENCED" },
      { code: "RESOURCE_EXHAUSTED", reason: "RATE_LIMITED" },
      { code: "RESOURCE_EXHAUSTED", reason: "QUOTA", retryDelayMs: 1_500 },
      { code: "UNIMPLEMENTED" },
      { code: "INTERNAL" },
      { code: "UNKNOWN" },
    ];
    for (const refusal of final) {
      it(`does not try ${refusal.code} again`, async () => {
        const member = await startMember({ getKey: () => refuse({ ...refusal, message: "no" }) });
        const error = await failure(connect([member.endpoint]).keyValue.get("n", "k"));
        expect(error).to.include({ code: refusal.code, reason: refusal.reason ?? "", message: "no" });
        expect(error.retryDelayMs).to.equal(refusal.retryDelayMs);
        expect(member.calls).to.have.length(1);
      });
    }

    it("tries the endpoints in turn, and skips one where nothing listens", async () => {
      const tired = await startMember({ getKey: () => refuse({ code: "UNAVAILABLE", reason: "SHUTTING_DOWN" }) });
      const fit = await startMember({ getKey: () => FOUND });
      const client = connect([CLOSED_ENDPOINT, tired.endpoint, fit.endpoint]);
      expect((await client.keyValue.get("n", "k")).revision).to.equal(7);
      expect([tired.calls.length, fit.calls.length]).to.deep.equal([1, 1]);
      await client.keyValue.get("n", "k");
      expect([tired.calls.length, fit.calls.length], "it stays with the member that answered").to.deep.equal([1, 2]);
    });

    it("goes to the leader that the answer names", async () => {
      const leader = await startMember({ getKey: () => FOUND });
      const leaderEndpoint = leader.endpoint;
      const first = await startMember({ getKey: () => refuse({ code: "UNAVAILABLE", leaderEndpoint }) });
      const other = await startMember({ getKey: () => FOUND });
      await connect([first.endpoint, other.endpoint]).keyValue.get("n", "k");
      expect([first, other, leader].map((member) => member.calls.length)).to.deep.equal([1, 0, 1]);
      expect(leader.calls[0]?.requestId).to.deep.equal(first.calls[0]?.requestId);
    });

    for (const code of [0, 2]) {
      it(`takes a stream that ends with code ${code} and no status, as if its member had gone, for UNAVAILABLE`, async () => {
        const dying = createHttp2Server();
        const ids: unknown[] = [];
        dying.on("stream", (stream: ServerHttp2Stream, headers) => {
          ids.push(headers["request-id"]);
          stream.on("error", () => undefined); // A stream that is closed with an error says so here, too.
          stream.respond({ ":status": 200, "content-type": "application/grpc" });
          stream.close(code);
        });
        await new Promise<void>((resolve) => dying.listen(0, "127.0.0.1", resolve));
        cleanups.push(() => dying.close());
        const { port } = dying.address() as AddressInfo;
        const fit = await startMember({ getKey: () => FOUND });
        const client = connect([`127.0.0.1:${port}`, fit.endpoint]);
        expect((await client.keyValue.get("n", "k")).revision).to.equal(7);
        expect(fit.calls[0]?.requestId).to.deep.equal(ids);
        const alone = connect([`127.0.0.1:${port}`]);
        const error = await failure(alone.keyValue.get("n", "k"));
        expect(error).to.include({ code: "UNAVAILABLE", outcome: "unknown" });
      });
    }

    it("finds a member again that restarts at the same endpoint", async () => {
      const before = await startMember({ getKey: () => FOUND });
      const client = connect([before.endpoint]);
      await client.keyValue.get("n", "k");
      before.stop();
      expect((await failure(client.keyValue.get("n", "k"))).code).to.equal("UNAVAILABLE");
      const after = await startMember({ getKey: () => FOUND }, { port: Number(before.endpoint.split(":")[1]) });
      // Between two connections, the channel pauses in real time, at first for 50 ms.
      const isAnswered = () =>
        client.keyValue.get("n", "k").then(
          () => true,
          () => false,
        );
      await until("the member to be found again", isAnswered, { limitMs: 15_000, pollMs: 10 });
      expect(after.calls).to.have.length(1);
    });
  });

  describe("outcome", () => {
    it("is not-executed when no member could be reached", async () => {
      const error = await failure(connect([CLOSED_ENDPOINT]).keyValue.put("n", "k", "v"));
      expect(error).to.include({ code: "UNAVAILABLE", reason: "", outcome: "not-executed" });
      expect(error.message).to.include("ECONNREFUSED");
    });

    it("stays unknown when a later attempt was not executed, or was refused before it was executed", async () => {
      const lost: Refusal = { code: "UNAVAILABLE", reason: "LEADER_CHANGED", outcome: "unknown" };
      for (const last of [
        { code: "UNAVAILABLE", reason: "NO_LEADER", outcome: "not-executed" },
        { code: "PERMISSION_DENIED", reason: "ACCESS_DENIED", outcome: "not-executed" },
        { code: "RESOURCE_EXHAUSTED", reason: "RATE_LIMITED", outcome: "not-executed" },
      ] as const) {
        const member = await startMember({ putKey: refuseFirst(lost, last, last, last, last) });
        const error = await failure(connect([member.endpoint]).keyValue.put("n", "k", "v"));
        expect(error, last.code).to.include({ code: last.code, outcome: "unknown" });
      }
    });

    it("is certain after an answer that is decided where the request is executed", async () => {
      for (const last of [
        { code: "FAILED_PRECONDITION", reason: "REVISION_MISMATCH", outcome: "not-executed" },
        { code: "RESOURCE_EXHAUSTED", reason: "QUOTA", outcome: "not-executed" },
      ] as const) {
        const member = await startMember({ putKey: refuseFirst({ code: "UNAVAILABLE", outcome: "unknown" }, last) });
        const error = await failure(connect([member.endpoint]).keyValue.put("n", "k", "v"));
        expect(error, last.code).to.include({ code: last.code, outcome: "not-executed" });
      }
    });
  });

  describe("deadline", () => {
    it("bounds all attempts together: there is no pause that would exceed it", async () => {
      const runtime = new FakeRuntime();
      runtime.chance = 0.999;
      const member = await startMember({
        getKey: () => {
          // The second attempt takes all but 50 ms: the pause of 99.9 ms after it would be too late.
          if (member.calls.length === 2) {
            runtime.advance(TIMEOUT_MS - runtime.pausesMs[0]! - 50);
          }
          return refuse({ code: "UNAVAILABLE", reason: "NO_LEADER" });
        },
      });
      const client = connect([member.endpoint], { runtime });
      const error = await failure(client.keyValue.get("n", "k", { timeoutMs: TIMEOUT_MS }));
      expect(error).to.include({ code: "UNAVAILABLE", reason: "NO_LEADER" });
      expect(runtime.pausesMs).to.deep.equal([49.95]);
      expect(member.calls).to.have.length(2);
    });

    it("reports the last failure if the pause after it would take all the remaining time", async () => {
      const member = await startMember({ getKey: () => refuse({ code: "UNAVAILABLE", reason: "NO_LEADER" }) });
      const runtime = new FakeRuntime();
      // A busy machine wakes up late.
      const sleep = runtime.sleep.bind(runtime);
      runtime.sleep = (durationMs, signal) => sleep(durationMs + TIMEOUT_MS, signal);
      const client = connect([member.endpoint], { runtime });
      const error = await failure(client.keyValue.get("n", "k", { timeoutMs: TIMEOUT_MS }));
      expect(error).to.include({ code: "UNAVAILABLE", reason: "NO_LEADER" });
      expect(member.calls).to.have.length(1);
    });

    it("S12: ends a call without an answer, and leaves its outcome unknown", async () => {
      const member = await startMember({ putKey: (_request, call) => aborted(call.cancelled) });
      const client = connect([member.endpoint], { runtime: systemRuntime });
      const error = await failure(client.keyValue.put("n", "k", "v", { timeoutMs: 200 }));
      expect(error).to.include({ code: "DEADLINE_EXCEEDED", reason: "DEADLINE", outcome: "unknown" });
      expect(member.calls).to.have.length(1);
      await expectAborted(member.calls[0]!.cancelled);
    });

    it("ends the wait for a token, without having sent anything", async () => {
      const member = await startMember({ getKey: () => FOUND, exchangeToken: () => new Promise(() => undefined) });
      const client = connect([member.endpoint], { credentials: { apiKey: "qk_key" }, runtime: systemRuntime });
      const error = await failure(client.keyValue.get("n", "k", { timeoutMs: 150 }));
      expect(error).to.include({ code: "DEADLINE_EXCEEDED", outcome: "not-executed" });
      expect(member.callsOf("getKey")).to.have.length(0);
    });

    it("leaves a host that does not answer in time for one that does", async () => {
      const fit = await startMember({ getKey: () => FOUND });
      const silent = await startSilentServer();
      cleanups.push(() => silent.close());
      await connect([silent.endpoint, fit.endpoint]).keyValue.get("n", "k", { timeoutMs: 60_000 });
      expect(fit.calls).to.have.length(1);
    });

    it("must be more than 0 and within the range of a timer", async () => {
      const client = connect([CLOSED_ENDPOINT]);
      for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
        const error = await failure(client.keyValue.get("n", "k", { timeoutMs }));
        expect(error).to.include({ code: "INVALID_ARGUMENT", reason: "BAD_FIELD" });
      }
    });
  });

  describe("tokens", () => {
    const FIRST_TOKEN_EXPIRED: NonNullable<ScriptedMember["scripts"]["getKey"]> = (_request, call) =>
      call.authorization[0] === "Bearer token-1" ? refuse({ code: "UNAUTHENTICATED", reason: "TOKEN_EXPIRED" }) : FOUND;
    const NO_LEADER: Refusal = { code: "UNAVAILABLE", reason: "NO_LEADER", outcome: "not-executed" };
    const credentials = { apiKey: "qk_key" };

    /** Issues tokens, but refuses these exchanges, counted from 1. */
    function issueExcept(...refused: readonly number[]): ReturnType<typeof issueTokens> {
      let count = 0;
      return () => {
        count += 1;
        return refused.includes(count)
          ? refuse(NO_LEADER)
          : { accessToken: `token-${count}`, expiresInSeconds: 3_600n };
      };
    }

    const tokensOf = (member: ScriptedMember) => member.callsOf("getKey").map((call) => call.authorization[0]);

    it("are fetched at the same members, without a token", async () => {
      const member = await startMember({ getKey: () => FOUND, exchangeToken: issueTokens() });
      const client = connect([member.endpoint], { credentials });
      await Promise.all([client.keyValue.get("n", "k"), client.keyValue.get("n", "k")]);
      expect(tokensOf(member)).to.deep.equal(["Bearer token-1", "Bearer token-1"]);
      const exchanges = member.callsOf("exchangeToken");
      expect(exchanges.map(({ request, authorization }) => [request, authorization])).to.deep.equal([
        [{ apiKey: "qk_key", expiresInSeconds: 0n }, []],
      ]);
    });

    it("are fetched at the next member if one does not run, answers nothing, or has no leader", async () => {
      const silent = await startSilentServer();
      cleanups.push(() => silent.close());
      const hanging = await startMember({ exchangeToken: () => new Promise(() => undefined) });
      const withoutLeader = await startMember({ exchangeToken: () => refuse(NO_LEADER) });
      for (const first of [CLOSED_ENDPOINT, silent.endpoint, hanging.endpoint, withoutLeader.endpoint]) {
        const fit = await startMember({ getKey: () => FOUND, exchangeToken: issueTokens() });
        await connect([first, fit.endpoint], { credentials }).keyValue.get("n", "k", { timeoutMs: TIMEOUT_MS });
        expect(fit.calls.map(({ method }) => method)).to.deep.equal(["exchangeToken", "getKey"]);
      }
    });

    it("are refreshed once if they are refused", async () => {
      const member = await startMember({ getKey: FIRST_TOKEN_EXPIRED, exchangeToken: issueTokens() });
      const client = connect([member.endpoint], { credentials });
      await client.keyValue.get("n", "k");
      expect(tokensOf(member)).to.deep.equal(["Bearer token-1", "Bearer token-2"]);
      const [first, second] = member.callsOf("getKey");
      expect(first?.requestId).to.deep.equal(second?.requestId);
      await client.keyValue.get("n", "k");
      expect(member.callsOf("exchangeToken"), "the new token is kept").to.have.length(2);
    });

    it("are requested again if one is refused while the exchange has no leader", async () => {
      const member = await startMember({ getKey: FIRST_TOKEN_EXPIRED, exchangeToken: issueExcept(2, 3) });
      await connect([member.endpoint], { credentials }).keyValue.get("n", "k");
      expect(tokensOf(member)).to.deep.equal(["Bearer token-1", "Bearer token-4"]);
    });

    it("are not refreshed twice in one operation", async () => {
      const getKey = () => refuse({ code: "UNAUTHENTICATED", reason: "TOKEN_REVOKED" });
      const member = await startMember({ getKey, exchangeToken: issueTokens() });
      const error = await failure(connect([member.endpoint], { credentials }).keyValue.get("n", "k"));
      expect(error).to.include({ code: "UNAUTHENTICATED", reason: "TOKEN_REVOKED" });
      expect([member.callsOf("getKey").length, member.callsOf("exchangeToken").length]).to.deep.equal([2, 2]);
    });

    it("from the caller are sent once: there is no other", async () => {
      const member = await startMember({ getKey: () => refuse({ code: "UNAUTHENTICATED", reason: "TOKEN_INVALID" }) });
      const error = await failure(connect([member.endpoint]).keyValue.get("n", "k"));
      expect(error).to.include({ code: "UNAUTHENTICATED", reason: "TOKEN_INVALID", outcome: "not-executed" });
      expect(member.calls).to.have.length(1);
    });

    it("cannot be fetched for a revoked key: the refusal of the exchange is the error", async () => {
      const exchangeToken = () => refuse({ code: "UNAUTHENTICATED", reason: "INVALID_API_KEY" });
      const member = await startMember({ getKey: () => FOUND, exchangeToken });
      const error = await failure(connect([member.endpoint], { credentials }).keyValue.get("n", "k"));
      expect(error).to.include({ code: "UNAUTHENTICATED", reason: "INVALID_API_KEY", outcome: "not-executed" });
      expect(member.calls.map(({ method }) => method)).to.deep.equal(["exchangeToken"]);
    });

    it("are requested again if the exchange has no leader", async () => {
      const member = await startMember({ getKey: () => FOUND, exchangeToken: issueExcept(1, 2) });
      await connect([member.endpoint], { credentials }).keyValue.get("n", "k");
      expect(tokensOf(member)).to.deep.equal(["Bearer token-3"]);
    });
  });

  describe("cancellation", () => {
    it("by the signal also ends the call at the member", async () => {
      const abort = new AbortController();
      const member = await startMember({
        putKey: (_request, call) => {
          abort.abort();
          return aborted(call.cancelled);
        },
      });
      const error = await failure(
        connect([member.endpoint]).keyValue.put("n", "k", "v", { signal: abort.signal, timeoutMs: 60_000 }),
      );
      expect(error).to.include({ code: "CANCELLED", outcome: "unknown" });
      await expectAborted(member.calls[0]!.cancelled);
    });

    it("before the call sends nothing", async () => {
      const member = await startMember({ putKey: () => FOUND });
      const error = await failure(
        connect([member.endpoint]).keyValue.put("n", "k", "v", { signal: AbortSignal.abort() }),
      );
      expect(error).to.include({ code: "CANCELLED", outcome: "not-executed" });
      expect(member.calls).to.have.length(0);
    });

    it("ends a pause between two attempts", async () => {
      const abort = new AbortController();
      const member = await startMember({
        getKey: () => {
          abort.abort(new Error("enough"));
          return refuse({ code: "UNAVAILABLE", outcome: "not-executed" });
        },
      });
      const error = await failure(connect([member.endpoint]).keyValue.get("n", "k", { signal: abort.signal }));
      expect(error.code).to.equal("CANCELLED");
      expect(member.calls).to.have.length(1);
    });

    it("of the client ends an operation that waits for its token, before anything else is sent", async () => {
      const member = await startMember({
        getKey: () => FOUND,
        exchangeToken: () => {
          client.close();
          return new Promise(() => undefined);
        },
      });
      const client = connect([member.endpoint], { credentials: { apiKey: "qk_key" } });
      const error = await failure(client.keyValue.get("n", "k"));
      expect(error).to.include({ code: "CANCELLED", outcome: "not-executed" });
      expect(member.callsOf("getKey")).to.have.length(0);
    });

    it("of the client: a closed client refuses operations, and sends nothing", async () => {
      const member = await startMember({ getKey: () => FOUND });
      const client = connect([member.endpoint]);
      client.close();
      const error = await failure(client.keyValue.get("n", "k"));
      expect(error).to.include({ code: "CANCELLED", outcome: "not-executed", message: "the client is closed" });
      expect(member.calls).to.have.length(0);
    });
  });
});

function encodeBigint(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

/** Never answers; rejects when the signal is aborted, so that nothing keeps waiting. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("given up")), { once: true });
  });
}

/** Resolves when the signal is aborted; the limit of the test bounds the wait. */
async function expectAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) {
    return;
  }
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

/** A server that accepts connections and never answers. */
async function startSilentServer(): Promise<{ endpoint: string; close: () => void }> {
  const server: Server = createServer();
  const sockets = new Set<{ destroy(): void }>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new Error("no port");
  }
  return {
    endpoint: `127.0.0.1:${address.port}`,
    close: () => {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
    },
  };
}
