import { expect } from "chai";
import {
  AppliedEventLog,
  AppliedLock,
  AppliedLog,
  addUser,
  appended,
  FOUNDING,
  NO_SETTINGS,
  OWNER,
  updateUser,
} from "../../../test/index.ts";
import { CoordinationError, DEFAULT_STATE_LIMITS, derivedIdText, SequenceRuns } from "../core/index.ts";
import { describeLog, type LogSelection, listLogs, readEvents, sequencesOf } from "./event-logs.ts";
import { BATCH_EVENTS_MAX, type CreateLog } from "./log-commands.ts";
import { eventCountOf, readLogId } from "./log-rows.ts";

const HOUR_MS = 3_600_000;
const NOWHERE = new Uint8Array(16);
const everything = () => true;

function create(name: string, changes: Partial<CreateLog> = {}): CreateLog {
  return { kind: "create-log", name, namespace: "default", settings: NO_SETTINGS, ...changes };
}

function viewer(log: AppliedLog, subject: string, changes: object) {
  const principal = { subject, apiKeyId: "" };
  addUser(log, principal, changes);
  return principal;
}

describe("creating an event log", () => {
  it("makes an empty log, and takes no revision", () => {
    const log = new AppliedLog();
    const { revision } = log;
    const settings = { ...NO_SETTINGS, duplicateWindowSecs: 5 };
    const result = log.result<"create-log">(create("é <b>'; --", { namespace: "default", settings }));
    expect({ ...result.log, logId: null }).to.deep.equal({
      logId: null,
      number: 2,
      name: "é <b>'; --",
      namespace: "default",
      settings,
      createdAtMs: log.wallMs,
      createdBy: OWNER.subject,
      lastSequence: 0,
      firstSequence: 1,
      sizeBytes: 0,
      oldestTickMs: 0,
      retentionDueMs: 0,
    });
    expect([result.revision, log.revision]).to.deep.equal([revision, revision]);
    expect(describeLog(log.store, result.log.logId)).to.deep.equal(result.log);
    expect(eventCountOf(result.log)).to.equal(0);
  });

  it("identifies it by a UUID of the cluster and of its entry, which is never reused", () => {
    const log = new AppliedLog();
    const ids = new Set<string>();
    for (let count = 0; count < 20; count++) {
      const { logId } = log.result<"create-log">(create("l")).log;
      const index = log.rows.length.toString(16).padStart(12, "0");
      const [first, second, third] = FOUNDING.clusterId.split("-") as [string, string, string];
      const text = `${first}-${second}-8${third.slice(1)}-8100-${index}`;
      expect(derivedIdText(logId)).to.equal(text);
      ids.add(text);
      log.result({ kind: "delete-log", logId });
    }
    expect(ids.size).to.equal(20);
  });

  it("refuses the name of a live log, and allows that of a deleted one", () => {
    const events = new AppliedEventLog({}, { name: "taken" });
    expect(events.log.refusal(create("taken", { namespace: "default" })).reason).to.equal("LOG_EXISTS");
    events.log.result({ kind: "delete-log", logId: events.logId });
    const { logId } = events.log.result<"create-log">(create("taken")).log;
    expect(logId).not.to.deep.equal(events.logId);
    expect(readLogId(events.log.store, "default", "taken")).to.deep.equal(logId);
    expect(readLogId(events.log.store, "default", "other")).to.equal(undefined);
  });

  it("S43: allows the name of a log of another namespace: a refusal would show that the other log exists", () => {
    const events = new AppliedEventLog({}, { name: "taken" });
    const { log } = events;
    log.result({ kind: "create-namespace", namespace: "default.a" });
    log.result({ kind: "create-namespace", namespace: "a" });
    const ids = ["default.a", "a"].map((namespace) => {
      const { logId } = log.result<"create-log">(create("taken", { namespace })).log;
      expect(log.refusal(create("taken", { namespace })).reason).to.equal("LOG_EXISTS");
      return logId;
    });
    log.result({ kind: "delete-log", logId: events.logId });
    expect(["default", "default.a", "a"].map((namespace) => readLogId(log.store, namespace, "taken"))).to.deep.equal([
      undefined,
      ...ids,
    ]);
  });

  it("S19: allows __proto__ and constructor as ordinary names, and as keys of events", () => {
    const log = new AppliedLog();
    for (const name of ["__proto__", "constructor", "toString"]) {
      expect(readLogId(log.store, "default", name), name).to.equal(undefined);
      const events = new AppliedEventLog({}, { log, name });
      expect(events.append("a", { idempotencyKey: name })).to.equal("1");
      expect(events.append("b", { idempotencyKey: name })).to.equal("again 1");
      expect(readLogId(log.store, "default", name)).to.deep.equal(events.logId);
    }
  });

  it("needs the namespace to exist, and QUOTA bounds the number of logs", () => {
    const log = new AppliedLog({ ...DEFAULT_STATE_LIMITS, logsMax: 2 });
    expect(log.refusal(create("a", { namespace: "nowhere" })).reason).to.equal("NAMESPACE_NOT_FOUND");
    const { logId } = log.result<"create-log">(create("a")).log;
    log.result(create("b"));
    expect(log.refusal(create("c")).reason).to.equal("QUOTA");
    log.result({ kind: "delete-log", logId });
    log.result(create("c"));
    expect(log.progress.logs).to.equal(2);
  });
});

describe("access to event logs", () => {
  const needs = [
    { role: "viewer", creates: "ACCESS_DENIED", appends: "ACCESS_DENIED", changes: "ACCESS_DENIED" },
    { role: "member", creates: "create-log", appends: "1", changes: "ACCESS_DENIED" },
    { role: "admin", creates: "create-log", appends: "1", changes: "update-log-settings" },
  ] as const;
  for (const { role, creates, appends, changes } of needs) {
    it(`gives a ${role} the rights of the role, decided in apply`, () => {
      const events = new AppliedEventLog();
      const principal = viewer(events.log, `user-${role}`, { role, namespaces: ["default"] });
      const change = { kind: "update-log-settings", logId: events.logId, changes: {} } as const;
      expect(appended(events.log.execute(create("other"), { principal }))).to.equal(creates);
      expect(events.append("a", {}, principal)).to.equal(appends);
      expect(appended(events.log.execute(change, { principal }))).to.equal(changes);
      const remove = { kind: "delete-log", logId: events.logId } as const;
      const removed = appended(events.log.execute(remove, { principal }));
      expect(removed).to.equal(changes === "ACCESS_DENIED" ? changes : "delete-log");
    });
  }

  it("lets the creator change and delete the log while they have write access", () => {
    const log = new AppliedLog();
    const creator = viewer(log, "user-creator", { role: "member", namespaces: ["default"] });
    const other = viewer(log, "user-other", { role: "member", namespaces: ["*"] });
    const { logId } = log.result<"create-log">(create("own"), { principal: creator }).log;
    const change = { kind: "update-log-settings", logId, changes: {} } as const;
    const remove = { kind: "delete-log", logId } as const;
    for (const operation of [change, remove]) {
      expect(log.refusal(operation, { principal: other }).reason).to.equal("ACCESS_DENIED");
    }
    expect(appended(log.execute(change, { principal: creator }))).to.equal("update-log-settings");
    log.result(updateUser(creator.subject, { role: "viewer" }));
    for (const operation of [change, remove]) {
      expect(log.refusal(operation, { principal: creator }).reason).to.equal("ACCESS_DENIED");
    }
    log.result(updateUser(creator.subject, { role: "member", namespaces: ["elsewhere"] }));
    expect(log.refusal(remove, { principal: creator }).reason).to.equal("LOG_NOT_FOUND");
    log.result(updateUser(creator.subject, { namespaces: ["default"] }));
    expect(appended(log.execute(remove, { principal: creator }))).to.equal("delete-log");
  });

  it("answers as if the log did not exist, if the user has no access to its namespace", () => {
    const events = new AppliedEventLog({}, { namespace: "default" });
    const stranger = viewer(events.log, "user-stranger", { role: "admin", namespaces: ["defaults", "Default"] });
    const { logId } = events;
    for (const operation of [
      events.operation(["a"], { expectedSequence: 7n, idempotencyKey: "k" }),
      { kind: "update-log-settings", logId, changes: {} } as const,
      { kind: "delete-log", logId } as const,
    ]) {
      expect(events.log.refusal(operation, { principal: stranger }).reason).to.equal("LOG_NOT_FOUND");
      const unknown = { ...operation, logId: NOWHERE };
      expect(events.log.refusal(unknown, { principal: stranger }).reason).to.equal("LOG_NOT_FOUND");
    }
    expect(events.log.refusal(create("x", { namespace: "default" }), { principal: stranger }).reason).to.equal(
      "NAMESPACE_DENIED",
    );
    expect(events.append("a")).to.equal("1");
  });

  it("S43: refuses a guard in a namespace without access before it shows anything of the log", () => {
    const events = new AppliedEventLog();
    const stranger = viewer(events.log, "user-stranger", { role: "member", namespaces: ["other"] });
    const guard = { namespace: "default", lockName: "l", fencingToken: 1, rw: false };
    expect(events.append("a", { guard }, stranger)).to.equal("NAMESPACE_DENIED");
    expect(events.append("a", { guard, logId: NOWHERE }, stranger)).to.equal("NAMESPACE_DENIED");
  });

  it("refuses a disabled user, also a retry of a successful append", () => {
    const events = new AppliedEventLog();
    const principal = viewer(events.log, "user-gone", { role: "member" });
    expect(events.append("a", { idempotencyKey: "k" }, principal)).to.equal("1");
    addUser(events.log, principal, { status: "disabled" });
    expect(events.append("a", { idempotencyKey: "k" }, principal)).to.equal("TOKEN_REVOKED");
  });
});

describe("appending events", () => {
  it("gives sequences from 1 without gaps, and reads back all events, empty payloads included", () => {
    const events = new AppliedEventLog();
    expect(events.append("a")).to.equal("1");
    events.log.wallMs += 5;
    expect(events.append("", { idempotencyKey: "k" })).to.equal("2");
    expect(events.appendBatch("b", ["c", "", "d"])).to.equal("3 4 5");
    const { wallMs } = events.log;
    expect(events.events.map((event) => ({ ...event, payload: Buffer.from(event.payload).toString() }))).to.deep.equal([
      { sequence: 1, timestampMs: wallMs - 5, idempotencyKey: null, payload: "a" },
      { sequence: 2, timestampMs: wallMs, idempotencyKey: "k", payload: "" },
      { sequence: 3, timestampMs: wallMs, idempotencyKey: "b:0", payload: "c" },
      { sequence: 4, timestampMs: wallMs, idempotencyKey: "b:1", payload: "" },
      { sequence: 5, timestampMs: wallMs, idempotencyKey: "b:2", payload: "d" },
    ]);
    expect(events.stored).to.include({ firstSequence: 1, lastSequence: 5, sizeBytes: 3 });
  });

  it("takes no revision, and returns how much was appended", () => {
    const events = new AppliedEventLog();
    const { revision } = events.log;
    const result = events.log.result(events.operation(["aa", "b"], { isBatch: true, idempotencyKey: "b" }));
    expect(result).to.deep.equal({
      kind: "append-events",
      logId: events.logId,
      runs: SequenceRuns.one(0, 2, 1),
      lastSequence: 2,
      appendedEvents: 2,
      appendedBytes: 3,
      revision,
    });
    expect(events.log.revision).to.equal(revision);
  });

  it("keeps logs apart", () => {
    const one = new AppliedEventLog();
    const other = new AppliedEventLog({}, { log: one.log, name: "other" });
    expect(one.append("a", { idempotencyKey: "k" })).to.equal("1");
    expect(other.append("b", { idempotencyKey: "k" })).to.equal("1");
    expect(one.append("c")).to.equal("2");
    expect([one.texts, other.texts]).to.deep.equal([["1 a", "2 c"], ["1 b"]]);
  });

  it("S1: a retry of an accepted conditional append returns its sequence, not a conflict", () => {
    const events = new AppliedEventLog();
    expect(events.append("a", { idempotencyKey: "k", expectedSequence: 0n })).to.equal("1");
    expect(events.append("b")).to.equal("2");
    expect(events.append("a", { idempotencyKey: "k", expectedSequence: 0n })).to.equal("again 1");
    expect(events.appendBatch("b", ["c", "d"], { expectedSequence: 2n })).to.equal("3 4");
    expect(events.appendBatch("b", ["c", "d"], { expectedSequence: 2n })).to.equal("again 3 4");
  });

  it("S1: nor does it need the hold of its first execution again", () => {
    const { events, lock, token } = guarded();
    const guard = { namespace: "default", lockName: "l", fencingToken: token, rw: false };
    expect(events.append("a", { idempotencyKey: "k", guard })).to.equal("1");
    lock.releaseHold({ fencingToken: token });
    expect(events.append("a", { idempotencyKey: "k", guard })).to.equal("again 1");
    expect(events.append("b", { idempotencyKey: "other", guard })).to.equal("FENCED");
  });

  it("S2: a rejected append does not burn its key", () => {
    const { events, lock, token } = guarded({ ...DEFAULT_STATE_LIMITS, eventBytesMax: 1_000 });
    const stale = { namespace: "default", lockName: "l", fencingToken: token + 1, rw: false };
    expect(events.append("a", { idempotencyKey: "k", expectedSequence: 7n })).to.equal("SEQUENCE_CONFLICT");
    expect(events.append("a", { idempotencyKey: "k", guard: stale })).to.equal("FENCED");
    expect(events.append("a".repeat(1_001), { idempotencyKey: "k" })).to.equal("QUOTA");
    expect(events.appendBatch("k", ["a"], { expectedSequence: 7n })).to.equal("SEQUENCE_CONFLICT");
    expect(lock.log.progress).to.include({ eventBytes: 0, logTimers: 0 });
    expect(events.append("a", { idempotencyKey: "k" })).to.equal("1");
    expect(events.appendBatch("k", ["b"])).to.equal("2");
  });

  it("S4: the window runs on cluster tick from the first store, and duplicates do not refresh it", () => {
    const events = new AppliedEventLog({ duplicateWindowSecs: 10 });
    expect(events.append("a", { idempotencyKey: "k" })).to.equal("1");
    for (const [afterMs, is] of [
      [6_000, "again 1"],
      [4_000, "again 1"],
      // Ticks are rounded down: the window has certainly passed only above its end.
      [1, "2"],
      [10_000, "again 2"],
    ] as const) {
      events.log.tickMs += afterMs;
      // The wall clock may jump.
      events.log.wallMs += HOUR_MS * 24;
      expect(events.append("a", { idempotencyKey: "k" }), `after ${afterMs} ms`).to.equal(is);
    }
  });

  it("S4: without a setting it is an hour, and 0 turns it off", () => {
    const events = new AppliedEventLog();
    expect(events.append("a", { idempotencyKey: "k" })).to.equal("1");
    events.log.tickMs += HOUR_MS;
    expect(events.append("a", { idempotencyKey: "k" })).to.equal("again 1");
    events.log.tickMs++;
    expect(events.append("a", { idempotencyKey: "k" })).to.equal("2");
    events.change({ duplicateWindowSecs: 0 });
    expect(events.append("a", { idempotencyKey: "k" })).to.equal("3");
    expect(events.append("a", { idempotencyKey: "k" })).to.equal("4");
    events.change({ duplicateWindowSecs: null });
    expect(events.append("a", { idempotencyKey: "k" }), "nothing was remembered while it was off").to.equal("again 2");
  });

  it("S4: the window setting counts as it is when the duplicate comes", () => {
    const events = new AppliedEventLog({ duplicateWindowSecs: 10 });
    expect(events.append("a", { idempotencyKey: "k" })).to.equal("1");
    events.log.tickMs += 15_000;
    events.change({ duplicateWindowSecs: 20 });
    expect(events.append("a", { idempotencyKey: "k" })).to.equal("again 1");
    events.pass(0);
    expect(events.append("a", { idempotencyKey: "k" }), "pruning uses it too").to.equal("again 1");
    events.change({ duplicateWindowSecs: 14 });
    expect(events.append("a", { idempotencyKey: "k" })).to.equal("2");
  });

  it("S5: of two appends with one key the later one in the log returns the first one's sequence", () => {
    const events = new AppliedEventLog();
    const outcomes = [1, 2, 3].map((seq) => {
      events.log.origin = { memberId: seq, boot: 1, seq };
      return events.append(`from ${seq}`, { idempotencyKey: "k" });
    });
    expect(outcomes).to.deep.equal(["1", "again 1", "again 1"]);
    expect(events.texts).to.deep.equal(["1 from 1"]);
  });

  it("S6: a batch with some duplicates returns their old sequences in place, and new ones for the rest", () => {
    const events = new AppliedEventLog();
    expect(events.append("x", { idempotencyKey: "b:3" })).to.equal("1");
    expect(events.append("y", { idempotencyKey: "b:1" })).to.equal("2");
    const result = events.log.result(
      events.operation(["p", "q", "r", "s"], { isBatch: true, idempotencyKey: "b", expectedSequence: 2n }),
    );
    expect([...sequencesOf(result.runs)]).to.deep.equal([3, 2, 4, 1]);
    expect(result).to.include({ lastSequence: 4, appendedEvents: 2, appendedBytes: 2 });
    expect(events.texts).to.deep.equal(["1 x", "2 y", "3 p", "4 r"]);
    expect(events.appendBatch("b", ["p", "q", "r", "s"])).to.equal("again 3 2 4 1");
    // A longer one: the events after it are new.
    expect(events.appendBatch("b", ["p", "q", "r", "s", "t"])).to.equal("3 2 4 1 5");
    expect(events.events.map(({ idempotencyKey }) => idempotencyKey)).to.deep.equal([
      "b:3",
      "b:1",
      "b:0",
      "b:2",
      "b:4",
    ]);
  });

  it("S6: last_sequence is the maximum, also when all are duplicates", () => {
    const events = new AppliedEventLog();
    events.append("x", { idempotencyKey: "b:1" });
    events.append("y", { idempotencyKey: "b:0" });
    const result = events.log.result(events.operation(["p", "q"], { isBatch: true, idempotencyKey: "b" }));
    expect([...sequencesOf(result.runs)]).to.deep.equal([2, 1]);
    expect(result).to.include({ lastSequence: 2, appendedEvents: 0 });
  });

  it("S6: derived keys and single keys share one scope, whichever came first", () => {
    const events = new AppliedEventLog();
    expect(events.appendBatch("b", ["p", "q"])).to.equal("1 2");
    expect(events.append("x", { idempotencyKey: "b:1" })).to.equal("again 2");
    for (const key of ["b", "b:2", "b:01", "b:+1", "b: 1", "b:1.0", "b:", ":1", "b:1:", "b:10000", "B:1"]) {
      expect(events.append("x", { idempotencyKey: key }), key).to.match(/^\d+$/);
    }
    expect(events.appendBatch("b:1", ["x"]), "with another base").to.match(/^\d+$/);
    expect(events.append("x", { idempotencyKey: "b:1:0" })).to.match(/^again \d+$/);
  });

  it("S6: finds the keys of a batch also among many that only begin like them", () => {
    const events = new AppliedEventLog();
    for (let count = 0; count < 30; count++) {
      events.append("x", { idempotencyKey: `b:0${count}` });
    }
    expect(events.append("y", { idempotencyKey: "b:2" })).to.equal("31");
    expect(events.appendBatch("b", ["p", "q", "r"])).to.equal("32 33 31");
  });

  it("S7: the first payload wins, without an error", () => {
    const events = new AppliedEventLog();
    expect(events.append("first", { idempotencyKey: "k" })).to.equal("1");
    expect(events.append("second", { idempotencyKey: "k" })).to.equal("again 1");
    expect(events.appendBatch("b", ["first", "too"])).to.equal("2 3");
    expect(events.appendBatch("b", ["second"])).to.equal("again 2");
    expect(events.texts).to.deep.equal(["1 first", "2 first", "3 too"]);
  });

  it("S9: compares the expected sequence exactly, also above 2^53", () => {
    const events = new AppliedEventLog();
    for (const expectedSequence of [1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n]) {
      const refusal = events.log.refusal(events.operation(["a"], { expectedSequence }));
      expect(refusal.reason).to.equal("SEQUENCE_CONFLICT");
      expect(refusal.message).to.include(`${expectedSequence}`);
      expect(Object.fromEntries(refusal.details)).to.deep.equal({ last_sequence: "0" });
    }
    expect(events.append("a", { expectedSequence: 0n })).to.equal("1");
    expect(events.append("a", { expectedSequence: 0n })).to.equal("SEQUENCE_CONFLICT");
    expect(events.append("a", { expectedSequence: 1n })).to.equal("2");
  });

  it("treats 0 as `nothing was ever appended`, also when no event is kept", () => {
    const events = new AppliedEventLog({ retentionMaxAgeSecs: 1 });
    events.append("a");
    events.pass(1_001);
    expect(events.stored).to.include({ firstSequence: 2, lastSequence: 1 });
    expect(events.append("b", { expectedSequence: 0n })).to.equal("SEQUENCE_CONFLICT");
    expect(events.append("b", { expectedSequence: 1n })).to.equal("2");
  });

  it("is all or nothing: a refused batch stores none of its events", () => {
    const events = new AppliedEventLog({}, { log: new AppliedLog({ ...DEFAULT_STATE_LIMITS, eventBytesMax: 1_000 }) });
    // Requests count, whatever their outcome: in the progress and in the usage.
    const others = () => events.log.dump().filter((row) => !/^[aU]/.test(row));
    const before = others();
    expect(events.appendBatch("b", ["a".repeat(600), "b".repeat(600)])).to.equal("QUOTA");
    expect(events.appendBatch("b", ["a", "b"], { expectedSequence: 1n })).to.equal("SEQUENCE_CONFLICT");
    expect(others()).to.deep.equal(before);
    expect(events.appendBatch("b", ["a", "b"])).to.equal("1 2");
  });

  it("checks in this order: the log, and for new events the guard, the sequence, the space", () => {
    const { events, token } = guarded({ ...DEFAULT_STATE_LIMITS, eventBytesMax: 10 });
    const stale = { namespace: "default", lockName: "l", fencingToken: token + 1, rw: false };
    const wrong = { guard: stale, expectedSequence: 5n };
    const large = "a".repeat(11);
    expect(events.append(large, { ...wrong, logId: NOWHERE })).to.equal("LOG_NOT_FOUND");
    expect(events.append(large, wrong)).to.equal("FENCED");
    const { guard: _guard, ...unguarded } = wrong;
    expect(events.append(large, unguarded)).to.equal("SEQUENCE_CONFLICT");
    expect(events.append(large)).to.equal("QUOTA");
  });

  it("P53: takes effect only under a live hold, of either kind of lock, and not in a namespace without it", () => {
    const { events, lock, token } = guarded();
    const guard = { namespace: "default", lockName: "l", fencingToken: token, rw: false };
    expect(events.append("a", { guard })).to.equal("1");
    expect(events.append("a", { guard: { ...guard, rw: true } })).to.equal("FENCED");
    expect(events.append("a", { guard: { ...guard, namespace: "nowhere" } })).to.equal("FENCED");
    lock.force();
    expect(events.append("a", { guard })).to.equal("FENCED");
  });

  it("S6: knows every key of the largest batch, also keys that were stored as single keys", () => {
    const events = new AppliedEventLog();
    const last = BATCH_EVENTS_MAX - 1;
    const alone = [0, 7, last - 1];
    for (const position of alone) {
      events.append(`${position}`, { idempotencyKey: `k:${position}` });
    }
    const payloads = Array.from({ length: BATCH_EVENTS_MAX }, (_, at) => `${at}`);
    let next = alone.length;
    const sequences = payloads.map((_, at) => (alone.includes(at) ? alone.indexOf(at) + 1 : ++next));
    const largest = events.operation(payloads, { isBatch: true, idempotencyKey: "k" });
    expect(appended(events.log.execute(largest))).to.equal(sequences.join(" "));
    expect(appended(events.log.execute(largest))).to.equal(`again ${sequences.join(" ")}`);
    expect(events.append("x", { idempotencyKey: `k:${last}` })).to.equal(`again ${sequences[last]}`);
    expect(events.append("x", { idempotencyKey: `k:${last + 1}` })).to.equal(`${BATCH_EVENTS_MAX + 1}`);
    expect(events.log.dump().filter((row) => row.startsWith("E")).length).to.be.below(1_000);
  });

  it("takes a batch of one event of 10 MiB, which is read, and found again by its key", () => {
    const events = new AppliedEventLog();
    const whole = "x".repeat(10 * 1024 * 1024);
    expect(events.appendBatch("k", [whole])).to.equal("1");
    expect(events.append("small")).to.equal("2");
    const page = readEvents(events.log.store, describeLog(events.log.store, events.logId), 1, {
      eventsMax: 10,
      bytesMax: 1024 * 1024,
    });
    expect(page.map(({ sequence, payload }) => [sequence, payload.length])).to.deep.equal([[1, whole.length]]);
    expect(events.appendBatch("k", [whole])).to.equal("again 1");
  });

  it("stores a batch of many small events, and one of large ones, in rows of some 64 KiB", () => {
    const events = new AppliedEventLog();
    const count = 50_000;
    const small = Array.from({ length: count }, (_, at) => `${at}`);
    events.appendBatch("small", small);
    events.appendBatch("large", ["x".repeat(200_000), "y".repeat(40_000), "z".repeat(40_000), ""]);
    expect(events.events.slice(0, count).map(({ payload }) => Buffer.from(payload).toString())).to.deep.equal(small);
    expect(events.events.slice(-4).map(({ payload }) => payload.length)).to.deep.equal([200_000, 40_000, 40_000, 0]);
    expect(events.log.dump().filter((row) => row.startsWith("E"))).to.have.length(Math.ceil(count / 1_024) + 3);
    expect(events.appendBatch("small", small)).to.equal(`again ${small.map((at) => Number(at) + 1).join(" ")}`);
  });
});

describe("QUOTA of events", () => {
  it("bounds their bytes, separately from keys; deleting and retention still work, and free space", () => {
    const log = new AppliedLog({ ...DEFAULT_STATE_LIMITS, eventBytesMax: 2_000, dataBytesMax: 1_000_000 });
    const events = new AppliedEventLog({ retentionMaxBytes: 1_000 }, { log });
    expect(events.append("a".repeat(1_500))).to.equal("1");
    expect(events.append("b".repeat(500))).to.equal("QUOTA");
    expect(events.append("")).to.equal("2");
    events.pass(1);
    expect(events.texts).to.deep.equal(["2 "]);
    expect(events.append("b".repeat(500))).to.equal("3");
    events.append("c".repeat(1_300));
    expect(events.append("d".repeat(500))).to.equal("QUOTA");
    log.result({ kind: "delete-log", logId: events.logId });
    log.lead({ kind: "erase-logs", rowsMax: 100 });
    expect(log.progress.eventBytes).to.equal(0);
  });
});

describe("reading events", () => {
  it("begins at the requested or the oldest kept sequence, and ends at the limits, but returns at least one event", () => {
    const events = new AppliedEventLog();
    events.appendBatch("b", ["aa", "bb", "cc"]);
    events.append("dddd");
    events.append("e".repeat(50));
    const { log, stored } = events;
    const read = (from: number, eventsMax: number, bytesMax: number) =>
      readEvents(log.store, stored, from, { eventsMax, bytesMax }).map(({ sequence }) => sequence);
    expect(read(0, 10, 1_000)).to.deep.equal([1, 2, 3, 4, 5]);
    expect(read(2, 10, 1_000)).to.deep.equal([2, 3, 4, 5]);
    expect(read(2, 3, 1_000)).to.deep.equal([2, 3, 4]);
    expect(read(2, 1, 1_000)).to.deep.equal([2]);
    // Keys count: each of the batch has three bytes.
    expect(read(1, 10, 10)).to.deep.equal([1, 2]);
    expect(read(1, 10, 9)).to.deep.equal([1]);
    expect(read(5, 10, 9)).to.deep.equal([5]);
    expect(read(6, 10, 1_000)).to.deep.equal([]);
    expect(read(Number.MAX_SAFE_INTEGER, 10, 1_000)).to.deep.equal([]);
  });
});

describe("listing event logs", () => {
  function pages(log: AppliedLog, selection: LogSelection, isVisible: Parameters<typeof listLogs>[4] = everything) {
    const names: string[][] = [];
    let after: Uint8Array | null = null;
    do {
      const page = listLogs(log.store, selection, after, 2, isVisible);
      names.push(page.logs.map(({ namespace, name }) => `${namespace} ${name}`));
      after = page.next;
    } while (after !== null);
    return names;
  }

  /** Logs in three namespaces. The name of one begins with the name of another. */
  function spread(): AppliedLog {
    const log = new AppliedLog();
    for (const namespace of ["default.a", "a"]) {
      log.result({ kind: "create-namespace", namespace });
    }
    for (const [namespace, name] of [
      ["default.a", "b"],
      ["default", "b"],
      ["default", "\u{1f600}"],
      ["default", "\uffff"],
      ["a", "b"],
      ["a", "z"],
    ] as const) {
      log.result(create(name, { namespace }));
    }
    return log;
  }

  it("sorts by namespaces, then by names in UTF-8 bytes, page by page", () => {
    const log = spread();
    const all = [
      ["a b", "a z"],
      ["default b", "default \uffff"],
      ["default \u{1f600}", "default.a b"],
    ];
    expect(pages(log, { namespaces: null, name: null })).to.deep.equal(all);
    expect(pages(log, { namespaces: ["default.a", "nowhere", "default", "a"], name: null })).to.deep.equal(all);
    expect(pages(log, { namespaces: ["default"], name: null })).to.deep.equal([
      ["default b", "default \uffff"],
      ["default \u{1f600}"],
    ]);
    expect(pages(log, { namespaces: [], name: null })).to.deep.equal([[]]);
  });

  it("finds a name in each namespace of the selection, page by page", () => {
    const log = spread();
    for (const namespaces of [null, ["default.a", "default", "nowhere", "a"]]) {
      expect(pages(log, { namespaces, name: "b" })).to.deep.equal([["a b", "default b"], ["default.a b"]]);
    }
    expect(pages(log, { namespaces: ["default"], name: "b" })).to.deep.equal([["default b"]]);
    expect(pages(log, { namespaces: ["default"], name: "z" })).to.deep.equal([[]]);
  });

  it("S43: has no next page if only invisible logs follow", () => {
    const log = spread();
    const isVisible = ({ namespace }: { readonly namespace: string }) => namespace === "a";
    expect(pages(log, { namespaces: null, name: null }, isVisible)).to.deep.equal([["a b", "a z"]]);
    expect(pages(log, { namespaces: null, name: "b" }, isVisible)).to.deep.equal([["a b"]]);
  });

  it("S44: reads a bounded number of logs for one page, and continues in the next", () => {
    const log = new AppliedLog();
    for (let count = 0; count < 2_001; count++) {
      log.result(create(`log-${String(count).padStart(4, "0")}`));
    }
    const isLast = ({ name }: { name: string }) => name === "log-2000";
    const all = { namespaces: null, name: null };
    const first = listLogs(log.store, all, null, 10, isLast);
    expect(first.logs).to.deep.equal([]);
    const second = listLogs(log.store, all, first.next, 10, isLast);
    expect([second.logs.map(({ name }) => name), second.next]).to.deep.equal([["log-2000"], null]);
  });
});

describe("an event log that does not exist", () => {
  it("is refused with its id in text form", () => {
    const log = new AppliedLog();
    expect(() => describeLog(log.store, NOWHERE))
      .to.throw(CoordinationError, "00000000-0000-0000-0000-000000000000")
      .with.property("reason", "LOG_NOT_FOUND");
  });
});

/** A log beside a lock that the owner holds. */
function guarded(limits = DEFAULT_STATE_LIMITS) {
  const lock = new AppliedLock({ ttlSeconds: 3_600 }, limits);
  const { hold } = lock.result();
  const events = new AppliedEventLog({}, { log: lock.log });
  return { lock, events, token: hold?.token ?? 0 };
}
