import {
  KeyEvent_Type,
  LockEvent_Action,
  LockEvent_Reason,
  RWMode,
  type WatchKeysRequest,
  type WatchLocksRequest,
} from "@quoin/proto";
import { expect } from "chai";
import {
  FakeRuntime,
  failure,
  issueTokens,
  type Refusal,
  refuse,
  ScriptedMember,
  type ScriptedStream,
  until,
} from "../../test/index.ts";
import {
  type Client,
  type ClientOptions,
  CompactedError,
  createClient,
  type KeyEvent,
  type Watch,
  type WatchBatch,
} from "../index.ts";

const GOING_AWAY: Refusal = { code: "UNAVAILABLE", reason: "SHUTTING_DOWN", outcome: "not-executed" };

function entry(key: string, revision: bigint) {
  return { key, value: Buffer.from(`${revision}`), createRevision: 1n, modRevision: revision, version: 1n };
}

function put(key: string, revision: bigint) {
  return { events: [{ type: KeyEvent_Type.PUT, kv: entry(key, revision) }], revision };
}

describe("watches", function () {
  // Usually milliseconds: a limit for a busy machine.
  this.timeout(20_000);

  let runtime: FakeRuntime;
  let member: ScriptedMember;
  let client: Client;
  /** The streams of the member, in the order of their requests. */
  let streams: ScriptedStream<"watchKeys">[];
  const cleanups: (() => unknown)[] = [];

  beforeEach(async () => {
    runtime = new FakeRuntime();
    // Begins with the first endpoint, and waits for nothing between two attempts.
    runtime.chance = 0;
    streams = [];
    member = await startMember();
    client = connect([member.endpoint]);
  });

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) {
      await cleanup();
    }
  });

  /** A member where watches start after revision 10, or after the revision from which they resume. */
  async function startMember(): Promise<ScriptedMember> {
    const started = await ScriptedMember.start();
    started.streams.watchKeys = ({ startRevision }, stream) => {
      streams.push(stream);
      stream.send({ created: true, revision: startRevision === 0n ? 10n : startRevision - 1n });
    };
    cleanups.push(() => started.stop());
    return started;
  }

  function connect(endpoints: readonly string[], options: Partial<ClientOptions> = {}): Client {
    const connected = createClient({ endpoints, credentials: { token: "t" }, runtime, ...options });
    cleanups.push(() => connected.close());
    return connected;
  }

  function requests(of = member): WatchKeysRequest[] {
    return of.callsOf("watchKeys").map((call) => call.request as WatchKeysRequest);
  }

  async function nextOf(watch: Watch<KeyEvent>): Promise<WatchBatch<KeyEvent>> {
    const { value } = await watch.next();
    if (value === undefined) {
      throw new Error("the watch has ended");
    }
    return value;
  }

  it("watches one key, also at a member that sends others too", async () => {
    const watch = await client.watch.keys("n", { key: "k" });
    expect(requests()[0]).to.include({ prefix: "", key: "k" });
    const events = ["k", "kk"].map((key) => ({ type: KeyEvent_Type.PUT, kv: entry(key, 12n) }));
    streams[0]?.send({ events, revision: 12n });
    expect((await nextOf(watch)).events.map(({ kv }) => kv.key)).to.deep.equal(["k"]);
  });

  it("is established when it is returned, and yields changes with their revision", async () => {
    const watch = await client.watch.keys("n", { prefix: "p/", includePrevious: true, progressIntervalMs: 500 });
    expect(watch.revision).to.equal(10);
    expect(requests()).to.deep.equal([
      {
        namespace: "n",
        prefix: "p/",
        key: undefined,
        startRevision: 0n,
        includePrevious: true,
        keysOnly: false,
        progressIntervalMs: 500n,
      },
    ]);
    const removal = { type: KeyEvent_Type.EXPIRE, kv: entry("p/b", 12n), previous: entry("p/b", 3n) };
    streams[0]?.send({ events: [{ type: KeyEvent_Type.PUT, kv: entry("p/a", 12n) }, removal], revision: 12n });
    const plain = (key: string, revision: number) => ({
      key,
      value: new Uint8Array(Buffer.from(String(revision))),
      createRevision: 1,
      modRevision: revision,
      version: 1,
      sessionId: 0,
      expiresInMs: 0,
    });
    expect(await nextOf(watch)).to.deep.equal({
      events: [
        { type: "PUT", kv: plain("p/a", 12), previous: undefined },
        { type: "EXPIRE", kv: plain("p/b", 12), previous: plain("p/b", 3) },
      ],
      revision: 12,
    });
    expect(watch.revision).to.equal(12);
  });

  it("yields changes of locks", async () => {
    member.streams.watchLocks = (_request, stream) => {
      stream.send({ created: true, revision: 10n });
      const held = { lockKey: "l", owner: "me", fencingToken: 11n };
      const acquired = { ...held, action: LockEvent_Action.ACQUIRED, revision: 11n };
      const released = { ...held, action: LockEvent_Action.RELEASED, reason: LockEvent_Reason.EXPIRED, revision: 12n };
      stream.send({ events: [acquired, { ...released, rw: true, mode: RWMode.READ }], revision: 12n });
    };
    const watch = await client.watch.locks("n", { namePrefix: "l", startRevision: 5 });
    const request = member.callsOf("watchLocks")[0]?.request as WatchLocksRequest;
    expect(request).to.deep.equal({ namespace: "n", namePrefix: "l", startRevision: 5n, progressIntervalMs: 0n });
    const held = { lockKey: "l", owner: "me", fencingToken: 11, permits: 0, value: Buffer.alloc(0) };
    expect((await watch.next()).value?.events).to.deep.equal([
      { ...held, action: "ACQUIRED", reason: "NORMAL", mode: undefined, revision: 11, rw: false },
      { ...held, action: "RELEASED", reason: "EXPIRED", mode: "READ", revision: 12, rw: true },
    ]);
  });

  it("yields progress if requested, and otherwise only stores it", async () => {
    const quiet = await client.watch.keys("n");
    streams[0]?.send({ progress: true, revision: 20n });
    streams[0]?.send(put("a", 21n));
    const batch = nextOf(quiet);
    await until("the progress", () => quiet.revision >= 20);
    expect((await batch).revision).to.equal(21);
    const loud = await client.watch.keys("n", { progress: true });
    streams[1]?.send({ progress: true, revision: 20n });
    expect(await nextOf(loud)).to.deep.equal({ events: [], revision: 20 });
  });

  it("yields a revision whole that comes in parts, also if another stream begins it again", async () => {
    const watch = await client.watch.keys("n");
    const part = (keys: readonly string[]) => ({
      events: keys.map((key) => ({ type: KeyEvent_Type.PUT, kv: entry(key, 12n) })),
    });
    const keysOf = (batch: WatchBatch<KeyEvent>) => batch.events.map(({ kv }) => kv.key);
    streams[0]?.send({ ...part(["a", "b"]), partial: true, revision: 11n });
    streams[0]?.send({ ...part(["c"]), partial: true, revision: 11n });
    streams[0]?.send({ ...part(["d"]), revision: 12n });
    const whole = await nextOf(watch);
    expect([keysOf(whole), whole.revision, watch.revision]).to.deep.equal([["a", "b", "c", "d"], 12, 12]);
    streams[0]?.send({ ...part(["e"]), partial: true, revision: 12n });
    const batch = nextOf(watch);
    await until("the part", () => streams[0]?.untaken === 0);
    streams[0]?.fail(GOING_AWAY);
    await until("the second stream", () => streams.length === 2);
    expect(requests().at(-1)?.startRevision).to.equal(13n);
    streams[1]?.send({ ...part(["e"]), partial: true, revision: 12n });
    streams[1]?.send({ ...part(["f"]), revision: 13n });
    expect(keysOf(await batch)).to.deep.equal(["e", "f"]);
  });

  describe("resuming", () => {
    it("continues after the last revision, at another member, if its own one stops", async () => {
      const other = await startMember();
      const watch = await connect([member.endpoint, other.endpoint]).watch.keys("n", { prefix: "p" });
      streams[0]?.send(put("p1", 12n));
      await nextOf(watch);
      streams[0]?.send({ progress: true, revision: 30n });
      streams[0]?.fail(GOING_AWAY);
      const batch = nextOf(watch);
      await until("the second stream", () => streams.length === 2);
      expect(requests(other)[0]).to.include({ prefix: "p", startRevision: 31n });
      streams[1]?.send(put("p2", 31n));
      expect((await batch).events[0]?.kv.key).to.equal("p2");
    });

    it("continues after a broken connection, however long that takes", async () => {
      const watch = await client.watch.keys("n", { startRevision: 5 });
      streams[0]?.send(put("a", 5n));
      await nextOf(watch);
      member.stop();
      runtime.chance = 0.5;
      const batch = nextOf(watch);
      await until("more attempts than an operation has", () => runtime.pausesMs.length > 6);
      const again = await ScriptedMember.start({}, { port: Number(member.endpoint.split(":")[1]) });
      cleanups.push(() => again.stop());
      again.streams.watchKeys = ({ startRevision }, stream) => {
        stream.send({ created: true, revision: startRevision - 1n });
        stream.send(put("b", startRevision));
      };
      expect(await batch).to.deep.include({ revision: 6 });
    });

    it("waits longer each time if streams end as soon as they are established", async () => {
      const watch = await client.watch.keys("n");
      runtime.chance = 0.5;
      member.streams.watchKeys = ({ startRevision }, stream) => {
        stream.send({ created: true, revision: startRevision - 1n });
        streams.push(stream);
        if (streams.length < 6) {
          stream.fail(GOING_AWAY);
        }
      };
      streams[0]?.fail(GOING_AWAY);
      const batch = nextOf(watch);
      await until("the last stream", () => streams.length === 6);
      expect(runtime.pausesMs).to.deep.equal([25, 50, 100, 200, 400]);
      streams[5]?.send(put("a", 11n));
      expect((await batch).revision).to.equal(11);
    });

    it("continues if a stream ends without an error", async () => {
      const watch = await client.watch.keys("n");
      streams[0]?.end();
      const batch = nextOf(watch);
      await until("the second stream", () => streams.length === 2);
      streams[1]?.send(put("a", 11n));
      expect((await batch).revision).to.equal(11);
    });

    it("continues elsewhere if a member sends nothing for three intervals", async () => {
      const other = await startMember();
      const watch = await connect([member.endpoint, other.endpoint]).watch.keys("n", { progressIntervalMs: 200 });
      const batch = nextOf(watch);
      await until("the wait", () => runtime.nextTimerMs === 600);
      runtime.advance(599);
      streams[0]?.send({ progress: true, revision: 11n });
      await until("the next wait", () => watch.revision === 11 && runtime.nextTimerMs === 600);
      runtime.advance(600);
      await until("the second stream", () => streams.length === 2);
      expect(requests(other)[0]).to.include({ startRevision: 12n });
      streams[1]?.send(put("a", 12n));
      expect((await batch).revision).to.equal(12);
    });

    it("fetches another token if its own is refused, and ends if that one is refused too", async () => {
      member.scripts.exchangeToken = issueTokens();
      const credentials = { apiKey: "qk_key" };
      const watch = await connect([member.endpoint], { credentials }).watch.keys("n");
      const expired: Refusal = { code: "UNAUTHENTICATED", reason: "TOKEN_EXPIRED" };
      streams[0]?.fail(expired);
      const batch = nextOf(watch);
      await until("the second stream", () => streams.length === 2);
      streams[1]?.send(put("a", 11n));
      await batch;
      expect(new Set(member.callsOf("watchKeys").map((call) => call.authorization[0]))).to.have.property("size", 2);
      member.streams.watchKeys = () => refuse({ code: "UNAUTHENTICATED", reason: "TOKEN_REVOKED" });
      streams[1]?.fail(expired);
      expect((await failure(nextOf(watch))).reason).to.equal("TOKEN_REVOKED");
      expect(member.callsOf("watchKeys")).to.have.length(3);
    });

    it("goes on when the exchange for another token fails because no member leads", async () => {
      const issue = issueTokens();
      let exchanges = 0;
      member.scripts.exchangeToken = (request, call) => {
        exchanges += 1;
        return exchanges === 2
          ? refuse({ code: "UNAVAILABLE", reason: "NO_LEADER", outcome: "not-executed" })
          : issue(request, call);
      };
      const watch = await connect([member.endpoint], { credentials: { apiKey: "qk_key" } }).watch.keys("n");
      streams[0]?.fail({ code: "UNAUTHENTICATED", reason: "TOKEN_EXPIRED" });
      const batch = nextOf(watch);
      await until("the second stream", () => streams.length === 2);
      streams[1]?.send(put("a", 11n));
      expect((await batch).revision).to.equal(11);
    });

    it("is not begun by a token that comes after the time limit", async () => {
      member.scripts.exchangeToken = () => new Promise(() => undefined);
      const keys = connect([member.endpoint], { credentials: { apiKey: "qk_key" } });
      const failed = failure(keys.watch.keys("n", { timeoutMs: 300 }));
      await until("the exchange", () => member.callsOf("exchangeToken").length === 1);
      runtime.advance(300);
      expect(await failed).to.include({ code: "DEADLINE_EXCEEDED", outcome: "not-executed" });
      expect(member.callsOf("watchKeys")).to.have.length(0);
    });

    it("ends if the service refuses to continue", async () => {
      const watch = await client.watch.keys("n");
      streams[0]?.fail({ code: "PERMISSION_DENIED", reason: "NAMESPACE_DENIED" });
      expect((await failure(nextOf(watch))).reason).to.equal("NAMESPACE_DENIED");
      expect(await watch.next()).to.deep.equal({ done: true, value: undefined });
      expect(member.calls).to.have.length(1);
    });

    it("raises a CompactedError, with the revision, if the history is no longer kept", async () => {
      const details = new Map([["compact_revision", "400"]]);
      const compacted: Refusal = { code: "OUT_OF_RANGE", reason: "COMPACTED", details };
      const watch = await client.watch.keys("n");
      member.streams.watchKeys = () => refuse(compacted);
      streams[0]?.fail(GOING_AWAY);
      const error = await failure(nextOf(watch));
      expect(error).to.be.instanceOf(CompactedError);
      expect(error).to.include({ name: "CompactedError", code: "OUT_OF_RANGE", compactRevision: 400 });
      expect(await failure(client.watch.keys("n", { startRevision: 5 }))).to.be.instanceOf(CompactedError);
    });
  });

  describe("opening", () => {
    it("tries the members in turn, and skips one with too many streams and one that does not answer", async () => {
      const full = await startMember();
      full.streams.watchKeys = () => refuse({ code: "RESOURCE_EXHAUSTED", reason: "TOO_MANY_STREAMS" });
      const mute = await startMember();
      mute.streams.watchKeys = () => undefined;
      const opened = connect([full.endpoint, mute.endpoint, member.endpoint]).watch.keys("n");
      await until("the mute member", () => mute.calls.length === 1 && runtime.nextTimerMs !== undefined);
      runtime.advance(4_000);
      expect((await opened).revision).to.equal(10);
    });

    it("gives up after four attempts, as operations do", async () => {
      member.streams.watchKeys = () => refuse({ code: "UNAVAILABLE", reason: "NO_LEADER" });
      expect((await failure(client.watch.keys("n"))).reason).to.equal("NO_LEADER");
      expect(member.calls).to.have.length(4);
    });

    it("gives up at the end of its time", async () => {
      member.streams.watchKeys = () => undefined;
      const opened = failure(client.watch.keys("n", { timeoutMs: 1_000 }));
      await until("the wait", () => runtime.nextTimerMs === 1_000);
      runtime.advance(1_000);
      expect((await opened).code).to.equal("UNAVAILABLE");
      expect(member.calls).to.have.length(1);
    });

    it("S16, S17: refuses values beyond the range of the protocol before it sends anything", async () => {
      for (const [work, field] of [
        [client.watch.keys("\ud800"), "namespace"],
        [client.watch.keys("n", { prefix: "\ud800" }), "prefix"],
        [client.watch.keys("n", { startRevision: 2 ** 53 }), "startRevision"],
        [client.watch.keys("n", { timeoutMs: 0 }), "timeoutMs"],
        [client.watch.locks("n", { namePrefix: "\ud800" }), "namePrefix"],
        [client.watch.locks("n", { progressIntervalMs: 0.5 }), "progressIntervalMs"],
      ] as const) {
        expect((await failure(work)).details.get("field")).to.equal(field);
      }
      expect(member.calls).to.have.length(0);
    });
  });

  describe("ending", () => {
    async function untilLeft(): Promise<void> {
      await until("the member to be left", () => member.calls.every((call) => call.cancelled.aborted));
    }

    it("by return ends a waiting read, and the stream at the member", async () => {
      const watch = await client.watch.keys("n");
      const waiting = watch.next();
      expect(await watch.return()).to.deep.equal({ done: true, value: undefined });
      expect(await waiting).to.deep.equal({ done: true, value: undefined });
      expect(await watch.next()).to.deep.equal({ done: true, value: undefined });
      await untilLeft();
    });

    it("by return ends the stream at the member even if nothing was ever read", async () => {
      const watch = await client.watch.keys("n");
      await watch.return();
      await untilLeft();
    });

    it("by return ends a pause before the next stream", async () => {
      const watch = await client.watch.keys("n");
      member.streams.watchKeys = () => refuse(GOING_AWAY);
      streams[0]?.fail(GOING_AWAY);
      const waiting = watch.next();
      await until("attempts", () => member.calls.length > 3);
      await watch.return();
      expect((await waiting).done).to.equal(true);
    });

    it("comes with the end of a loop, and of an await using", async () => {
      const watch = await client.watch.keys("n");
      streams[0]?.send(put("a", 11n));
      for await (const { revision } of watch) {
        expect(revision).to.equal(11);
        break;
      }
      await untilLeft();
      {
        await using another = await client.watch.keys("n");
        expect(another.revision).to.equal(10);
      }
      await untilLeft();
    });

    it("by the signal makes a read fail with CANCELLED", async () => {
      const controller = new AbortController();
      const watch = await client.watch.keys("n", { signal: controller.signal });
      const waiting = failure(watch.next());
      controller.abort(new Error("enough"));
      const error = await waiting;
      expect(error).to.include({ code: "CANCELLED" });
      expect(error.cause).to.include({ message: "enough" });
      await untilLeft();
      expect((await failure(client.watch.keys("n", { signal: AbortSignal.abort() }))).code).to.equal("CANCELLED");
    });

    it("by the end of the client also makes a read fail", async () => {
      const watch = await client.watch.keys("n");
      const waiting = failure(watch.next());
      client.close();
      expect(await waiting).to.include({ code: "CANCELLED", message: "the client is closed" });
    });
  });

  it("leaves unread changes at the member", async () => {
    const watch = await client.watch.keys("n");
    const large = (revision: bigint) => {
      const event = { type: KeyEvent_Type.PUT, kv: { ...entry("k", revision), value: Buffer.alloc(256 * 1_024) } };
      return { events: [event], revision };
    };
    const [stream] = streams;
    const count = 100;
    for (let revision = 11n; revision < 11n + BigInt(count); revision += 1n) {
      stream?.send(large(revision));
    }
    let taken = 0;
    for await (const { events } of watch) {
      taken += events.length;
      if (taken === 10) {
        await until("the flow", () => stream !== undefined && stream.untaken < count - 10);
      }
      if (taken === 10) {
        expect(stream?.untaken).to.be.greaterThan(count / 2);
      }
      if (taken === count) {
        break;
      }
    }
    expect(taken).to.equal(count);
  });
});
