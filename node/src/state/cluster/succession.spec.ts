import { crc32 } from "node:zlib";
import { expect } from "chai";
import {
  AppliedLog,
  dumpOf,
  expectExactReplays,
  expectExactUsage,
  FOUNDING,
  MemoryStateStore,
  machineOver,
  OWNER,
  putOf,
  requestOf,
  soleVoter,
} from "../../../test/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import { EntryType, encodeEntry, NO_PROPOSAL_ORIGIN, sealEntry } from "../../raft/index.ts";
import { readPageTokenKey, readSigningKeys, readUserByEmail } from "../accounts/index.ts";
import { CLUSTER_VERSION, completeFrom, readCluster, readHistoryBounds } from "../core/index.ts";
import { describeLock } from "../locks/index.ts";
import { readSession } from "../sessions/index.ts";
import { readFormerCluster, readFormerClusters } from "./former-clusters.ts";
import { decodeSuccession, encodeSuccession, revisionJumpObjection, type Succession } from "./succession.ts";

const NEXT_ID = "11111111-2222-4333-8444-555555555555";
const THIRD_ID = "99999999-2222-4333-8444-555555555555";
const NAMESPACE = "default";
const HASH = new Uint8Array(32).fill(0x99);

function succession(changes: Partial<Succession> = {}): Succession {
  return {
    cause: "recovery",
    clusterId: NEXT_ID,
    clusterName: "spec",
    memberName: "member-2",
    incarnation: new Uint8Array(16).fill(0x66),
    address: { peerEndpoint: "127.0.0.1:8402", grpcEndpoint: "127.0.0.1:8400", httpEndpoint: "127.0.0.1:8401" },
    lastTerm: 1,
    revisionJump: 1_000_000,
    signingKey: {
      kid: "signing-key-2",
      publicKey: new Uint8Array(32).fill(0x77),
      privateKey: new Uint8Array(32).fill(0x88),
    },
    pageTokenKey: HASH,
    ...changes,
  };
}

describe("a succession", () => {
  let log: AppliedLog;

  beforeEach(() => {
    log = new AppliedLog();
  });

  function succeed(changes: Partial<Succession> = {}): void {
    log.append(EntryType.Bootstrap, encodeSuccession(succession(changes)));
  }

  function createLock(name: string, rw = false, lockDelaySeconds = 0): void {
    log.result({ kind: "create-lock", namespace: NAMESPACE, rw, name, ttlSeconds: 30, lockDelaySeconds });
  }

  function acquireOf(name: string, mode: "exclusive" | "read" | "write" = "exclusive", waitMs = 60_000) {
    const rest = { owner: "", ttlSeconds: 0, fencingToken: 0, waitMs };
    return { kind: "acquire-lock", namespace: NAMESPACE, name, mode, ...rest } as const;
  }

  function acquire(id: number, name: string, mode: "exclusive" | "read" | "write" = "exclusive") {
    return log.execute(acquireOf(name, mode), { request: requestOf(id) }).answer;
  }

  function tokenOf(answer: unknown): number {
    return (answer as { readonly hold: { readonly token: number } }).hold.token;
  }

  function lockOf(name: string, rw = false) {
    return describeLock(log.store, { namespace: NAMESPACE, rw, name });
  }

  function put(key: string, ttlSeconds = 0): void {
    log.result(putOf(key, key, { ttlSeconds }));
  }

  it("comes back as written, with a new signing key or without", () => {
    for (const one of [succession(), succession({ signingKey: null, cause: "restore" })]) {
      expect(decodeSuccession(encodeSuccession(one))).to.deep.equal(one);
    }
  });

  it("is refused after every truncation, and with a byte more", () => {
    const encoded = encodeSuccession(succession());
    for (let length = 0; length < encoded.length; length++) {
      expect(() => decodeSuccession(encoded.subarray(0, length))).to.throw(InvariantViolation);
    }
    expect(() => decodeSuccession(Uint8Array.of(...encoded, 0))).to.throw(InvariantViolation, "to their end");
  });

  it("P48: makes a new cluster of one member, whose id is above every earlier one", () => {
    put("a");
    succeed();
    const index = log.rows.length;
    expect(readCluster(log.store)).to.deep.equal({
      clusterId: NEXT_ID,
      name: "spec",
      version: CLUSTER_VERSION,
      configuration: { index, voters: [index], outgoing: [], learners: [], learnersNext: [], autoLeave: false },
      members: [{ id: index, name: "member-2", address: succession().address, incarnation: succession().incarnation }],
    });
  });

  it("records the former cluster", () => {
    put("a");
    const { revision, appliedIndex } = log.progress;
    succeed();
    expect(readFormerCluster(log.store, FOUNDING.clusterId)).to.deep.equal({
      clusterId: FOUNDING.clusterId,
      cause: "recovery",
      lastIndex: appliedIndex,
      lastTerm: 1,
      revision,
      successorId: NEXT_ID,
      endedAtMs: log.wallMs,
    });
    expect(readFormerCluster(log.store, NEXT_ID)).to.equal(undefined);
  });

  it("uses only revisions and tokens above every one that the former cluster can have used", () => {
    createLock("a");
    const before = tokenOf(acquire(1, "a"));
    const { revision } = log.progress;
    succeed({ revisionJump: 2_000_000 });
    expect(log.revision).to.equal(revision + 2_000_000);
    const after = tokenOf(acquire(2, "a"));
    expect(after)
      .to.be.above(before + 2_000_000)
      .and.equal(revision + 2_000_001);
  });

  it("jumps far enough, and never so far that revisions run out", () => {
    expect(revisionJumpObjection(7, 1_000_000)).to.equal(null);
    expect(revisionJumpObjection(7, 2 ** 40)).to.equal(null);
    for (const jump of [0, -1, 999_999, 2 ** 40 + 1, 1_000_000.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(revisionJumpObjection(7, jump), String(jump)).to.match(/whole number from 1000000 to 1099511627776/);
    }
    expect(revisionJumpObjection(2 ** 52 - 1_000_000, 1_000_000)).to.equal(null);
    expect(revisionJumpObjection(2 ** 52 - 1_000_000, 1_000_001)).to.match(/at most 1000000, because the revision is/);
    expect(() => succeed({ revisionJump: 1 })).to.throw(InvariantViolation, "room to grow");
  });

  it("compacts the history at the new revision, so that its rows are dropped", () => {
    put("a");
    succeed();
    const bounds = readHistoryBounds(log.store);
    expect(bounds.compactRevision).to.equal(log.revision);
    expect(bounds.oldestRevision).to.be.above(0);
    log.lead({ kind: "trim-history", countMax: 100 });
    expect(completeFrom(log.store, "default")).to.equal(log.revision);
    put("b");
    expect(readHistoryBounds(log.store).oldestRevision).to.equal(log.revision);
  });

  it("ends holds, waits and delays, and keeps the locks", () => {
    createLock("held");
    createLock("delayed", false, 15);
    createLock("shared", true);
    createLock("idle");
    acquire(1, "held");
    acquire(2, "held");
    acquire(3, "delayed");
    log.result({
      kind: "force-release-lock",
      namespace: NAMESPACE,
      rw: false,
      name: "delayed",
      fencingToken: 0,
      reason: "spec",
    });
    acquire(4, "shared", "read");
    acquire(5, "shared", "read");
    acquire(6, "shared", "write");
    acquire(7, "shared", "read");
    const before = log.progress;
    expect([before.totals.lockHolds, before.totals.lockWaits]).to.deep.equal([3, 3]);
    expect(before.lockTimers).to.equal(7);
    const tokenBefore = lockOf("held").lock.lastToken;

    succeed();
    const after = log.progress;
    expect([after.totals.lockHolds, after.totals.lockWaits, after.lockTimers]).to.deep.equal([0, 0, 0]);
    for (const [name, rw] of [
      ["held", false],
      ["delayed", false],
      ["shared", true],
      ["idle", false],
    ] as const) {
      const { lock } = lockOf(name, rw);
      expect(lock.exclusiveToken + lock.readers + lock.waitingReaders + lock.waitingWriters).to.equal(0);
      expect(lock.delayUntilMs).to.equal(0);
    }
    expect(lockOf("held").lock.lastToken).to.equal(tokenBefore);
    expect(dumpOf(log.store).filter((row) => /^[hij]/.test(row))).to.deep.equal([]);
    // A delay would prevent an immediate grant.
    expect(tokenOf(acquire(8, "delayed"))).to.be.above(tokenBefore);
    expect(tokenOf(acquire(9, "shared", "write"))).to.be.above(tokenBefore);
  });

  it("ends holds that belong to a session, which goes on with its keys and the time that it had left", () => {
    createLock("a");
    createLock("b", true);
    const asked = {
      kind: "create-session",
      namespace: NAMESPACE,
      ttlSeconds: 60,
      owner: "",
      metadata: new Uint8Array(0),
    };
    const { sessionId, deadlineMs } = log.result(asked as never) as { sessionId: number; deadlineMs: number };
    for (const [name, mode] of [
      ["a", "exclusive"],
      ["b", "read"],
    ] as const) {
      log.execute({ ...acquireOf(name, mode), sessionId });
    }
    log.result(putOf("k", "v", { sessionId }));
    succeed();
    const { totals } = log.progress;
    expect([totals.lockHolds, totals.sessions]).to.deep.equal([0, 1]);
    expect(readSession(log.store, NAMESPACE, sessionId)).to.include({ objects: 1, deadlineMs });
    expectExactUsage(log.store);
    log.tickMs = deadlineMs + 1;
    log.lead({ kind: "expire-sessions", sessions: [{ namespace: NAMESPACE, sessionId }] });
    expect(log.progress.totals).to.include({ keys: 0, sessions: 0 });
    expectExactUsage(log.store);
  });

  it("answers a retry of a granted acquisition with LOCK_LOST, and starts a waiting one again", () => {
    createLock("a");
    acquire(1, "a");
    acquire(2, "a");
    succeed();
    expect(acquire(1, "a")).to.have.property("reason", "LOCK_LOST");
    expect(tokenOf(acquire(2, "a"))).to.equal(log.revision);
  });

  it("refuses a write under the guard of a hold that has ended", () => {
    createLock("a");
    const fencingToken = tokenOf(acquire(1, "a"));
    succeed();
    const guard = { lockName: "a", fencingToken, rw: false };
    expect(log.refusal(putOf("k", "v", { guard })).reason).to.equal("FENCED");
  });

  it("counts data, namespaces and stored answers exactly: nothing of the ended holds and waits is left", () => {
    createLock("a");
    acquire(1, "a");
    acquire(2, "a");
    put("k");
    succeed();
    expectExactUsage(log.store);
    expectExactReplays(log.store);
  });

  it("replaces signing keys and the page token key, so that tokens of the former cluster end", () => {
    succeed();
    expect(readSigningKeys(log.store).map(({ kid }) => kid)).to.deep.equal(["signing-key-2"]);
    expect(readPageTokenKey(log.store)).to.deep.equal(HASH);
  });

  it("keeps signing keys if the entry says so", () => {
    succeed({ signingKey: null });
    expect(readSigningKeys(log.store).map(({ kid }) => kid)).to.deep.equal([FOUNDING.signingKeyId]);
    expect(readPageTokenKey(log.store)).to.deep.equal(HASH);
  });

  it("keeps everything else, to the byte", () => {
    put("a");
    put("b", 5);
    createLock("a");
    const kept = (row: string) => !/^[abcGoPUpsl]/.test(row);
    const before = log.dump().filter(kept);
    succeed();
    expect(log.dump().filter(kept)).to.deep.equal(before);
    expect(readUserByEmail(log.store, FOUNDING.owner.email)?.role).to.equal("owner");
  });

  it("answers a retry of a write of the former cluster from its stored answer", () => {
    const write = putOf("k", "v");
    const asking = { principal: OWNER, request: requestOf(77) };
    const before = log.execute(write, asking);
    succeed();
    const retried = log.execute(write, asking);
    expect(retried.replayed).to.equal("yes");
    expect(retried.answer).to.deep.equal(before.answer);
  });

  it("can happen again, and records both former clusters", () => {
    succeed();
    put("a");
    const first = log.revision;
    succeed({ clusterId: THIRD_ID, cause: "restore" });
    expect(readCluster(log.store)?.clusterId).to.equal(THIRD_ID);
    expect(log.revision).to.equal(first + 1_000_000);
    expect(readFormerClusters(log.store).map(({ clusterId, cause }) => [clusterId, cause])).to.deep.equal([
      [FOUNDING.clusterId, "recovery"],
      [NEXT_ID, "restore"],
    ]);
  });

  it("cannot take the id of the former cluster", () => {
    expect(() => succeed({ clusterId: FOUNDING.clusterId })).to.throw(InvariantViolation, "succeeds a founded one");
  });

  it("is never applied by a running member, which is already founded", () => {
    const entry = encodeSuccession(succession());
    expect(() => log.append(EntryType.Bootstrap, entry, () => "not-founded")).to.throw(
      InvariantViolation,
      "without members",
    );
  });

  it("P44: gives the same digest and rows however the log was cut into batches", () => {
    createLock("a");
    acquire(1, "a");
    acquire(2, "a");
    put("a");
    succeed();
    put("b");
    const store = new MemoryStateStore();
    const machine = machineOver(store);
    for (const row of log.rows) {
      machine.apply(row, soleVoter);
    }
    machine.commit();
    expect(machine.progress).to.deep.equal(log.progress);
    expect(dumpOf(store)).to.deep.equal(log.dump());
  });

  it("does not let time or terms decrease", () => {
    log.tickMs = 9_000;
    put("a", 60);
    const { wallMs } = log.progress;
    const row = encodeEntry(
      EntryType.Bootstrap,
      { tickMs: 0, wallMs: 0, origin: NO_PROPOSAL_ORIGIN },
      encodeSuccession(succession()),
    );
    sealEntry(row, 2, log.rows.length + 1, crc32);
    const machine = machineOver(log.store);
    machine.apply(row, soleVoter);
    machine.commit();
    expect([machine.progress.tickMs, machine.progress.wallMs]).to.deep.equal([9_000, wallMs]);
    expect(readFormerCluster(log.store, FOUNDING.clusterId)?.endedAtMs).to.equal(wallMs);
  });
});
