import {
  AcquireLockRequest,
  AcquireRWLockRequest,
  KeyEvent_Type,
  LockEvent_Action,
  LockEvent_Reason,
  PutKeyRequest,
  ReleaseLockRequest,
  RWMode,
  serviceDefinitions,
  WatchKeysRequest,
  type WatchKeysResponse,
  WatchLocksRequest,
  type WatchLocksResponse,
} from "@quoin/proto";
import { expect } from "chai";
import { type Answer, GrpcPorts, type GrpcStream, until } from "../../../test/harness/index.ts";
import { dueLockTimers, expiredKeys } from "../../state/index.ts";

const { deleteKey, putKey } = serviceDefinitions.KeyValueService;
const locks = serviceDefinitions.LockService;
const { watchKeys, watchLocks } = serviceDefinitions.WatchService;

type Watch = GrpcStream<WatchKeysResponse, Answer<never>>;
type LockWatch = GrpcStream<WatchLocksResponse, Answer<never>>;

describe("WatchService", () => {
  let ports: GrpcPorts;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
  });

  afterEach(() => ports.close());

  async function put(key: string, value: string, ttlSeconds = 0n): Promise<bigint> {
    const request = PutKeyRequest.fromPartial({ namespace: "default", key, value: Buffer.from(value), ttlSeconds });
    const answer = await ports.owner.call(putKey, request);
    expect(answer.code).to.equal("OK");
    return answer.response?.revision as bigint;
  }

  function watch(request: Partial<WatchKeysRequest>, caller = ports.owner): Watch {
    return caller.stream(watchKeys, WatchKeysRequest.fromPartial({ namespace: "default", ...request }));
  }

  /** An active watch. */
  async function watching(request: Partial<WatchKeysRequest>, caller = ports.owner): Promise<Watch> {
    const opened = watch(request, caller);
    await opened.until("the watch is active", ([first]) => first);
    return opened;
  }

  const eventsOf = (messages: readonly WatchKeysResponse[]) => messages.flatMap(({ events }) => events);

  /** Resolves with the events as soon as there are so many. */
  function events(opened: Watch, count: number) {
    return opened.until(`${count} events`, (messages) => {
      const told = eventsOf(messages);
      return told.length >= count && told;
    });
  }

  async function verdict(opened: Watch | LockWatch): Promise<readonly unknown[]> {
    const { code, reason, details } = await opened.ended();
    const field = details?.metadata.get("field");
    return field === undefined ? [code, reason] : [code, reason, field];
  }

  it("first reports that the watch is active, then the changes of the keys", async () => {
    await put("a", "0");
    const opened = await watching({ prefix: "a" });
    expect(opened.messages).to.deep.equal([
      { events: [], created: true, progress: false, partial: false, revision: 2n },
    ]);
    await put("a", "1", 5n);
    await put("b", "1");
    await ports.owner.ask(deleteKey, { namespace: "default", key: "a" });
    await put("a", "2", 1n);
    ports.replica.tickMs += 1_001;
    ports.replica.lead({ kind: "expire-keys", keys: expiredKeys(ports.replica.state, ports.replica.tickMs, 10) });
    const told = await events(opened, 4);
    const a = { key: "a", createRevision: 2n, expiresInMs: 0n, sessionId: 0n };
    expect(told.map((event) => ({ ...event, kv: { ...event.kv, value: String(event.kv?.value) } }))).to.deep.equal([
      {
        type: KeyEvent_Type.PUT,
        kv: { ...a, value: "1", modRevision: 3n, version: 2n, expiresInMs: 5_000n },
        previous: undefined,
      },
      { type: KeyEvent_Type.DELETE, kv: { ...a, value: "1", modRevision: 5n, version: 2n }, previous: undefined },
      {
        type: KeyEvent_Type.PUT,
        kv: { ...a, value: "2", createRevision: 6n, modRevision: 6n, version: 1n, expiresInMs: 1_000n },
        previous: undefined,
      },
      {
        type: KeyEvent_Type.EXPIRE,
        kv: { ...a, value: "2", createRevision: 6n, modRevision: 7n, version: 1n },
        previous: undefined,
      },
    ]);
    expect(opened.messages.at(-1)?.revision).to.equal(7n);
  });

  it("ends when the namespace is deleted, whether or not it still waits for its start", async () => {
    const { createNamespace, deleteNamespace } = serviceDefinitions.KeyValueService;
    await ports.owner.ask(createNamespace, { namespace: "going" });
    const gone = await Promise.all([
      watching({ namespace: "going" }),
      watching({ namespace: "going", startRevision: 1_000n }),
    ]);
    const stays = await watching({});
    await ports.owner.ask(deleteNamespace, { namespace: "going" });
    for (const opened of gone) {
      expect(await verdict(opened)).to.deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
    }
    expect(await verdict(watch({ namespace: "going" }))).to.deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
    await put("a", "1");
    await events(stays, 1);
  });

  it("includes the previous key, and leaves out values, if requested", async () => {
    const plain = await watching({});
    const previous = await watching({ includePrevious: true });
    const keys = await watching({ keysOnly: true });
    const both = await watching({ includePrevious: true, keysOnly: true });
    await put("a", "one");
    await put("a", "two");
    const values = async (opened: Watch) =>
      (await events(opened, 2)).map(({ kv, previous: before }) => [
        String(kv?.value),
        before && `${before.value}@${before.modRevision}`,
      ]);
    expect(await values(plain)).to.deep.equal([
      ["one", undefined],
      ["two", undefined],
    ]);
    expect(await values(previous)).to.deep.equal([
      ["one", undefined],
      ["two", "one@2"],
    ]);
    expect(await values(keys)).to.deep.equal([
      ["", undefined],
      ["", undefined],
    ]);
    expect(await values(both)).to.deep.equal([
      ["", undefined],
      ["", "@2"],
    ]);
  });

  it("S37: continues at any revision where another stream ended", async () => {
    for (let at = 0; at < 5; at++) {
      await put(`k${at}`, "v");
    }
    for (const startRevision of [1n, 3n, 6n, 7n]) {
      const opened = await watching({ startRevision });
      expect(opened.messages[0]?.revision).to.equal(startRevision - 1n);
      const wanted = [2n, 3n, 4n, 5n, 6n].filter((revision) => revision >= startRevision);
      const told = await events(opened, wanted.length);
      expect(told.map(({ kv }) => kv?.modRevision)).to.deep.equal(wanted);
      opened.cancel();
    }
  });

  it("reports progress when nothing happens", async () => {
    await put("a", "v");
    const opened = await watching({ progressIntervalMs: 100n });
    await opened.until("progress twice", (messages) => messages.filter(({ progress }) => progress).length >= 2);
    expect(opened.messages[1]).to.deep.equal({
      events: [],
      created: false,
      progress: true,
      partial: false,
      revision: 2n,
    });
  });

  it("reports changes that are not acknowledged yet, and none that were", async () => {
    const barrier = new Promise<() => void>((resolve) => {
      ports.member.cluster.onBarrier = (done) => resolve(() => done(null));
    });
    const opened = watch({});
    const pass = await barrier;
    await put("a", "v");
    pass();
    await opened.until("the watch is active", ([first]) => first);
    await put("b", "v");
    expect((await events(opened, 1)).map(({ kv }) => kv?.key)).to.deep.equal(["b"]);
  });

  it("S38: sends a reader that had stopped reading everything that it has missed", async () => {
    const opened = await watching({});
    const other = await watching({ keysOnly: true });
    opened.pause();
    const value = "v".repeat(200_000);
    for (let at = 0; at < 40; at++) {
      await put(`k${at}`, value);
    }
    await events(other, 40);
    expect(eventsOf(opened.messages).length).to.be.below(40);
    opened.resume();
    const told = await events(opened, 40);
    expect(told.map(({ kv }) => kv?.key)).to.deep.equal(Array.from({ length: 40 }, (_, at) => `k${at}`));
  });

  it("reports only the key that is named exactly", async () => {
    const opened = await watching({ key: "k" });
    for (const key of ["k", "kk", "K", "k\0"]) {
      await put(key, "v");
    }
    await put("k", "w");
    expect((await events(opened, 2)).map(({ kv }) => [kv?.key, kv?.version])).to.deep.equal([
      ["k", 1n],
      ["k", 2n],
    ]);
    for (const [fields, reason] of [
      [{ key: "k", prefix: "k" }, "BAD_FIELD"],
      [{ key: "" }, "BAD_FIELD"],
      [{ key: "k".repeat(1_025) }, "TOO_LARGE"],
    ] as const) {
      expect(await verdict(watch({ namespace: "default", ...fields }))).to.deep.equal([
        "INVALID_ARGUMENT",
        reason,
        "key",
      ]);
    }
  });

  describe("refuses", () => {
    it("in the order of the contract", async () => {
      const viewer = ports.caller(await ports.token({ role: "viewer", namespaces: ["prod"] }));
      const bad = { namespace: "No!", prefix: "x".repeat(1_025), startRevision: -1n, progressIntervalMs: 99n };
      expect(await verdict(watch(bad, ports.caller("nonsense")))).to.deep.equal(["UNAUTHENTICATED", "TOKEN_INVALID"]);
      const metadata = new Map([["request-id", "1"]]);
      const badId = ports.owner.stream(watchKeys, WatchKeysRequest.fromPartial(bad), { metadata });
      expect(await verdict(badId)).to.deep.equal(["INVALID_ARGUMENT", "BAD_METADATA", "request-id"]);
      const badBytes = ports.owner.stream(watchKeys, Buffer.from("0a01ff", "hex"));
      expect(await verdict(badBytes)).to.deep.equal(["INVALID_ARGUMENT", "BAD_FIELD", "namespace"]);
      expect(await verdict(watch(bad, viewer))).to.deep.equal(["PERMISSION_DENIED", "NAMESPACE_DENIED"]);
      const fields = [
        [{}, "BAD_FIELD", "namespace"],
        [{ namespace: "absent" }, "TOO_LARGE", "prefix"],
        [{ prefix: "" }, "BAD_FIELD", "start_revision"],
        [{ startRevision: 1n }, "BAD_FIELD", "progress_interval_ms"],
        [{ progressIntervalMs: 60_001n }, "BAD_FIELD", "progress_interval_ms"],
      ] as const;
      for (const [repaired, reason, field] of fields) {
        Object.assign(bad, repaired);
        expect(await verdict(watch(bad)), field).to.deep.equal(["INVALID_ARGUMENT", reason, field]);
      }
      bad.progressIntervalMs = 60_000n;
      expect(await verdict(watch(bad))).to.deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
      await watching({ ...bad, namespace: "default" });
    });

    it("a start whose history was dropped, with the first revision that is still available", async () => {
      for (let at = 0; at < 3; at++) {
        await put("k", "v");
      }
      // After more than an hour the leader has dropped it.
      ports.replica.tickMs += 3_600_001;
      await put("k", "v");
      ports.replica.lead({ kind: "trim-history", countMax: 100 });
      const refusal = await watch({ startRevision: 4n }).ended();
      expect([refusal.code, refusal.reason]).to.deep.equal(["OUT_OF_RANGE", "COMPACTED"]);
      expect(refusal.details?.metadata).to.deep.equal(new Map([["compact_revision", "5"]]));
      const opened = await watching({ startRevision: 5n });
      expect((await events(opened, 1)).map(({ kv }) => kv?.modRevision)).to.deep.equal([5n]);
    });

    it("every caller while the member serves no cluster", async () => {
      ports.member.stopServing();
      expect(await verdict(watch({}))).to.deep.equal(["UNAVAILABLE", "NO_LEADER"]);
    });
  });

  describe("S39: ends a stream", () => {
    it("whose API key is revoked", async () => {
      const opened = await watching({});
      ports.member.cluster.changeApiKey({ revokedAtMs: 1 });
      expect(await verdict(opened)).to.deep.equal(["UNAUTHENTICATED", "TOKEN_REVOKED"]);
    });

    it("whose token expires", async () => {
      const opened = await watching({});
      ports.member.cluster.clock.wall += 3_600_000;
      expect(await verdict(opened)).to.deep.equal(["UNAUTHENTICATED", "TOKEN_EXPIRED"]);
    });

    it("whose user loses the namespace", async () => {
      const opened = await watching({});
      ports.member.cluster.changeOwner({ role: "viewer", namespaces: ["other"] });
      expect(await verdict(opened)).to.deep.equal(["PERMISSION_DENIED", "NAMESPACE_DENIED"]);
    });

    it("of a member without a leader", async () => {
      const opened = await watching({});
      ports.replica.leaderId = 0;
      expect(await verdict(opened)).to.deep.equal(["UNAVAILABLE", "NO_LEADER"]);
    });
  });

  it("S47: when the member stops, reports progress and where to go on", async () => {
    const opened = await watching({ prefix: "a" });
    await put("a", "v");
    await events(opened, 1);
    await put("b", "v");
    const stopped = ports.publicServer.stop(10_000);
    const { code, reason, details } = await opened.ended();
    expect([code, reason]).to.deep.equal(["UNAVAILABLE", "SHUTTING_DOWN"]);
    expect(details?.metadata.get("resume_revision")).to.equal("4");
    expect(opened.messages.at(-1)).to.deep.equal({
      events: [],
      created: false,
      progress: true,
      partial: false,
      revision: 3n,
    });
    await stopped;
  });

  it("closes a stream that its client has cancelled", async () => {
    const streams = await Promise.all(Array.from({ length: 20 }, () => watching({})));
    for (const opened of streams) {
      opened.cancel();
    }
    await Promise.all(streams.map((opened) => opened.ended()));
    await until("no observer of the replica", () => ports.replica.observers === 0);
  });

  describe("of locks", () => {
    const named = (name: string) => ({ namespace: "default", name });

    /** The response of a call that must succeed. */
    function ok<Response>({ code, message, response }: Answer<Response>): Response {
      expect(code, message).to.equal("OK");
      return response as Response;
    }

    async function create(name: string): Promise<void> {
      ok(await ports.owner.ask(locks.createLock, { ...named(name), lockDelaySeconds: 1n }));
      ok(await ports.owner.ask(locks.createRWLock, named(name)));
    }

    async function acquire(name: string, fields: object = {}): Promise<bigint> {
      const request = AcquireLockRequest.fromPartial({ ...named(name), owner: "o", ...fields });
      return ok(await ports.owner.call(locks.acquireLock, request)).fencingToken;
    }

    async function acquireRW(name: string, mode: RWMode, fencingToken = 0n): Promise<bigint> {
      const request = AcquireRWLockRequest.fromPartial({ ...named(name), mode, owner: "o", fencingToken });
      return ok(await ports.owner.call(locks.acquireRWLock, request)).fencingToken;
    }

    function release(name: string) {
      const request = ReleaseLockRequest.fromPartial({ ...named(name), owner: "o" });
      return ports.owner.call(locks.releaseLock, request);
    }

    function force(name: string, rw: boolean) {
      return ports.owner.ask(locks.forceReleaseLock, { ...named(name), rw });
    }

    function watchOf(request: Partial<WatchLocksRequest>, caller = ports.owner): LockWatch {
      return caller.stream(watchLocks, WatchLocksRequest.fromPartial({ namespace: "default", ...request }));
    }

    async function watchingLocks(request: Partial<WatchLocksRequest> = {}): Promise<LockWatch> {
      const opened = watchOf(request);
      await opened.until("the watch is active", ([first]) => first);
      return opened;
    }

    /** Resolves with the events as soon as there are so many. */
    function lockEvents(opened: LockWatch, count: number) {
      return opened.until(`${count} events`, (messages) => {
        const told = messages.flatMap(({ events: some }) => some);
        return told.length >= count && told;
      });
    }

    it("reports which client got a lock, and released or lost it", async () => {
      await create("a");
      const opened = await watchingLocks({ namePrefix: "a" });
      expect(opened.messages).to.deep.equal([
        { events: [], created: true, progress: false, partial: false, revision: 3n },
      ]);
      const first = await acquire("a");
      ok(await release("a"));
      const second = await acquire("a", { ttlSeconds: 5n });
      ports.replica.tickMs += 5_001;
      ports.replica.lead({
        kind: "expire-locks",
        timers: dueLockTimers(ports.replica.state, ports.replica.tickMs, 10),
      });
      ports.replica.tickMs += 1_001;
      ports.replica.lead({
        kind: "expire-locks",
        timers: dueLockTimers(ports.replica.state, ports.replica.tickMs, 10),
      });
      const third = await acquire("a");
      ok(await force("a", false));
      const { ACQUIRED, RELEASED } = LockEvent_Action;
      const { NORMAL, EXPIRED, FORCED } = LockEvent_Reason;
      const all = {
        lockKey: "a",
        owner: "o",
        mode: RWMode.RW_MODE_UNSPECIFIED,
        rw: false,
        permits: 0,
        value: Buffer.alloc(0),
      };
      const told = await lockEvents(opened, 6);
      expect(told).to.deep.equal([
        { ...all, action: ACQUIRED, reason: NORMAL, fencingToken: first, revision: first },
        { ...all, action: RELEASED, reason: NORMAL, fencingToken: first, revision: first + 1n },
        { ...all, action: ACQUIRED, reason: NORMAL, fencingToken: second, revision: second },
        { ...all, action: RELEASED, reason: EXPIRED, fencingToken: second, revision: second + 1n },
        { ...all, action: ACQUIRED, reason: NORMAL, fencingToken: third, revision: third },
        { ...all, action: RELEASED, reason: FORCED, fencingToken: third, revision: third + 1n },
      ]);
    });

    it("S37: reports an upgrade in one message, and a downgrade as a hold that continues", async () => {
      await create("a");
      const opened = await watchingLocks();
      const token = await acquireRW("a", RWMode.READ);
      const upgraded = await acquireRW("a", RWMode.WRITE, token);
      expect(await acquireRW("a", RWMode.READ, upgraded)).to.equal(upgraded);
      const { ACQUIRED, RELEASED } = LockEvent_Action;
      const { NORMAL, UPGRADED, DOWNGRADED } = LockEvent_Reason;
      const { READ, WRITE } = RWMode;
      const all = { lockKey: "a", owner: "o", rw: true, permits: 0, value: Buffer.alloc(0) };
      const old = { ...all, fencingToken: token, mode: READ };
      const now = { ...all, fencingToken: upgraded };
      expect(await lockEvents(opened, 4)).to.deep.equal([
        { ...old, action: ACQUIRED, reason: NORMAL, revision: token },
        { ...old, action: RELEASED, reason: UPGRADED, revision: upgraded },
        { ...now, action: ACQUIRED, reason: UPGRADED, mode: WRITE, revision: upgraded },
        { ...now, action: ACQUIRED, reason: DOWNGRADED, mode: READ, revision: upgraded + 1n },
      ]);
      const split = opened.messages.filter(({ events: some }) => some.some(({ revision }) => revision === upgraded));
      expect(
        split.map(({ events: some }) => some.filter(({ revision }) => revision === upgraded).length),
      ).to.deep.equal([2]);
    });

    it("reports only locks with the given prefix and namespace, and no changes of keys", async () => {
      await create("a");
      await create("ab");
      const opened = await watchingLocks({ namePrefix: "ab", progressIntervalMs: 100n });
      const token = await acquire("ab");
      await acquire("a");
      const written = await put("ab", "v");
      await opened.until("progress beyond all of it", (messages) =>
        messages.some(({ progress, revision }) => progress && revision === written),
      );
      const told = await lockEvents(opened, 1);
      expect(told.map(({ fencingToken }) => fencingToken)).to.deep.equal([token]);
    });

    it("S37: continues at any revision where another stream ended", async () => {
      await create("a");
      for (let at = 0; at < 3; at++) {
        await acquire("a");
        ok(await release("a"));
      }
      for (let start = 1n; start <= 10n; start++) {
        const opened = await watchingLocks({ startRevision: start });
        const wanted = [4n, 5n, 6n, 7n, 8n, 9n].filter((revision) => revision >= start);
        expect((await lockEvents(opened, wanted.length)).map(({ revision }) => revision)).to.deep.equal(wanted);
        opened.cancel();
      }
    });

    it("refuses fields out of bounds, a missing namespace, and a caller who may not read it", async () => {
      const viewer = ports.caller(await ports.token({ role: "viewer", namespaces: ["prod"] }));
      const bad = { namespace: "No!", namePrefix: "é".repeat(129), startRevision: -1n, progressIntervalMs: 99n };
      expect(await verdict(watchOf(bad, viewer))).to.deep.equal(["PERMISSION_DENIED", "NAMESPACE_DENIED"]);
      const fields = [
        [{}, "BAD_FIELD", "namespace"],
        [{ namespace: "absent" }, "TOO_LARGE", "name_prefix"],
        [{ namePrefix: "é".repeat(128) }, "BAD_FIELD", "start_revision"],
        [{ startRevision: 1n }, "BAD_FIELD", "progress_interval_ms"],
      ] as const;
      for (const [repaired, reason, field] of fields) {
        Object.assign(bad, repaired);
        expect(await verdict(watchOf(bad)), field).to.deep.equal(["INVALID_ARGUMENT", reason, field]);
      }
      bad.progressIntervalMs = 0n;
      expect(await verdict(watchOf(bad))).to.deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
    });

    it("S39: ends with the right to watch them", async () => {
      const opened = await watchingLocks();
      ports.member.cluster.changeOwner({ role: "viewer", namespaces: ["other"] });
      expect(await verdict(opened)).to.deep.equal(["PERMISSION_DENIED", "NAMESPACE_DENIED"]);
    });

    it("S47: when the member stops, reports progress and where to go on", async () => {
      await create("a");
      const opened = await watchingLocks();
      const token = await acquire("a");
      await lockEvents(opened, 1);
      const stopped = ports.publicServer.stop(10_000);
      const { code, reason, details } = await opened.ended();
      expect([code, reason]).to.deep.equal(["UNAVAILABLE", "SHUTTING_DOWN"]);
      expect(details?.metadata.get("resume_revision")).to.equal(String(token + 1n));
      expect(opened.messages.at(-1)).to.deep.equal({
        events: [],
        created: false,
        progress: true,
        partial: false,
        revision: token,
      });
      await stopped;
    });
  });
});
