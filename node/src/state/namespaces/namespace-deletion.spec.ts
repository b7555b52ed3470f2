import { expect } from "chai";
import {
  ANNA,
  AppliedEventLog,
  AppliedLog,
  acquireLock,
  addUser,
  createLock,
  expectExactReplays,
  expectExactUsage,
  expectSameFromRestart,
  NO_SETTINGS,
  releaseLock,
  replaysTwice,
  requestOf,
} from "../../../test/index.ts";
import { EntryType } from "../../raft/index.ts";
import { encodeSuccession, type Succession } from "../cluster/index.ts";
import {
  compactRevisionOf,
  completeFrom,
  DEFAULT_STATE_LIMITS,
  describeSettings,
  isHistoryDue,
  listNamespaces,
  readNamespace,
  readSettings,
  requireNamespace,
  scanHistory,
} from "../core/index.ts";
import { describeLog, listLogs } from "../event-logs/index.ts";
import { type ClientOperation, CoordinationError, storedOutcome } from "../index.ts";
import { expiredKeys } from "../keys/index.ts";
import { checkGuard, dueLockTimers } from "../locks/index.ts";
import { hasNamespaceErasures } from "./namespace-deletion.ts";

const SPACE = "going";
/** Names that are prefixes of each other must not share a fate. */
const OTHERS = ["goin", "going-on", "default"];
const ROWS_MAX = 3;
const HOUR_MS = 3_600_000;
/** A cluster takes over the state, as after a restore. */
const SUCCESSION: Succession = {
  cause: "recovery",
  clusterId: "11111111-2222-4333-8444-555555555555",
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
  pageTokenKey: new Uint8Array(32).fill(0x99),
};
/** Progress, bounds and shares of the history, stored answers, usage, and the number of changes of the settings. */
const COUNTING_TABLES = /^[abrGUHS]/;

/** The namespaces that have shares of the history. */
function sharesIn(log: AppliedLog): string[] {
  return log.dump().flatMap((row) => (row.startsWith("H") ? [row.slice(1, row.indexOf(" "))] : []));
}

class Deletion {
  readonly log = new AppliedLog();

  constructor() {
    for (const namespace of [...OTHERS.slice(0, 2), SPACE]) {
      this.log.result({ kind: "create-namespace", namespace });
    }
  }

  put(key: string, { namespace = SPACE, ttlSeconds = 0, value = `value of ${key}` } = {}) {
    const put = { kind: "put-key", expectedModRevision: undefined, returnPrevious: false } as const;
    return { ...put, namespace, ttlSeconds, key: Buffer.from(key), value: Buffer.from(value) };
  }

  allocate(namespace = SPACE) {
    return { kind: "allocate-memory", namespace, sizeBytes: 3 * 1024 * 1024, label: "a label" } as const;
  }

  /** Everything that a namespace can have. */
  fill(namespace = SPACE): AppliedEventLog {
    const { log } = this;
    for (let at = 0; at < 10; at++) {
      log.result(this.put(`k${at}`, { namespace, ttlSeconds: at % 2 }));
    }
    for (const rw of [false, true]) {
      const mode = rw ? "read" : "exclusive";
      log.result(createLock({ namespace, rw, name: "held", lockDelaySeconds: 3 }));
      log.result(createLock({ namespace, rw, name: "cooling", lockDelaySeconds: 3 }));
      log.result(createLock({ namespace, rw, name: "free" }));
      log.result(acquireLock({ namespace, name: "held", mode }));
      log.result(acquireLock({ namespace, name: "cooling", mode, ttlSeconds: 30 }));
      const force = { kind: "force-release-lock", namespace, rw, fencingToken: 0, reason: "" } as const;
      log.result({ ...force, name: "cooling" });
      for (let waits = 0; waits < 2; waits++) {
        log.execute(acquireLock({ namespace, name: "held", mode: rw ? "write" : mode, waitMs: 60_000 }));
      }
    }
    const { regionId } = log.result<"allocate-memory">(this.allocate(namespace));
    const write = { kind: "write-memory", namespace, regionId, expectedVersion: undefined } as const;
    log.result({ ...write, offset: 1024 * 1024 - 10_000, data: new Uint8Array(20_000).fill(1) });
    const events = new AppliedEventLog({ retentionMaxAgeSecs: 60 }, { log, namespace });
    events.appendBatch("b", ["1", "2", "3"]);
    events.append("4", { idempotencyKey: "k" });
    new AppliedEventLog({}, { log, namespace, name: "empty" });
    const session = {
      kind: "create-session",
      namespace,
      ttlSeconds: 60,
      owner: "",
      metadata: new Uint8Array(9),
    } as const;
    const [{ sessionId }] = [log.result(session), log.result(session)];
    for (const key of ["k0", "owned"]) {
      log.result({ ...this.put(key, { namespace }), sessionId });
    }
    return events;
  }

  delete(recursive = true) {
    return { kind: "delete-namespace", namespace: SPACE, recursive } as const;
  }

  step(rowsMax = ROWS_MAX): void {
    this.log.lead({ kind: "erase-namespaces", rowsMax });
  }

  /** Does what a leader does until nothing is left to erase; returns the steps. */
  finish(rowsMax = ROWS_MAX): number {
    const { log } = this;
    for (let steps = 0; steps < 1_000; steps++) {
      log.lead({ kind: "erase-memory", rowsMax: 2 });
      log.lead({ kind: "erase-logs", rowsMax: 2 });
      if (readNamespace(log.store, SPACE) === undefined) {
        expect(hasNamespaceErasures(log.store)).to.equal(false);
        return steps;
      }
      this.step(rowsMax);
    }
    throw new Error("the deletion does not end");
  }

  /** All rows that show an object or a part of one. */
  get objects(): string[] {
    return this.log.dump().filter((row) => !COUNTING_TABLES.test(row));
  }

  /** The namespace of each change in the history. */
  get history(): string[] {
    const namespaces: string[] = [];
    scanHistory(this.log.store, 0, this.log.revision, ({ changes }) => {
      namespaces.push(...changes.map(({ namespace }) => namespace));
      return true;
    });
    return namespaces;
  }

  /** What the cluster counts, without stored answers. */
  get counts() {
    const { dataBytes, eventBytes, totals, expiringKeys, lockTimers, logTimers, logErasures, logs } = this.log.progress;
    const answers = replaysTwice(this.log.store).counted.reduce((sum, [, { bytes }]) => sum + bytes, 0);
    const counts = { eventBytes, totals, expiringKeys, lockTimers, logTimers, logErasures, logs };
    return { ...counts, dataBytes: dataBytes - answers };
  }

  setLimit(namespace: string): void {
    const values = [{ name: `quota.namespace.${namespace}.keys`, value: "77" }];
    this.log.lead({ kind: "put-settings", values, ifRevision: 0, subject: "", request: null });
  }
}

describe("the deletion of a namespace", () => {
  let deletion: Deletion;
  let log: AppliedLog;
  beforeEach(() => {
    deletion = new Deletion();
    ({ log } = deletion);
  });

  it("S49: erases everything in it, step by step, and nothing else; all counts are as before", () => {
    const bare = deletion.objects;
    for (const namespace of OTHERS) {
      deletion.fill(namespace);
      deletion.setLimit(namespace);
    }
    const before = { objects: deletion.objects, history: deletion.history, counts: deletion.counts };
    deletion.fill();
    deletion.setLimit(SPACE);
    expect(deletion.objects.length - before.objects.length).to.be.above(50);
    expect(bare.length).to.be.below(before.objects.length);
    log.result(deletion.delete());
    expect(deletion.finish()).to.be.above(10);
    const isOfSpace = (row: string) => row.startsWith(`n${SPACE} =`);
    expect(deletion.objects).to.deep.equal(before.objects.filter((row) => !isOfSpace(row)));
    expect(deletion.history).to.deep.equal(before.history);
    const { dataBytes } = before.counts;
    expect(deletion.counts).to.deep.equal({ ...before.counts, dataBytes: dataBytes - SPACE.length });
    expectExactUsage(log.store);
    expectExactReplays(log.store);
  });

  it("is the same however its entries are divided into batches, and from a snapshot in the middle", () => {
    deletion.fill();
    deletion.fill(OTHERS[0]);
    const marked = log.rows.length;
    log.result(deletion.delete());
    const steps = deletion.finish(5);
    for (const within of [0, 1, 2, steps, 2 * steps, 3 * steps - 1]) {
      for (const sliceEntries of [1, 7, 10_000]) {
        expectSameFromRestart(log, marked + within, sliceEntries);
      }
    }
  });

  it("continues in a cluster that takes over the state in the middle of it", () => {
    const bare = deletion.objects;
    deletion.fill();
    log.result(deletion.delete());
    log.append(EntryType.Bootstrap, encodeSuccession(SUCCESSION));
    const create = { kind: "create-namespace", namespace: SPACE } as const;
    expect(log.refusal(create).reason).to.equal("NAMESPACE_DELETING");
    log.tickMs += 100_000;
    log.lead({ kind: "expire-locks", timers: dueLockTimers(log.store, log.tickMs, 99) });
    deletion.finish();
    const ofCluster = /^[cPps]/;
    const others = (rows: readonly string[]) =>
      rows.filter((row) => !ofCluster.test(row) && !row.startsWith(`n${SPACE}`));
    expect(others(deletion.objects)).to.deep.equal(others(bare));
    expect(deletion.history).to.deep.equal([]);
    expect(deletion.counts).to.include({ expiringKeys: 0, lockTimers: 0, logTimers: 0, logErasures: 0, logs: 0 });
    expectExactUsage(log.store);
  });

  it("bounds each step by its rows, but for those of one object", () => {
    deletion.fill();
    log.result(deletion.delete());
    for (let steps = 0; readNamespace(log.store, SPACE) !== undefined; steps++) {
      const before = deletion.objects.length;
      deletion.step(1);
      // A lock with a hold and two waits has seven rows, and a region three and an erasure for each segment.
      expect(Math.abs(deletion.objects.length - before)).to.be.at.most(7);
      log.lead({ kind: "erase-memory", rowsMax: 1 });
      log.lead({ kind: "erase-logs", rowsMax: 1 });
      expect(steps).to.be.below(300);
    }
  });

  it("bounds each step by the bytes that it reads", () => {
    for (let key = 0; key < 5; key++) {
      log.result(deletion.put(`${key}`, { value: "v".repeat(1024 * 1024) }));
    }
    log.result(deletion.delete());
    deletion.step(1_000);
    expect(log.progress.totals.keys).to.equal(3);
    deletion.step(1_000);
    expect(log.progress.totals.keys).to.equal(1);
    deletion.finish(1_000);
    expect(log.progress.totals.keys).to.equal(0);
  });

  it("refuses a namespace with objects, and says how many; recursively it is accepted, once", () => {
    deletion.fill();
    const { answer } = log.execute(deletion.delete(false), { request: requestOf(1) });
    const refusal = answer as CoordinationError;
    expect([refusal.code, refusal.reason]).to.deep.equal(["FAILED_PRECONDITION", "NOT_EMPTY"]);
    const counts = { keys: "11", locks: "6", memory_regions: "1", event_logs: "2", sessions: "2" };
    expect(Object.fromEntries(refusal.details)).to.deep.equal(counts);
    expect(refusal.message).to.include('"going" has 11 keys, 6 locks, 1 memory regions, 2 event logs, 2 sessions');
    requireNamespace(log.store, SPACE);
    expect(log.execute(deletion.delete(false), { request: requestOf(1) }).replayed).to.equal("yes");
    const revision = log.revision + 1;
    expect(log.result(deletion.delete())).to.deep.equal({ kind: "delete-namespace", revision });
    expect(log.revision).to.equal(revision);
    // Another caller may ask too, to wait for the end.
    expect(log.result(deletion.delete(false))).to.deep.equal({ kind: "delete-namespace", revision });
    expect(log.revision).to.equal(revision);
    deletion.finish();
    expect(log.refusal(deletion.delete()).reason).to.equal("NAMESPACE_NOT_FOUND");
  });

  it("needs each kind of object to be gone, unless recursive", () => {
    const removals: ClientOperation[] = [];
    const check = (operation: ClientOperation, removal: ClientOperation) => {
      log.result(operation as never);
      removals.push(removal);
      expect(log.refusal(deletion.delete(false)).reason).to.equal("NOT_EMPTY");
      log.result(removal as never);
    };
    const named = { namespace: SPACE, name: "l", rw: true };
    check(createLock(named), { kind: "delete-lock", ...named, force: false });
    const removeKey = { kind: "delete-key", namespace: SPACE, expectedModRevision: undefined } as const;
    check(deletion.put("k"), { ...removeKey, key: Buffer.from("k"), returnPrevious: false });
    const { regionId } = log.result<"allocate-memory">(deletion.allocate());
    expect(log.refusal(deletion.delete(false)).reason).to.equal("NOT_EMPTY");
    log.result({ kind: "free-memory", namespace: SPACE, regionId, expectedVersion: undefined });
    const events = new AppliedEventLog({}, { log, namespace: SPACE });
    events.append("e");
    expect(log.refusal(deletion.delete(false)).reason).to.equal("NOT_EMPTY");
    log.result({ kind: "delete-log", logId: events.logId });
    // Its events and pages are not erased yet.
    log.result(deletion.delete(false));
    deletion.finish();
    expectExactUsage(log.store);
  });

  it("needs the access admin", () => {
    addUser(log, ANNA, { role: "member" });
    expect(log.refusal(deletion.delete(), { principal: ANNA }).reason).to.equal("ACCESS_DENIED");
  });

  it("lets no request find the namespace or anything in it, from the mark on", () => {
    const events = deletion.fill();
    const request = requestOf(7);
    const { hold } = log.result<"acquire-lock">(acquireLock({ namespace: SPACE, name: "free" }), { request });
    const token = hold?.token ?? 0;
    const guard = { lockName: "free", fencingToken: token, rw: false };
    checkGuard(log.store, SPACE, guard);
    log.result(deletion.delete());
    const inSpace: ClientOperation[] = [
      deletion.put("new"),
      createLock({ namespace: SPACE, name: "new" }),
      acquireLock({ namespace: SPACE, name: "free" }),
      releaseLock({ namespace: SPACE, name: "free" }),
      deletion.allocate(),
      { kind: "create-log", namespace: SPACE, name: "new", settings: NO_SETTINGS },
    ];
    for (let round = 0; round < 2; round++) {
      for (const operation of inSpace) {
        const { reason, message } = log.refusal(operation);
        expect(reason, operation.kind).to.equal("NAMESPACE_NOT_FOUND");
        expect(message).to.equal(`namespace "${SPACE}" ${round === 0 ? "is being deleted" : "does not exist"}`);
      }
      expect(log.refusal(events.operation(["e"])).reason).to.equal("LOG_NOT_FOUND");
      expect(log.refusal({ kind: "delete-log", logId: events.logId }).reason).to.equal("LOG_NOT_FOUND");
      expect(() => describeLog(log.store, events.logId)).to.throw(CoordinationError, "does not exist");
      const selection = { namespaces: null, name: null };
      expect(listLogs(log.store, selection, null, 10, () => true).logs).to.deep.equal([]);
      expect(() => checkGuard(log.store, SPACE, guard)).to.throw(CoordinationError, "not live");
      const write = { ...deletion.put("k", { namespace: "default" }), guard };
      expect(log.refusal(write).reason).to.equal("FENCED");
      // Retries of the request for the hold learn that it is lost.
      const again = log.refusal(acquireLock({ namespace: SPACE, name: "free" }), { request });
      expect(again.reason).to.equal("LOCK_LOST");
      const at = { tickMs: log.tickMs, sinceMs: 0, revision: log.revision };
      const { answer } = storedOutcome(log.store, "user-owner", request, at) ?? expect.fail("nothing is stored");
      expect((answer as CoordinationError).reason).to.equal("LOCK_LOST");
      deletion.finish();
    }
  });

  it("S24: ends requests that wait for locks, and grants none", () => {
    deletion.fill();
    log.result(deletion.delete());
    const waiting = log.settled.length;
    // The holds end before a step comes to their locks.
    for (const milliseconds of [40_000, 4_000]) {
      log.tickMs += milliseconds;
      log.lead({ kind: "expire-locks", timers: dueLockTimers(log.store, log.tickMs, 99) });
    }
    const refusals = Array.from({ length: 4 }, () => "NAMESPACE_NOT_FOUND");
    const reasons = () => log.settled.slice(waiting).map(({ outcome }) => (outcome.answer as CoordinationError).reason);
    expect(reasons()).to.deep.equal(refusals);
    deletion.finish();
    expect(reasons()).to.deep.equal(refusals);
    expect(log.progress.totals).to.include({ lockHolds: 0, lockWaits: 0 });
    expectExactReplays(log.store);
  });

  it("goes on while keys and holds expire, whose changes go too", () => {
    deletion.fill();
    log.result(deletion.delete());
    log.tickMs += 100_000;
    log.lead({ kind: "expire-keys", keys: expiredKeys(log.store, log.tickMs, 2) });
    for (let steps = 0; steps < 4; steps++) {
      deletion.step();
      log.lead({ kind: "expire-keys", keys: expiredKeys(log.store, log.tickMs, 1) });
    }
    const last = log.revision;
    deletion.finish();
    expect(deletion.history).to.deep.equal([]);
    expect(log.progress.expiringKeys).to.equal(0);
    expect(compactRevisionOf(log.store, SPACE)).to.equal(last + 1);
  });

  it("shows the namespace as one that is being deleted until nothing is left, and refuses to create it again", () => {
    deletion.fill();
    const shown = () =>
      listNamespaces(
        log.store,
        { prefix: SPACE, names: null, entriesMax: 1, isVisible: () => true },
        null,
      ).namespaces.map(({ name, deleteRevision }) => [name, deleteRevision]);
    expect(shown()).to.deep.equal([[SPACE, 0]]);
    const { revision } = log.result<"delete-namespace">(deletion.delete());
    const create = { kind: "create-namespace", namespace: SPACE } as const;
    while (shown()[0]?.[0] === SPACE) {
      expect(shown()).to.deep.equal([[SPACE, revision]]);
      expect(log.refusal(create).reason).to.equal("NAMESPACE_DELETING");
      deletion.step();
      log.lead({ kind: "erase-memory", rowsMax: 4 });
      log.lead({ kind: "erase-logs", rowsMax: 4 });
    }
    log.result(create);
    expect(readNamespace(log.store, SPACE)?.deleteRevision).to.equal(0);
  });

  it("ends only when the events and the pages are erased", () => {
    const events = new AppliedEventLog({}, { log, namespace: SPACE });
    events.append("e");
    const { regionId } = log.result<"allocate-memory">(deletion.allocate());
    const write = { kind: "write-memory", namespace: SPACE, regionId, expectedVersion: undefined } as const;
    log.result({ ...write, offset: 0, data: Buffer.from("x") });
    log.result(deletion.delete());
    const isThere = () => readNamespace(log.store, SPACE) !== undefined;
    deletion.step(1_000);
    deletion.step(1_000);
    expect([isThere(), hasNamespaceErasures(log.store)]).to.deep.equal([true, false]);
    log.lead({ kind: "erase-logs", rowsMax: 100 });
    expect([isThere(), hasNamespaceErasures(log.store)]).to.deep.equal([true, false]);
    deletion.step(1_000);
    expect(isThere()).to.equal(true);
    log.lead({ kind: "erase-memory", rowsMax: 100 });
    expect([isThere(), hasNamespaceErasures(log.store)]).to.deep.equal([true, true]);
    deletion.step(1_000);
    expect(isThere()).to.equal(false);
  });

  it("does not wait for pages of other namespaces that come later", () => {
    log.result(deletion.delete());
    const { regionId } = log.result<"allocate-memory">(deletion.allocate("default"));
    const region = { namespace: "default", regionId, expectedVersion: undefined } as const;
    log.result({ kind: "write-memory", ...region, offset: 0, data: Buffer.from("x") });
    log.result({ kind: "free-memory", ...region });
    deletion.step();
    deletion.step();
    expect(readNamespace(log.store, SPACE)).to.equal(undefined);
  });

  it("is not held up by other deletions that wait", () => {
    const events = new AppliedEventLog({}, { log, namespace: "goin" });
    events.append("e");
    log.result({ ...deletion.delete(), namespace: "goin" });
    deletion.step(1_000);
    deletion.step(1_000);
    log.result(deletion.delete());
    deletion.step(1_000);
    deletion.step(1_000);
    expect(readNamespace(log.store, SPACE)).to.equal(undefined);
    expect(readNamespace(log.store, "goin")?.deleteRevision).to.be.above(0);
  });

  it("S28: lets a namespace of the same name begin empty, with greater revisions and tokens", () => {
    const events = deletion.fill();
    const { hold } = log.result<"acquire-lock">(acquireLock({ namespace: SPACE, name: "free" }));
    log.result(deletion.delete());
    deletion.finish();
    const { revision } = log.result<"create-namespace">({ kind: "create-namespace", namespace: SPACE });
    expect(revision).to.be.above(hold?.token ?? Number.MAX_SAFE_INTEGER);
    const former = deletion.objects.filter((row) => row.slice(1).startsWith(`${SPACE}\0`));
    expect(former).to.deep.equal([]);
    expect(log.refusal(acquireLock({ namespace: SPACE, name: "free" })).reason).to.equal("LOCK_NOT_FOUND");
    log.result(createLock({ namespace: SPACE, name: "free" }));
    const { hold: next } = log.result<"acquire-lock">(acquireLock({ namespace: SPACE, name: "free" }));
    expect(next?.token).to.be.above(hold?.token ?? Number.MAX_SAFE_INTEGER);
    expect(log.result<"put-key">(deletion.put("k0"))).to.include({ created: true });
    expect(log.refusal(events.operation(["e"])).reason).to.equal("LOG_NOT_FOUND");
    expect(describeSettings(log.store, DEFAULT_STATE_LIMITS).some(({ name }) => name.includes(SPACE))).to.equal(false);
  });

  it("removes the limits of the namespace, which is a change of the settings", () => {
    deletion.setLimit(SPACE);
    const { revision } = readSettings(log.store);
    log.result(deletion.delete());
    deletion.finish();
    expect(readSettings(log.store).revision).to.equal(revision + 1);
    expect(describeSettings(log.store, DEFAULT_STATE_LIMITS).some(({ name }) => name.includes(SPACE))).to.equal(false);
  });

  it("S37: lets no watch of the namespace start before the deletion, also when it exists again", () => {
    const start = log.revision + 1;
    deletion.fill();
    const otherStart = compactRevisionOf(log.store, "default");
    expect(compactRevisionOf(log.store, SPACE)).to.be.below(start);
    const { revision } = log.result<"delete-namespace">(deletion.delete());
    expect(compactRevisionOf(log.store, SPACE)).to.equal(revision + 1);
    expect(completeFrom(log.store, SPACE)).to.equal(revision + 1);
    deletion.finish();
    log.result({ kind: "create-namespace", namespace: SPACE });
    const { modRevision } = log.result<"put-key">(deletion.put("k"));
    expect(compactRevisionOf(log.store, SPACE)).to.be.within(revision + 1, modRevision);
    expect(compactRevisionOf(log.store, "default")).to.equal(otherStart);
    expect(deletion.history).to.deep.equal([SPACE]);
  });

  it("keeps the share of its history only until the history begins later", () => {
    for (const isFilled of [true, false]) {
      const { log: one } = new Deletion();
      if (isFilled) {
        one.result(deletion.put("k"));
      }
      one.result(deletion.delete());
      for (let steps = 0; steps < 5; steps++) {
        one.lead({ kind: "erase-namespaces", rowsMax: 100 });
      }
      expect(sharesIn(one)).to.deep.equal([SPACE]);
      one.result(deletion.put("k", { namespace: "default" }));
      one.tickMs += 2 * HOUR_MS;
      one.result(deletion.put("k", { namespace: "default" }));
      const noSlack = { revisions: 0, ageMs: 0 };
      expect(isHistoryDue(one.store, one.revision, one.tickMs, DEFAULT_STATE_LIMITS.history, noSlack)).to.equal(true);
      one.lead({ kind: "trim-history", countMax: 100 });
      expect(sharesIn(one)).to.deep.equal(["default"]);
      expectSameFromRestart(one, 6, 4);
    }
  });

  it("answers a retry with what the first attempt got, also when the namespace is gone", () => {
    const request = requestOf(9);
    const stored = log.execute(deletion.put("k"), { request });
    const asked = log.execute(deletion.delete(), { request: requestOf(10) });
    expect(log.execute(deletion.put("k"), { request })).to.deep.equal({ ...stored, replayed: "yes" });
    deletion.finish();
    expect(log.execute(deletion.delete(), { request: requestOf(10) })).to.deep.equal({ ...asked, replayed: "yes" });
    expect(log.execute(deletion.put("k"), { request })).to.deep.equal({ ...stored, replayed: "yes" });
  });
});
