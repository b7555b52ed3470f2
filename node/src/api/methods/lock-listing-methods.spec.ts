import { LockState, PutKeyRequest, type ReadConsistency, RWMode, serviceDefinitions } from "@quoin/proto";
import { expect } from "chai";
import { type FieldsOf, GrpcPorts, ok, until, verdict } from "../../../test/harness/index.ts";
import { CoordinationError } from "../../state/index.ts";

const { KeyValueService: keys, LockService: service } = serviceDefinitions;
const NAMESPACE = { namespace: "default" };

describe("LockService, listings", () => {
  let ports: GrpcPorts;

  beforeEach(async () => {
    ports = await GrpcPorts.founded();
  });

  afterEach(() => ports.close());

  const create = (name: string) => ports.owner.ask(service.createLock, { ...NAMESPACE, name, lockDelaySeconds: 5n });
  const createRW = (name: string) => ports.owner.ask(service.createRWLock, { ...NAMESPACE, name });
  const acquire = (fields: FieldsOf<typeof service.acquireLock>) =>
    ports.owner.ask(service.acquireLock, { ...NAMESPACE, ...fields });
  const read = (fields: FieldsOf<typeof service.acquireRWLock>) =>
    ports.owner.ask(service.acquireRWLock, { ...NAMESPACE, mode: RWMode.READ, ...fields });
  const list = (fields: FieldsOf<typeof service.listLocks> = {}, caller = ports.owner) =>
    caller.ask(service.listLocks, { ...NAMESPACE, ...fields });
  const waitsOf = (fields: FieldsOf<typeof service.listLockWaits> = {}, caller = ports.owner) =>
    caller.ask(service.listLockWaits, { ...NAMESPACE, name: "a", ...fields });

  it("lists locks with their holders, waits in order, remaining times, and refused guards", async () => {
    ok(await create("a"));
    ok(await createRW("b"));
    ok(await read({ name: "b", owner: "reader" }));
    const { fencingToken } = ok(await acquire({ name: "a", owner: "holder", ttlSeconds: 20n }));
    const waiting = [acquire({ name: "a", owner: "next", waitMs: 50_000n })];
    await until("it waits", async () => ok(await waitsOf()).waits.length === 1);
    ports.replica.tickMs += 1_500;
    waiting.push(acquire({ name: "a", waitMs: 9_000n, ttlSeconds: 7n }));
    await until("both wait", async () => ok(await waitsOf()).waits.length === 2);
    const guard = { lockName: "a", fencingToken: fencingToken + 1n, rw: false };
    const put = PutKeyRequest.fromPartial({ ...NAMESPACE, key: "k", guard });
    expect((await ports.owner.call(keys.putKey, put)).reason).equal("FENCED");

    const { locks, nextPageToken, refusedGuardsForMs, revision } = ok(await list({ waitsMax: 1 }));
    expect([nextPageToken, refusedGuardsForMs, revision]).deep.equal(["", 3_000n, BigInt(ports.replica.revision)]);
    expect(locks.map(({ name, rw }) => [name, rw])).deep.equal([
      ["a", false],
      ["b", true],
    ]);
    const subject = ports.member.cluster.ownerId;
    const at = BigInt(ports.member.cluster.clock.wall);
    const next = {
      place: 1,
      owner: "next",
      subject,
      mode: RWMode.RW_MODE_UNSPECIFIED,
      ttlSeconds: 30n,
      waitedMs: 1_500n,
      endsInMs: 48_500n,
      permits: 0,
    };
    expect(locks[0]).deep.equal({
      name: "a",
      rw: false,
      state: LockState.HELD,
      holderCount: 1,
      waitingReaders: 0,
      waitingWriters: 2,
      holders: [
        {
          owner: "holder",
          subject,
          fencingToken,
          acquiredAtMs: at,
          expiresInMs: 18_500n,
          mode: RWMode.RW_MODE_UNSPECIFIED,
          permits: 0,
          value: Buffer.alloc(0),
          sessionId: 0n,
        },
      ],
      waits: [next],
      ttlSeconds: 30n,
      lockDelaySeconds: 5n,
      cooldownMs: 0n,
      lastFencingToken: fencingToken,
      createdAtMs: at,
      refusedGuards: 1n,
      permits: 0,
      heldPermits: 0,
    });
    expect(locks[1]).deep.include({ state: LockState.READ_HELD, holderCount: 1, waits: [], refusedGuards: 0n });
    expect(ok(await waitsOf())).deep.equal({
      waits: [next, { ...next, place: 2, owner: subject, ttlSeconds: 7n, waitedMs: 0n, endsInMs: 9_000n }],
      revision,
    });
  });

  it("pages through the locks with a token that is good for this listing only", async () => {
    for (const name of ["a", "b", "c"]) {
      ok(await create(name));
    }
    const first = ok(await list({ pageSize: 2, namesOnly: true }));
    expect(first.locks.map(({ name }) => name)).deep.equal(["a", "b"]);
    expect(first.locks[0]).include({ state: LockState.LOCK_STATE_UNSPECIFIED, ttlSeconds: 0n });
    const pageToken = first.nextPageToken;
    const last = ok(await list({ pageSize: 2, pageToken }));
    expect([last.locks.map(({ name }) => name), last.nextPageToken]).deep.equal([["c"], ""]);
    for (const other of [{ namePrefix: "c" }, { inUseOnly: true }, { pageToken: `${pageToken}A` }]) {
      const refused = ["INVALID_ARGUMENT", "BAD_FIELD", "page_token"];
      expect(verdict(await list({ pageToken, ...other })), JSON.stringify(other)).deep.equal(refused);
    }
    ok(await acquire({ name: "b" }));
    expect(ok(await list({ inUseOnly: true })).locks.map(({ name }) => name)).deep.equal(["b"]);
  });

  it("shows how long the delay of a lock still runs", async () => {
    ok(await create("a"));
    ok(await acquire({ name: "a", ttlSeconds: 1n }));
    const { proposed } = ports.replica;
    ports.replica.tickMs += 1_001;
    ports.replica.lead({
      kind: "expire-locks",
      timers: [{ about: "hold", lock: { ...NAMESPACE, rw: false, name: "a" }, number: 3 }],
    });
    ports.replica.tickMs += 2_000;
    const [lock] = ok(await list()).locks;
    expect(lock).deep.include({ state: LockState.COOLDOWN, holders: [], holderCount: 0, cooldownMs: 3_000n });
    expect(proposed.length).equal(2);
  });

  it("needs the access read in the namespace, and checks it before the fields and the state", async () => {
    const elsewhere = ports.caller(await ports.token({ namespaces: ["elsewhere"] }));
    const denied = ["PERMISSION_DENIED", "NAMESPACE_DENIED"];
    expect(verdict(await list({ pageSize: -1 }, elsewhere))).deep.equal(denied);
    expect(verdict(await waitsOf({ name: "" }, elsewhere))).deep.equal(denied);
    const viewer = ports.caller(await ports.token({ role: "viewer" }));
    expect(ok(await list({}, viewer)).locks).deep.equal([]);
    expect(verdict(await waitsOf({}, viewer))).deep.equal(["NOT_FOUND", "LOCK_NOT_FOUND"]);
    expect(verdict(await list({ namespace: "none" }))).deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
    expect(verdict(await waitsOf({ namespace: "none" }))).deep.equal(["NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
  });

  it("refuses fields by name", async () => {
    const bad = (field: string) => ["INVALID_ARGUMENT", "BAD_FIELD", field];
    const consistency = 2 as ReadConsistency;
    expect(verdict(await list({ namespace: "A" }))).deep.equal(bad("namespace"));
    expect(verdict(await list({ namePrefix: "x".repeat(257) }))[2]).equal("name_prefix");
    expect(verdict(await list({ pageSize: 1_001 }))).deep.equal(bad("page_size"));
    expect(verdict(await list({ waitsMax: 101 }))).deep.equal(bad("waits_max"));
    expect(verdict(await list({ waitsMax: -1 }))).deep.equal(bad("waits_max"));
    expect(verdict(await list({ consistency }))).deep.equal(bad("consistency"));
    expect(verdict(await waitsOf({ name: "" }))).deep.equal(bad("name"));
    expect(verdict(await waitsOf({ consistency }))).deep.equal(bad("consistency"));
  });

  it("answers after a read barrier, and not at all if the barrier fails", async () => {
    ok(await create("a"));
    const { cluster } = ports.member;
    cluster.onBarrier = (done) => done(new CoordinationError("NO_LEADER", "no leader"));
    expect(verdict(await list())).deep.equal(["UNAVAILABLE", "NO_LEADER"]);
    expect(verdict(await waitsOf())).deep.equal(["UNAVAILABLE", "NO_LEADER"]);
  });
});
