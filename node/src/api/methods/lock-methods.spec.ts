import { randomUUID } from "node:crypto";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import {
  AcquireLockRequest,
  ForceReleaseLockRequest,
  LockState,
  ReadConsistency,
  RWMode,
  serviceDefinitions,
} from "@quoin/proto";
import { expect } from "chai";
import {
  type CallOptions,
  type FieldsOf,
  type GrpcCaller,
  GrpcPorts,
  ok,
  until,
  verdict,
} from "../../../test/harness/index.ts";
import { CoordinationError } from "../../state/index.ts";

const service = serviceDefinitions.LockService;
const LOCK = { namespace: "default", name: "l" };

describe("LockService", () => {
  let ports: GrpcPorts;
  let token: string;
  let owner: GrpcCaller;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
    token = await ports.token();
    owner = ports.caller(token);
  });

  afterEach(() => ports.close());

  const create = (fields: FieldsOf<typeof service.createLock> = {}) =>
    owner.ask(service.createLock, { ...LOCK, ...fields });
  const createRW = (fields: FieldsOf<typeof service.createRWLock> = {}) =>
    owner.ask(service.createRWLock, { ...LOCK, ...fields });
  const describeLock = (fields: FieldsOf<typeof service.describeLock> = {}) =>
    owner.ask(service.describeLock, { ...LOCK, ...fields });
  const describeRW = (fields: FieldsOf<typeof service.describeRWLock> = {}) =>
    owner.ask(service.describeRWLock, { ...LOCK, ...fields });
  const acquire = (fields: FieldsOf<typeof service.acquireLock> = {}, options: CallOptions = {}) =>
    owner.ask(service.acquireLock, { ...LOCK, ...fields }, options);
  const acquireRW = (fields: FieldsOf<typeof service.acquireRWLock> = {}, options: CallOptions = {}) =>
    owner.ask(service.acquireRWLock, { ...LOCK, ...fields }, options);
  const release = (fields: FieldsOf<typeof service.releaseLock> = {}) =>
    owner.ask(service.releaseLock, { ...LOCK, ...fields });
  const releaseRW = (fields: FieldsOf<typeof service.releaseRWLock> = {}) =>
    owner.ask(service.releaseRWLock, { ...LOCK, ...fields });
  const force = (fields: FieldsOf<typeof service.forceReleaseLock> = {}) =>
    owner.ask(service.forceReleaseLock, { ...LOCK, ...fields });

  async function waiters(): Promise<number | undefined> {
    return (await describeLock()).response?.waiters;
  }

  it("creates a lock once, with 30 s by default, and describes it", async () => {
    const createdAtMs = BigInt(ports.member.cluster.clock.wall);
    expect(ok(await create())).deep.equal({ name: "l", createdAtMs, revision: 2n });
    expect(verdict(await create())).deep.equal(["ALREADY_EXISTS", "LOCK_EXISTS"]);
    expect(ok(await describeLock())).deep.equal({
      name: "l",
      state: LockState.FREE,
      holder: undefined,
      waiters: 0,
      ttlSeconds: 30n,
      lockDelaySeconds: 0n,
      lastFencingToken: 0n,
      createdAtMs,
      revision: 2n,
    });
    expect(ok(await createRW({ ttlSeconds: 7n, lockDelaySeconds: 3n }))).deep.include({ name: "l", revision: 3n });
    expect(ok(await describeRW())).deep.equal({
      name: "l",
      state: LockState.FREE,
      holders: [],
      waitingReaders: 0,
      waitingWriters: 0,
      ttlSeconds: 7n,
      lockDelaySeconds: 3n,
      lastFencingToken: 0n,
      createdAtMs,
      revision: 3n,
    });
  });

  it("grants, renews and releases a lock, and returns its holder", async () => {
    ok(await create());
    const acquired = ok(await acquire({ owner: "worker", ttlSeconds: 10n }));
    const holder = {
      owner: "worker",
      subject: ports.member.cluster.ownerId,
      fencingToken: 3n,
      acquiredAtMs: BigInt(ports.member.cluster.clock.wall),
      expiresInMs: 10_000n,
      mode: RWMode.RW_MODE_UNSPECIFIED,
      permits: 0,
      value: Buffer.alloc(0),
      sessionId: 0n,
    };
    expect(acquired).deep.equal({
      acquired: true,
      fencingToken: 3n,
      ttlSeconds: 10n,
      expiresInMs: 10_000n,
      holder,
      queueLength: 0,
      state: LockState.HELD,
      waitedMs: 0n,
      revision: 3n,
    });
    expect(ok(await acquire())).deep.equal({
      acquired: false,
      fencingToken: 0n,
      ttlSeconds: 0n,
      expiresInMs: 0n,
      holder,
      queueLength: 0,
      state: LockState.HELD,
      waitedMs: 0n,
      revision: 3n,
    });
    ports.replica.tickMs += 4_000;
    expect(ok(await describeLock()).holder).deep.equal({ ...holder, expiresInMs: 6_000n });
    expect(ok(await describeLock({ consistency: ReadConsistency.SERIALIZABLE })).lastFencingToken).equal(3n);
    expect(ok(await acquire({ fencingToken: 3n, ttlSeconds: 20n }))).include({ expiresInMs: 20_000n, revision: 4n });
    ports.replica.tickMs += 90_000;
    expect(ok(await describeLock()).holder?.expiresInMs, "at least 1 while it is there").equal(1n);
    expect(verdict(await release({ owner: "other" }))).deep.equal(["FAILED_PRECONDITION", "NOT_LOCK_HOLDER"]);
    expect(ok(await release({ fencingToken: 3n }))).deep.equal({ released: true, revision: 5n });
    expect(verdict(await release({ fencingToken: 3n }))).deep.equal(["FAILED_PRECONDITION", "NOT_LOCK_HOLDER"]);
    expect(verdict(await acquire({ fencingToken: 3n }))).deep.equal(["FAILED_PRECONDITION", "LOCK_LOST"]);
  });

  it("keeps a call open until the lock is free, and returns how long that took", async () => {
    ok(await create());
    const { fencingToken } = ok(await acquire());
    const waiting = acquire({ waitMs: 50_000n, owner: "next" });
    await until("it waits", async () => (await waiters()) === 1);
    ports.replica.tickMs += 1_500;
    ok(await release({ fencingToken }));
    const { holder, ...answer } = ok(await waiting);
    expect(answer).deep.equal({
      acquired: true,
      fencingToken: 5n,
      ttlSeconds: 30n,
      expiresInMs: 30_000n,
      queueLength: 0,
      state: LockState.HELD,
      waitedMs: 1_500n,
      revision: 5n,
    });
    expect(holder?.owner).equal("next");
  });

  it("S25: a call leaves the queue when its client cancels it or goes, or when its deadline passes", async () => {
    ok(await create());
    ok(await acquire());
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${token}`);
    metadata.set("api-version", "v1");
    metadata.set("request-id", randomUUID());
    const request = AcquireLockRequest.fromPartial({ ...LOCK, waitMs: 50_000n });
    for (const leave of ["cancel", "close"] as const) {
      const client = new Client(`127.0.0.1:${ports.publicPort}`, credentials.createInsecure(), {
        "grpc.use_local_subchannel_pool": 1,
      });
      metadata.set("request-id", randomUUID());
      const { path, requestSerialize, responseDeserialize } = service.acquireLock;
      const call = client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, () => {
        // The answer does not matter: the client has gone.
      });
      await until("it waits", async () => (await waiters()) === 1);
      if (leave === "cancel") {
        call.cancel();
      } else {
        client.close();
        call.cancel();
      }
      await until("no request waits", async () => (await waiters()) === 0);
      client.close();
    }
    // On a busy machine a call may end before it is seen: then the next one has more time.
    for (let timeoutMs = 200, hasWaited = false; !hasWaited; ) {
      timeoutMs *= 2;
      const late = acquire({ waitMs: 50_000n }, { timeoutMs });
      let hasEnded = false;
      void late.then(() => {
        hasEnded = true;
      });
      await until("it waits, or has ended", async () => {
        hasWaited ||= (await waiters()) === 1;
        return hasWaited || hasEnded;
      });
      expect((await late).code).equal("DEADLINE_EXCEEDED");
    }
    await until("no request waits", async () => (await waiters()) === 0);
    expect(ok(await describeLock()).state).equal(LockState.HELD);
  });

  it("S24: a request that is repeated while its hold is live gets the same token, marked as a replay", async () => {
    ok(await create());
    const sameId = { metadata: new Map([["request-id", randomUUID()]]) };
    const first = ok(await acquire({}, sameId));
    ports.replica.tickMs += 5_000;
    const again = await acquire({}, sameId);
    expect(again.headers.get("replayed")).deep.equal(["true"]);
    expect(ok(again)).deep.include({ fencingToken: first.fencingToken, expiresInMs: 25_000n });
    ok(await release({ fencingToken: first.fencingToken }));
    expect(verdict(await acquire({}, sameId))).deep.equal(["FAILED_PRECONDITION", "LOCK_LOST"]);
    expect(verdict(await acquire({ owner: "o" }, sameId))).deep.equal(["INVALID_ARGUMENT", "REQUEST_ID_REUSED"]);
  });

  it("grants read-write locks to several readers or one writer, and downgrades and upgrades holds", async () => {
    ok(await createRW());
    const [one, two] = [
      ok(await acquireRW({ mode: RWMode.READ, owner: "1" })),
      ok(await acquireRW({ mode: RWMode.READ, owner: "2" })),
    ];
    expect([one.mode, two.mode, two.state]).deep.equal([RWMode.READ, RWMode.READ, LockState.READ_HELD]);
    expect(two.holders.map(({ owner: holder, mode }) => [holder, mode])).deep.equal([
      ["1", RWMode.READ],
      ["2", RWMode.READ],
    ]);
    const refused = ok(await acquireRW({ mode: RWMode.WRITE }));
    expect([refused.acquired, refused.mode, refused.holders.length]).deep.equal([false, 0, 2]);
    const upgrade = { mode: RWMode.WRITE, fencingToken: one.fencingToken };
    expect(verdict(await acquireRW(upgrade))).deep.equal(["FAILED_PRECONDITION", "UPGRADE_WOULD_DEADLOCK"]);
    expect(verdict(await releaseRW({ owner: "3" }))).deep.equal(["FAILED_PRECONDITION", "NOT_LOCK_HOLDER"]);
    expect(ok(await releaseRW({ owner: "2", mode: RWMode.READ })).released).equal(true);
    const writer = ok(await acquireRW(upgrade));
    expect(writer.fencingToken > one.fencingToken).equal(true);
    expect([writer.mode, writer.state]).deep.equal([RWMode.WRITE, LockState.WRITE_HELD]);
    const reader = ok(await acquireRW({ mode: RWMode.READ, fencingToken: writer.fencingToken }));
    expect([reader.fencingToken, reader.mode]).deep.equal([writer.fencingToken, RWMode.READ]);
    ok(await acquireRW({ mode: RWMode.READ, owner: "1" }));
    expect(verdict(await releaseRW({ owner: "1" }))).deep.equal(["FAILED_PRECONDITION", "AMBIGUOUS_HOLD"]);
    const waiting = acquireRW({ mode: RWMode.WRITE, waitMs: 50_000n });
    await until("the writer waits", async () => (await describeRW()).response?.waitingWriters === 1);
    const behind = acquireRW({ mode: RWMode.READ, waitMs: 50_000n });
    await until("the reader waits", async () => (await describeRW()).response?.waitingReaders === 1);
    const forced = ok(await force({ rw: true, reason: "spec" }));
    expect([forced.released, forced.previous?.fencingToken]).deep.equal([true, reader.fencingToken]);
    const { fencingToken } = ok(await waiting);
    ok(await releaseRW({ fencingToken }));
    expect(ok(await behind).acquired).equal(true);
  });

  it("force-releases a lock for administrators only, and returns the hold that ended", async () => {
    ok(await create({ lockDelaySeconds: 5n }));
    expect(ok(await force())).deep.equal({ released: false, previous: undefined, revision: 2n });
    ok(await acquire({ owner: "o" }));
    const member = ports.caller(await ports.token({ role: "member" }));
    const request = ForceReleaseLockRequest.fromPartial(LOCK);
    const denied = await member.call(service.forceReleaseLock, request);
    expect(verdict(denied)).deep.equal(["PERMISSION_DENIED", "ACCESS_DENIED"]);
    expect(ok(await force({ fencingToken: 2n })).released, "of another hold").equal(false);
    const { released, previous, revision } = ok(await force({ fencingToken: 3n }));
    expect([released, previous?.owner, previous?.fencingToken, revision]).deep.equal([true, "o", 3n, 4n]);
    expect(ok(await acquire())).deep.include({ acquired: false, state: LockState.COOLDOWN, holder: undefined });
    expect(ok(await describeLock()).state).equal(LockState.COOLDOWN);
  });

  it("needs the access read to describe, write for the rest, and checks it before the fields and the lock", async () => {
    const viewer = ports.caller(await ports.token({ role: "viewer" }));
    const denied = ["PERMISSION_DENIED", "ACCESS_DENIED"];
    const unnamed = { namespace: "default", name: "" };
    const calls = [
      viewer.ask(service.createLock, unnamed),
      viewer.ask(service.createRWLock, unnamed),
      viewer.ask(service.acquireLock, unnamed),
      viewer.ask(service.acquireRWLock, unnamed),
      viewer.ask(service.releaseLock, unnamed),
      viewer.ask(service.releaseRWLock, unnamed),
      viewer.ask(service.forceReleaseLock, unnamed),
    ];
    for (const answer of await Promise.all(calls)) {
      expect(verdict(answer)).deep.equal(denied);
    }
    const described = await viewer.ask(service.describeLock, LOCK);
    expect(verdict(described)).deep.equal(["NOT_FOUND", "LOCK_NOT_FOUND"]);
    expect(ports.replica.proposed).deep.equal([]);
  });

  it("refuses fields by name before anything is proposed", async () => {
    const long = "x".repeat(257);
    const bad = (field: string) => ["INVALID_ARGUMENT", "BAD_FIELD", field];
    const large = (field: string) => ["INVALID_ARGUMENT", "TOO_LARGE", field];
    expect(verdict(await create({ name: "" }))).deep.equal(bad("name"));
    expect(verdict(await create({ name: long }))).deep.equal(large("name"));
    expect(verdict(await create({ ttlSeconds: 86_401n }))).deep.equal(bad("ttl_seconds"));
    expect(verdict(await create({ lockDelaySeconds: 61n }))).deep.equal(bad("lock_delay_seconds"));
    expect(verdict(await acquire({ owner: long }))).deep.equal(large("owner"));
    expect(verdict(await acquire({ waitMs: -1n }))).deep.equal(bad("wait_ms"));
    expect(verdict(await acquire({ fencingToken: -1n }))).deep.equal(bad("fencing_token"));
    expect(verdict(await acquireRW({}))).deep.equal(bad("mode"));
    expect(verdict(await releaseRW({ mode: 3 as RWMode }))).deep.equal(bad("mode"));
    expect(verdict(await force({ reason: long }))).deep.equal(large("reason"));
    expect(verdict(await describeLock({ consistency: 2 as ReadConsistency }))).deep.equal(bad("consistency"));
    expect(ports.replica.proposed).deep.equal([]);
  });

  it("finds no missing lock, whether the namespace exists or not", async () => {
    for (const call of [describeLock, acquire, release, force]) {
      expect(verdict(await call())).deep.equal(["NOT_FOUND", "LOCK_NOT_FOUND"]);
      expect(verdict(await call({ namespace: "nowhere" }))).deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
    }
  });

  it("describes after a read barrier, and not at all if the barrier fails", async () => {
    ok(await create());
    const { cluster } = ports.member;
    cluster.barriers.length = 0;
    ok(await describeLock());
    expect(cluster.barriers).have.length(1);
    cluster.onBarrier = (done) => done(new CoordinationError("NO_LEADER", "no leader"));
    expect(verdict(await describeLock())).deep.equal(["UNAVAILABLE", "NO_LEADER"]);
  });
});
