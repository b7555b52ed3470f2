import { AcquireLockRequest, LockState, RWMode } from "@quoin/proto";
import { expect } from "chai";
import { FakeRuntime, failure, type Refusal, refuse, ScriptedMember } from "../../test/index.ts";
import { type Client, createClient } from "../index.ts";

const HOLD = {
  owner: "me",
  subject: "user",
  fencingToken: 7n,
  acquiredAtMs: 1n,
  expiresInMs: 30_000n,
  sessionId: 0n,
};
const NO_VALUE = Buffer.alloc(0);
const PLAIN_HOLD = {
  owner: "me",
  subject: "user",
  fencingToken: 7,
  acquiredAtMs: 1,
  expiresInMs: 30_000,
  value: NO_VALUE,
  sessionId: 0,
};

const NO_LEADER: Refusal = { code: "UNAVAILABLE", reason: "NO_LEADER", outcome: "not-executed" };

describe("LockClient", () => {
  let member: ScriptedMember;
  let client: Client;
  let runtime: FakeRuntime;

  beforeEach(async () => {
    runtime = new FakeRuntime();
    member = await ScriptedMember.start();
    client = createClient({ endpoints: [member.endpoint], credentials: { token: "t" }, runtime });
  });

  afterEach(() => {
    client.close();
    member.stop();
  });

  function requestIds(): Set<unknown> {
    return new Set(member.calls.map((call) => call.requestId[0]));
  }

  it("creates locks", async () => {
    member.scripts.createLock = ({ name }) => ({ name, createdAtMs: 5n, revision: 9n });
    expect(await client.locks.create("n", "l")).to.deep.equal({ name: "l", createdAtMs: 5, revision: 9 });
    expect(member.request).to.deep.equal({ namespace: "n", name: "l", ttlSeconds: 0n, lockDelaySeconds: 0n });
    await client.locks.create("n", "l", { ttlSeconds: 60, lockDelaySeconds: 5 });
    expect(member.request).to.include({ ttlSeconds: 60n, lockDelaySeconds: 5n });
  });

  it("describes locks, with states by their names", async () => {
    const described = { name: "l", waiters: 2, ttlSeconds: 30n, lastFencingToken: 7n, createdAtMs: 1n, revision: 9n };
    member.scripts.describeLock = () => ({ ...described, state: LockState.HELD, holder: HOLD });
    expect(await client.locks.describe("n", "l", { consistency: "serializable" })).to.deep.equal({
      name: "l",
      state: "HELD",
      holder: PLAIN_HOLD,
      waiters: 2,
      ttlSeconds: 30,
      lockDelaySeconds: 0,
      lastFencingToken: 7,
      createdAtMs: 1,
      revision: 9,
    });
    expect(member.request).to.include({ consistency: 1 });
    member.scripts.describeLock = () => ({ ...described, state: LockState.COOLDOWN });
    expect(await client.locks.describe("n", "l")).to.include({ state: "COOLDOWN", holder: undefined });
  });

  it("S23: acquires a lock until the start of the attempt + waited_ms + expires_in_ms", async () => {
    member.scripts.acquireLock = () => ({
      acquired: true,
      fencingToken: 7n,
      ttlSeconds: 30n,
      expiresInMs: 30_000n,
      waitedMs: 250n,
      holder: HOLD,
      state: LockState.HELD,
      revision: 7n,
    });
    const startMs = runtime.nowMs;
    expect(await client.locks.acquire("n", "l", { ttlSeconds: 30, owner: "me" })).to.deep.equal({
      acquired: true,
      fencingToken: 7,
      ttlSeconds: 30,
      expiresInMs: 30_000,
      holder: PLAIN_HOLD,
      queueLength: 0,
      state: "HELD",
      waitedMs: 250,
      revision: 7,
      deadlineMs: startMs + 30_250,
    });
    const rest = { waitMs: 0n, fencingToken: 0n, value: NO_VALUE, sessionId: 0n };
    const asked = { namespace: "n", name: "l", ttlSeconds: 30n, owner: "me", ...rest };
    expect(member.request).to.deep.equal(asked);
    expect((await client.locks.renew("n", "l", 7, { ttlSeconds: 30, owner: "me" })).acquired).to.equal(true);
    expect(member.request).to.deep.equal({ ...asked, fencingToken: 7n });
  });

  it("S23: counts a deadline from the attempt that was answered, not from the first", async () => {
    const grant = { acquired: true, fencingToken: 7n, ttlSeconds: 1n, expiresInMs: 1_000n };
    member.scripts.acquireLock = () => (member.calls.length < 3 ? refuse(NO_LEADER) : grant);
    const startMs = runtime.nowMs;
    const { deadlineMs } = await client.locks.acquire("n", "l");
    expect(runtime.pausesMs).to.deep.equal([25, 50]);
    expect(deadlineMs).to.equal(startMs + 75 + 1_000);
  });

  it("reports the holder that is in the way", async () => {
    member.scripts.acquireLock = () => ({ acquired: false, holder: HOLD, queueLength: 3, state: LockState.HELD });
    expect(await client.locks.acquire("n", "l")).to.deep.include({
      acquired: false,
      holder: PLAIN_HOLD,
      queueLength: 3,
      deadlineMs: undefined,
    });
  });

  it("lists locks with their holders and waits; only those of read-write locks have a mode", async () => {
    const wait = { place: 1, owner: "next", subject: "user", ttlSeconds: 30n, waitedMs: 5n, endsInMs: 9n };
    const plainWait = { ...wait, ttlSeconds: 30, waitedMs: 5, endsInMs: 9, permits: 0 };
    const [mode, rw] = [RWMode.WRITE, true];
    member.scripts.listLocks = () => ({
      locks: [
        { name: "l", state: LockState.HELD, holders: [HOLD], holderCount: 1, waits: [wait], refusedGuards: 2n },
        { name: "l", rw, state: LockState.WRITE_HELD, holders: [{ ...HOLD, mode }], waits: [{ ...wait, mode }] },
      ],
      nextPageToken: "next",
      refusedGuardsForMs: 60n,
      revision: 9n,
    });
    member.scripts.listLockWaits = ({ rw: ofReadWriteLock }) => ({
      waits: [ofReadWriteLock ? { ...wait, mode } : wait],
    });
    const page = await client.locks.list("n", { namePrefix: "l", pageSize: 2, inUseOnly: true, waitsMax: 1 });
    expect(page).to.deep.include({ nextPageToken: "next", refusedGuardsForMs: 60, revision: 9 });
    const [exclusive, readWrite] = page.locks;
    expect(exclusive).to.deep.include({ name: "l", rw: false, state: "HELD", holderCount: 1, refusedGuards: 2 });
    expect(exclusive?.holders).to.deep.equal([{ ...PLAIN_HOLD, mode: undefined, permits: 0 }]);
    expect(exclusive?.waits).to.deep.equal([{ ...plainWait, mode: undefined }]);
    expect(readWrite?.holders).to.deep.equal([{ ...PLAIN_HOLD, mode: "WRITE", permits: 0 }]);
    expect(readWrite?.waits).to.deep.equal([{ ...plainWait, mode: "WRITE" }]);
    const asked = { namespace: "n", namePrefix: "l", pageSize: 2, pageToken: "", consistency: 0 };
    expect(member.request).to.deep.equal({ ...asked, inUseOnly: true, waitsMax: 1, namesOnly: false });
    expect((await client.locks.listNames("n", { namePrefix: "l", pageSize: 2 })).locks).to.deep.equal([
      { name: "l", rw: false, permits: 0 },
      { name: "l", rw: true, permits: 0 },
    ]);
    expect(member.request).to.deep.equal({ ...asked, inUseOnly: false, waitsMax: 0, namesOnly: true });
    expect(await client.locks.listWaits("n", "l")).to.deep.equal([{ ...plainWait, mode: undefined }]);
    expect(await client.locks.listWaits("n", "l", { rw })).to.deep.equal([{ ...plainWait, mode: "WRITE" }]);
    const before = member.calls.length;
    expect((await failure(client.locks.list("n", { waitMax: 1 } as object))).details.get("field")).to.equal("waitMax");
    expect(member.calls.length).to.equal(before);
  });

  it("S24: repeats a request that waits with its request id and identical bytes, as long as it waits", async () => {
    const grant = { acquired: true, fencingToken: 7n, ttlSeconds: 30n, expiresInMs: 30_000n };
    const lost: Refusal = { code: "UNAVAILABLE", reason: "LEADER_CHANGED", outcome: "unknown" };
    member.scripts.acquireLock = () => (member.calls.length <= 12 ? refuse(lost) : grant);
    const { acquired } = await client.locks.acquire("n", "l", { waitMs: 60_000 });
    expect(acquired).to.equal(true);
    expect(member.calls).to.have.length(13);
    expect(requestIds()).to.have.property("size", 1);
    const encoded = member.calls.map((call) =>
      Buffer.from(AcquireLockRequest.encode(call.request as AcquireLockRequest).finish()).toString("hex"),
    );
    expect(new Set(encoded)).to.have.property("size", 1);
  });

  it("gives up a wait after its time and the operation's, and a request without a wait after four attempts", async () => {
    member.scripts.acquireLock = () => refuse(NO_LEADER);
    const startMs = runtime.nowMs;
    expect((await failure(client.locks.acquire("n", "l", { waitMs: 10_000, timeoutMs: 2_000 }))).reason).to.equal(
      "NO_LEADER",
    );
    expect(runtime.nowMs - startMs)
      .to.be.greaterThan(11_000)
      .and.at.most(12_000);
    member.calls.length = 0;
    expect((await failure(client.locks.acquire("n", "l"))).reason).to.equal("NO_LEADER");
    expect(member.calls).to.have.length(4);
  });

  it("ends a wait at the member when it is cancelled", async () => {
    const controller = new AbortController();
    let gone: Promise<void> | undefined;
    member.scripts.acquireLock = (_request, call) => {
      gone = new Promise((resolve) => call.cancelled.addEventListener("abort", () => resolve(), { once: true }));
      controller.abort();
      return new Promise(() => undefined);
    };
    const { code } = await failure(client.locks.acquire("n", "l", { waitMs: 60_000, signal: controller.signal }));
    expect(code).to.equal("CANCELLED");
    await gone;
  });

  it("releases by token or by owner, and by force", async () => {
    member.scripts.releaseLock = () => ({ released: true, revision: 8n });
    expect(await client.locks.release("n", "l", { fencingToken: 7, owner: "me" })).to.deep.equal({
      released: true,
      revision: 8,
    });
    expect(member.request).to.deep.equal({ namespace: "n", name: "l", owner: "me", fencingToken: 7n });
    member.scripts.forceReleaseLock = () => ({ released: true, previous: HOLD, revision: 8n });
    expect(await client.locks.forceRelease("n", "l", { fencingToken: 7, reason: "stuck" })).to.deep.equal({
      released: true,
      previous: PLAIN_HOLD,
      revision: 8,
    });
    expect(member.request).to.deep.equal({ namespace: "n", name: "l", fencingToken: 7n, reason: "stuck", rw: false });
    member.scripts.forceReleaseLock = () => ({ released: false });
    expect(await client.locks.forceRelease("n", "l")).to.include({ released: false, previous: undefined });
  });

  it("gives a hold a value, which only its holder changes", async () => {
    member.scripts.acquireLock = () => ({ acquired: true, holder: { ...HOLD, value: Buffer.from("here") } });
    const { holder } = await client.locks.acquire("n", "l", { value: "here" });
    expect(Buffer.from(holder?.value ?? []).toString()).to.equal("here");
    expect(member.request).to.deep.include({ value: Buffer.from("here") });
    member.scripts.setLockValue = () => ({ revision: 8n });
    expect(await client.locks.setValue("n", "l", 7, "there", { owner: "me" })).to.deep.equal({ revision: 8 });
    const asked = { namespace: "n", name: "l", fencingToken: 7n, owner: "me", value: Buffer.from("there") };
    expect(member.request).to.deep.equal(asked);
  });

  it("deletes locks", async () => {
    member.scripts.deleteLock = () => ({ revision: 9n });
    expect(await client.locks.delete("n", "l")).to.deep.equal({ revision: 9 });
    expect(member.request).to.deep.equal({ namespace: "n", name: "l", force: false });
    member.scripts.deleteRWLock = () => refuse({ code: "FAILED_PRECONDITION", reason: "NOT_EMPTY" });
    expect(await failure(client.readWriteLocks.delete("n", "l", { force: true }))).to.include({ reason: "NOT_EMPTY" });
    expect(member.request).to.deep.equal({ namespace: "n", name: "l", force: true });
  });

  it("guards writes of keys with a hold", async () => {
    const guard = { lockName: "l", fencingToken: 7 };
    const sent = { lockName: "l", fencingToken: 7n, rw: false, sessionId: undefined };
    member.scripts.putKey = () => refuse({ code: "ABORTED", reason: "FENCED" });
    expect(await failure(client.keyValue.put("n", "k", "v", { guard }))).to.include({ reason: "FENCED" });
    expect(member.request).to.deep.include({ guard: sent });
    member.scripts.deleteKey = () => ({});
    await client.keyValue.delete("n", "k", { guard: { ...guard, rw: true } });
    expect(member.request).to.deep.include({ guard: { ...sent, rw: true } });
    member.scripts.compareAndSwap = () => ({});
    await client.keyValue.compareAndSwap("n", "k", "v", { guard });
    expect(member.request).to.deep.include({ guard: sent });
  });

  it("S16, S17: refuses values beyond the range of the protocol, with the field's name, before it sends anything", async () => {
    const { locks, keyValue } = client;
    for (const [work, field] of [
      [locks.create("\ud800", "l"), "namespace"],
      [locks.describe("n", "\ud800"), "name"],
      [locks.acquire("n", "l", { owner: "\ud800" }), "owner"],
      [locks.acquire("n", "l", { waitMs: 0.5 }), "waitMs"],
      [locks.hold("n", "l", { ttlSeconds: 2 ** 53 }), "ttlSeconds"],
      [locks.renew("n", "l", 2 ** 53), "fencingToken"],
      [locks.release("n", "l", { fencingToken: 0.5 }), "fencingToken"],
      [locks.forceRelease("n", "l", { reason: "\ud800" }), "reason"],
      [keyValue.put("n", "k", "v", { guard: { lockName: "\ud800", fencingToken: 1 } }), "guard.lockName"],
      [keyValue.delete("n", "k", { guard: { lockName: "l", fencingToken: 2 ** 53 } }), "guard.fencingToken"],
    ] as const) {
      expect((await failure(work)).details.get("field")).to.equal(field);
    }
    expect(member.calls).to.have.length(0);
  });
});
