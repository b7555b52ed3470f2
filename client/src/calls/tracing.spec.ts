import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  context,
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { expect } from "chai";
import { FakeRuntime, failure, type ReceivedCall, refuse, ScriptedMember, until } from "../../test/index.ts";
import { type Client, type Credentials, createAdminClient, createClient, logIn, QuoinError } from "../index.ts";

const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const LOG_ID = "0123abcd-0000-7000-8000-00000000000f";
const FOUND = { value: Buffer.from("v"), revision: 7n };

/** The context manager of a usual application: the active context follows asynchronous calls. */
class AsyncContexts {
  readonly #storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }

  with<Parameters extends unknown[], Result>(
    active: Context,
    call: (...parameters: Parameters) => Result,
    self?: unknown,
    ...parameters: Parameters
  ): Result {
    return this.#storage.run(active, () => call.apply(self, parameters));
  }

  bind<Target>(_context: Context, target: Target): Target {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    return this;
  }
}

describe("traces of operations", function () {
  // Usually milliseconds: a limit for a busy machine.
  this.timeout(20_000);

  const cleanups: (() => unknown)[] = [];

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) {
      await cleanup();
    }
  });

  async function startMember(scripts: ScriptedMember["scripts"]): Promise<ScriptedMember> {
    const member = await ScriptedMember.start(scripts);
    cleanups.push(() => member.stop());
    return member;
  }

  function connect(endpoints: readonly string[], credentials: Credentials = { token: "t" }): Client {
    const runtime = new FakeRuntime();
    // Begins with the first endpoint.
    runtime.chance = 0;
    const client = createClient({ endpoints, credentials, runtime });
    cleanups.push(() => client.close());
    return client;
  }

  it("sends no headers without OpenTelemetry", async () => {
    const member = await startMember({ getKey: () => FOUND });
    await connect([member.endpoint]).keyValue.get("n", "k");
    expect(member.calls.map((call) => [call.traceparent, call.tracestate])).to.deep.equal([[[], []]]);
  });

  it("sends the header that the caller gives", async () => {
    const member = await startMember({ getKey: () => FOUND });
    await connect([member.endpoint]).keyValue.get("n", "k", { traceparent: TRACEPARENT });
    expect(member.calls[0]?.traceparent).to.deep.equal([TRACEPARENT]);
  });

  it("sends that header with each stream too", async () => {
    const member = await startMember({});
    member.streams.watchKeys = (_request, stream) => stream.send({ created: true, revision: 1n });
    member.streams.snapshot = (_request, stream) => stream.send({ index: 1n });
    member.streams.tailEvents = () => refuse({ code: "NOT_FOUND", reason: "LOG_NOT_FOUND" });
    const client = connect([member.endpoint]);
    await (await client.watch.keys("n", { traceparent: TRACEPARENT })).return();
    const admin = createAdminClient({ endpoint: member.endpoint, credentials: { token: "t" } });
    cleanups.push(() => admin.close());
    (await admin.snapshot({ traceparent: TRACEPARENT })).cancel();
    await failure(client.logs.tail(LOG_ID, { traceparent: TRACEPARENT }).next());
    expect(member.calls.map((call) => call.traceparent)).to.deep.equal(Array(3).fill([TRACEPARENT]));
    expect(() => client.logs.tail(LOG_ID, { traceparent: "1" })).to.throw(QuoinError, /^traceparent /);
    expect(await failure(client.watch.keys("n", { traceparent: "1" }))).to.include({ reason: "BAD_FIELD" });
  });

  it("refuses a header that does not follow the standard, before anything is sent", async () => {
    const member = await startMember({ getKey: () => FOUND });
    const client = connect([member.endpoint]);
    for (const wrong of ["", "1", TRACEPARENT.toUpperCase(), `${TRACEPARENT}0`, TRACEPARENT.replace("00-", "01-")]) {
      const error = await client.keyValue.get("n", "k", { traceparent: wrong }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(QuoinError);
      expect(error).to.include({ code: "INVALID_ARGUMENT", reason: "BAD_FIELD" });
      expect((error as QuoinError).message).to.match(/^traceparent /);
    }
    expect(member.calls).to.have.length(0);
  });

  describe("with a tracer provider", () => {
    const exporter = new InMemorySpanExporter();
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });

    before(() => {
      context.setGlobalContextManager(new AsyncContexts());
      trace.setGlobalTracerProvider(provider);
    });

    afterEach(() => exporter.reset());

    after(async () => {
      trace.disable();
      context.disable();
      await provider.shutdown();
    });

    const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans();
    const named = (name: string): readonly ReadableSpan[] => spans().filter((span) => span.name === name);
    const headerOf = (span: ReadableSpan | undefined): string =>
      `00-${span?.spanContext().traceId}-${span?.spanContext().spanId}-01`;

    it("makes a span for the operation below the active one, and one for each attempt", async () => {
      const refusals = [{ code: "UNAVAILABLE", reason: "NO_LEADER", outcome: "not-executed" } as const];
      const member = await startMember({
        getKey: () => {
          const refusal = refusals.shift();
          return refusal === undefined ? FOUND : refuse(refusal);
        },
      });
      const client = connect([member.endpoint]);
      const outer = trace.getTracer("application").startSpan("a page");
      await context.with(trace.setSpan(ROOT_CONTEXT, outer), () => client.keyValue.get("n", "a key"));
      outer.end();

      const [operation] = named("quoin GetKey");
      const attempts = named("coordination.v1.KeyValueService/GetKey");
      expect(operation?.parentSpanContext?.spanId).to.equal(outer.spanContext().spanId);
      expect(operation?.kind).to.equal(SpanKind.INTERNAL);
      expect(operation?.attributes["quoin.namespace"]).to.equal("n");
      expect(operation?.attributes["quoin.request_id"]).to.equal(member.calls[0]?.requestId[0]);
      expect(operation?.status.code).to.equal(SpanStatusCode.UNSET);
      expect(attempts.map((span) => span.parentSpanContext?.spanId)).to.deep.equal(
        attempts.map(() => operation?.spanContext().spanId),
      );
      expect(attempts.map(({ kind, attributes, status }) => [kind, attributes, status.message])).to.deep.equal([
        [
          SpanKind.CLIENT,
          {
            "rpc.system": "grpc",
            "server.address": member.endpoint,
            "quoin.attempt": 1,
            "quoin.code": "UNAVAILABLE",
            "quoin.reason": "NO_LEADER",
            "quoin.outcome": "not-executed",
          },
          "NO_LEADER",
        ],
        [SpanKind.CLIENT, { "rpc.system": "grpc", "server.address": member.endpoint, "quoin.attempt": 2 }, undefined],
      ]);
      expect(member.calls.map((call) => call.traceparent)).to.deep.equal(attempts.map((span) => [headerOf(span)]));
      expect(
        spans()
          .map(({ attributes }) => JSON.stringify(attributes))
          .join(),
      ).to.not.include("a key");
    });

    it("passes the state of the trace on, and ends a failed operation with its reason", async () => {
      const member = await startMember({ getKey: () => refuse({ code: "NOT_FOUND", reason: "KEY_NOT_FOUND" }) });
      const remote = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7", traceFlags: 1 };
      const caller = { ...remote, traceState: createTraceState("vendor=1") };
      const client = connect([member.endpoint]);
      const error = await context
        .with(trace.setSpanContext(ROOT_CONTEXT, caller), () => client.keyValue.get("n", "k"))
        .catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(QuoinError);
      expect(member.calls[0]?.tracestate).to.deep.equal(["vendor=1"]);
      const [operation] = named("quoin GetKey");
      expect(operation?.status).to.deep.equal({ code: SpanStatusCode.ERROR, message: "KEY_NOT_FOUND" });
    });

    it("makes no spans for a call with a header of the caller", async () => {
      const member = await startMember({ getKey: () => FOUND });
      await connect([member.endpoint]).keyValue.get("n", "k", { traceparent: TRACEPARENT });
      expect(spans()).to.deep.equal([]);
    });

    it("records no secrets of exchanges and of users", async () => {
      const user = { userId: "u", email: "ada@example.com" };
      const issued = { accessToken: "a-token", expiresInSeconds: 60n };
      const member = await startMember({
        exchangeToken: () => issued,
        login: () => ({ ...issued, user }),
        createUser: () => ({ user }),
      });
      const endpoints = [member.endpoint];
      await logIn({ email: "ada@example.com", password: "a-password", endpoints });
      const newUser = { role: "member", namespaces: [], password: "a-password" } as const;
      await connect(endpoints, { apiKey: "a-key" }).users.create("ada@example.com", newUser);
      expect(spans().map(({ name }) => name)).to.include.members(["quoin Login", "quoin ExchangeToken"]);
      const recorded = JSON.stringify(spans().map(({ attributes, status, events }) => [attributes, status, events]));
      expect(recorded).to.not.match(/a-token|a-password|a-key|ada@/);
    });

    it("makes a span for a watch, and one for each of its streams, until they end", async () => {
      const member = await startMember({});
      const calls: ReceivedCall[] = [];
      member.streams.watchKeys = (_request, stream, call) => {
        calls.push(call);
        stream.send({ created: true, revision: 1n });
        if (calls.length === 1) {
          stream.fail({ code: "UNAVAILABLE", reason: "SHUTTING_DOWN" });
        }
      };
      const client = connect([member.endpoint]);
      const outer = trace.getTracer("application").startSpan("a page");
      const watch = await context.with(trace.setSpan(ROOT_CONTEXT, outer), () => client.watch.keys("n"));
      const waiting = watch.next();
      await until("the second stream", () => calls.length === 2);
      const attempts = () => named("coordination.v1.WatchService/WatchKeys");
      expect(attempts().map((span) => span.status.message)).to.deep.equal(["SHUTTING_DOWN"]);
      expect(named("quoin WatchKeys")).to.deep.equal([]);
      await watch.return();
      expect((await waiting).done).to.equal(true);
      const [operation] = named("quoin WatchKeys");
      expect(operation?.parentSpanContext?.spanId).to.equal(outer.spanContext().spanId);
      expect(operation?.attributes).to.deep.equal({ "quoin.namespace": "n" });
      expect(attempts().map(({ parentSpanContext, status }) => [parentSpanContext?.spanId, status.code])).to.deep.equal(
        [
          [operation?.spanContext().spanId, SpanStatusCode.ERROR],
          [operation?.spanContext().spanId, SpanStatusCode.UNSET],
        ],
      );
      expect(calls.map((call) => call.traceparent)).to.deep.equal(attempts().map((span) => [headerOf(span)]));
      expect(operation?.status.code).to.equal(SpanStatusCode.UNSET);
      expect(spans()).to.have.length(3);
    });

    it("ends the spans of a watch without a reader when the client is closed, and of a refused one with its reason", async () => {
      const member = await startMember({});
      member.streams.watchKeys = (_request, stream) => stream.send({ created: true, revision: 1n });
      member.streams.watchLocks = () => refuse({ code: "NOT_FOUND", reason: "NAMESPACE_NOT_FOUND" });
      const client = connect([member.endpoint]);
      await client.watch.keys("n");
      expect(spans()).to.deep.equal([]);
      expect(await failure(client.watch.locks("n"))).to.include({ reason: "NAMESPACE_NOT_FOUND" });
      expect(spans().map(({ name, status }) => [name, status.message])).to.deep.equal([
        ["coordination.v1.WatchService/WatchLocks", "NAMESPACE_NOT_FOUND"],
        ["quoin WatchLocks", "NAMESPACE_NOT_FOUND"],
      ]);
      client.close();
      expect(
        spans()
          .map(({ name, status }) => [name, status.code])
          .slice(2),
      ).to.deep.equal([
        ["coordination.v1.WatchService/WatchKeys", SpanStatusCode.UNSET],
        ["quoin WatchKeys", SpanStatusCode.UNSET],
      ]);
    });

    it("does the same for the tail of a log", async () => {
      const member = await startMember({});
      const ends = [
        { code: "UNAVAILABLE", reason: "NO_LEADER" },
        { code: "UNAVAILABLE", reason: "SHUTTING_DOWN" },
        { code: "NOT_FOUND", reason: "LOG_NOT_FOUND" },
      ] as const;
      member.streams.tailEvents = (_request, stream) => {
        const at = member.calls.length - 1;
        if (at === 1) {
          stream.send({ created: true });
        }
        stream.fail(ends[at]!);
      };
      const tail = connect([member.endpoint]).logs.tail(LOG_ID);
      expect(await failure(tail.next())).to.include({ reason: "LOG_NOT_FOUND" });
      const [operation] = named("quoin TailEvents");
      const attempts = spans().filter(({ kind }) => kind === SpanKind.CLIENT);
      expect(operation?.status.message).to.equal("LOG_NOT_FOUND");
      expect(attempts.map(({ parentSpanContext }) => parentSpanContext?.spanId)).to.deep.equal(
        Array(3).fill(operation?.spanContext().spanId),
      );
      expect(attempts.map(({ status }) => status.message)).to.deep.equal(ends.map(({ reason }) => reason));
      expect(member.calls.map((call) => call.traceparent)).to.deep.equal(attempts.map((span) => [headerOf(span)]));
    });

    it("does the same for a snapshot, which ends with its cancellation or its failure", async () => {
      const member = await startMember({});
      member.streams.snapshot = (_request, stream) => stream.send({ index: 1n });
      const admin = createAdminClient({ endpoint: member.endpoint, credentials: { token: "t" } });
      cleanups.push(() => admin.close());
      const snapshot = await admin.snapshot();
      expect(spans()).to.deep.equal([]);
      snapshot.cancel();
      member.streams.snapshot = (_request, stream) => stream.send({ index: 1n, last: true, sha256: "wrong" });
      const { chunks } = await admin.snapshot();
      expect(await failure(chunks.next())).to.include({ code: "DATA_LOSS" });
      expect(named("quoin Snapshot").map(({ status }) => status.message)).to.deep.equal([undefined, "DATA_LOSS"]);
      const attempts = named("coordination.v1.ClusterAdminService/Snapshot");
      expect(member.calls.map((call) => call.traceparent)).to.deep.equal(attempts.map((span) => [headerOf(span)]));
    });
  });
});
