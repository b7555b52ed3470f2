import { type AcquireRWLockRequest, LockState, RWMode } from "@quoin/proto";
import { expect } from "chai";
import { FakeRuntime, failure, refuse, ScriptedMember, until } from "../../test/index.ts";
import { type Client, createClient } from "../index.ts";

const HOLD = { owner: "me", subject: "user", fencingToken: 7n, acquiredAtMs: 1n, expiresInMs: 30_000n, sessionId: 0n };
const PLAIN_HOLD = {
  owner: "me",
  subject: "user",
  fencingToken: 7,
  acquiredAtMs: 1,
  expiresInMs: 30_000,
  sessionId: 0,
};
const TTL_MS = 30_000;

function granted(mode: RWMode, fencingToken: bigint) {
  return { acquired: true, mode, fencingToken, ttlSeconds: 30n, expiresInMs: BigInt(TTL_MS) };
}

describe("ReadWriteLockClient", () => {
  let member: ScriptedMember;
  let client: Client;
  let runtime: FakeRuntime;

  beforeEach(async () => {
    runtime = new FakeRuntime();
    member = await ScriptedMember.start({
      acquireRWLock: ({ mode, fencingToken }) => granted(mode, fencingToken === 0n ? 7n : fencingToken),
      releaseRWLock: () => ({ released: true, revision: 8n }),
    });
    client = createClient({ endpoints: [member.endpoint], credentials: { token: "t" }, runtime });
  });

  afterEach(() => {
    client.close();
    member.stop();
  });

  function askedFor(): (readonly [mode: RWMode, token: bigint])[] {
    return member.callsOf("acquireRWLock").map((call) => {
      const { mode, fencingToken } = call.request as AcquireRWLockRequest;
      return [mode, fencingToken];
    });
  }

  it("creates and describes locks", async () => {
    member.scripts.createRWLock = ({ name }) => ({ name, createdAtMs: 5n, revision: 9n });
    expect(await client.readWriteLocks.create("n", "l", { ttlSeconds: 60 })).to.deep.equal({
      name: "l",
      createdAtMs: 5,
      revision: 9,
    });
    member.scripts.describeRWLock = () => ({
      name: "l",
      state: LockState.READ_HELD,
      holders: [{ ...HOLD, mode: RWMode.READ }],
      waitingWriters: 1,
    });
    const described = await client.readWriteLocks.describe("n", "l");
    expect(described).to.include({ state: "READ_HELD", waitingReaders: 0, waitingWriters: 1 });
    expect(described.holders).to.deep.equal([{ ...PLAIN_HOLD, mode: "READ" }]);
  });

  it("acquires, renews, releases and forces locks", async () => {
    const startMs = runtime.nowMs;
    const acquired = await client.readWriteLocks.acquire("n", "l", "WRITE", { waitMs: 10, owner: "me" });
    expect(acquired).to.include({ acquired: true, mode: "WRITE", fencingToken: 7, deadlineMs: startMs + TTL_MS });
    expect(member.request).to.deep.equal({
      namespace: "n",
      name: "l",
      mode: RWMode.WRITE,
      ttlSeconds: 0n,
      owner: "me",
      waitMs: 10n,
      fencingToken: 0n,
      sessionId: 0n,
    });
    await client.readWriteLocks.renew("n", "l", "READ", 7);
    expect(askedFor().at(-1)).to.deep.equal([RWMode.READ, 7n]);
    await client.readWriteLocks.release("n", "l", { mode: "READ", fencingToken: 7 });
    expect(member.request).to.deep.equal({ namespace: "n", name: "l", mode: RWMode.READ, owner: "", fencingToken: 7n });
    member.scripts.forceReleaseLock = () => ({ released: true, previous: { ...HOLD, mode: RWMode.WRITE } });
    const forced = await client.readWriteLocks.forceRelease("n", "l");
    expect(forced.previous).to.deep.equal({ ...PLAIN_HOLD, mode: "WRITE" });
    expect(member.request).to.include({ rw: true });
    const readers = [{ ...HOLD, mode: RWMode.READ }];
    member.scripts.acquireRWLock = () => ({ acquired: false, holders: readers, state: LockState.READ_HELD });
    expect(await client.readWriteLocks.acquire("n", "l", "WRITE")).to.deep.include({
      mode: undefined,
      deadlineMs: undefined,
      holders: [{ ...PLAIN_HOLD, mode: "READ" }],
    });
    expect((await failure(client.readWriteLocks.hold("n", "l", "WRITE"))).reason).to.equal("NOT_ACQUIRED");
  });

  describe("handles", () => {
    it("are downgraded in place, and then renewed as readers", async () => {
      const handle = await client.readWriteLocks.hold("n", "l", "WRITE");
      expect(handle).to.include({ mode: "WRITE", token: 7 });
      expect(handle.guard).to.deep.equal({ lockName: "l", fencingToken: 7, rw: true });
      await handle.downgrade();
      expect(handle).to.include({ mode: "READ", token: 7 });
      runtime.advance(TTL_MS / 3);
      await until("a renewal", () => askedFor().length === 3);
      expect(askedFor()).to.deep.equal([
        [RWMode.WRITE, 0n],
        [RWMode.READ, 7n],
        [RWMode.READ, 7n],
      ]);
    });

    it("are upgraded under a new token, which then renews, guards and releases", async () => {
      const handle = await client.readWriteLocks.hold("n", "l", "READ");
      member.scripts.acquireRWLock = ({ mode, fencingToken }) => granted(mode, fencingToken === 7n ? 9n : fencingToken);
      await handle.upgrade();
      expect(handle).to.include({ mode: "WRITE", token: 9 });
      expect(handle.guard).to.include({ fencingToken: 9 });
      runtime.advance(TTL_MS / 3);
      await until("a renewal", () => askedFor().length === 3);
      expect(askedFor().at(-1)).to.deep.equal([RWMode.WRITE, 9n]);
      await handle.release();
      expect(member.request).to.include({ fencingToken: 9n });
    });

    it("stay as they are, and are renewed, if an upgrade would deadlock", async () => {
      const handle = await client.readWriteLocks.hold("n", "l", "READ");
      member.scripts.acquireRWLock = ({ mode, fencingToken }) =>
        mode === RWMode.WRITE
          ? refuse({ code: "FAILED_PRECONDITION", reason: "UPGRADE_WOULD_DEADLOCK" })
          : granted(mode, fencingToken);
      expect((await failure(handle.upgrade())).reason).to.equal("UPGRADE_WOULD_DEADLOCK");
      expect(handle).to.include({ mode: "READ", token: 7, isHeld: true });
      runtime.advance(TTL_MS / 3);
      await until("a renewal", () => askedFor().length === 3);
      expect(askedFor().at(-1)).to.deep.equal([RWMode.READ, 7n]);
    });

    it("change after the current renewal has ended, because a late renewal would undo the change", async () => {
      const handle = await client.readWriteLocks.hold("n", "l", "WRITE");
      let answerRenewal: (() => void) | undefined;
      member.scripts.acquireRWLock = async ({ mode, fencingToken }) => {
        if (mode === RWMode.WRITE) {
          await new Promise<void>((resolve) => (answerRenewal = resolve));
        }
        return granted(mode, fencingToken);
      };
      runtime.advance(TTL_MS / 3);
      await until("the renewal to begin", () => answerRenewal !== undefined);
      const downgraded = handle.downgrade();
      // All ready callbacks run before this: the change has not been sent.
      await client.readWriteLocks.release("n", "another");
      expect(askedFor()).to.have.length(2);
      answerRenewal?.();
      await downgraded;
      expect(askedFor().at(-1)).to.deep.equal([RWMode.READ, 7n]);
      expect(handle.mode).to.equal("READ");
    });

    it("are released under the token of an upgrade that was under way", async () => {
      const handle = await client.readWriteLocks.hold("n", "l", "READ");
      let answerUpgrade: (() => void) | undefined;
      member.scripts.acquireRWLock = async () => {
        await new Promise<void>((resolve) => (answerUpgrade = resolve));
        return granted(RWMode.WRITE, 9n);
      };
      const upgraded = handle.upgrade();
      await until("the upgrade to begin", () => answerUpgrade !== undefined);
      const released = handle.release();
      answerUpgrade?.();
      await upgraded;
      expect(await released).to.equal(true);
      expect(member.request).to.include({ fencingToken: 9n });
    });

    it("are released after the work, in the mode at its end", async () => {
      const mode = await client.readWriteLocks.withLock("n", "l", "WRITE", async (handle) => {
        await handle.downgrade();
        return handle.mode;
      });
      expect(mode).to.equal("READ");
      expect(member.callsOf("releaseRWLock")).to.have.length(1);
    });
  });
});
