import { expect } from "chai";
import {
  ANNA,
  AppliedEventLog,
  AppliedLog,
  acquireLock,
  addUser,
  answerText,
  applyRows,
  createLock,
  dumpOf,
  MemoryStateStore,
  machineOver,
  putOf,
  releaseLock,
  requestOf,
} from "../../../test/index.ts";
import { readUsage } from "../accounts/index.ts";
import { DEFAULT_STATE_LIMITS, decodeText, NO_USAGE, type Outcome, readHistory } from "../core/index.ts";
import { mayBeLong, Payloads } from "../index.ts";
import { expiredKeys, type ListKeysResult, listKeys, readKey } from "../keys/index.ts";
import type { Condition } from "./conditions.ts";
import type { Transact, TransactedOperation, TransactResult } from "./transaction-commands.ts";

const NAMESPACE = "default";

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function transact(changes: Partial<Transact> = {}): Transact {
  return { kind: "transact", namespace: NAMESPACE, conditions: [], success: [], failure: [], ...changes };
}

function remove(key: string, mayBeMissing = false): TransactedOperation {
  return {
    kind: "remove-key",
    namespace: NAMESPACE,
    key: bytesOf(key),
    expectedModRevision: undefined,
    returnPrevious: true,
    mayBeMissing,
  };
}

function increment(key: string, delta: bigint, ttlSeconds = 0): TransactedOperation {
  return { kind: "increment-key", namespace: NAMESPACE, key: bytesOf(key), delta, ttlSeconds };
}

function read(key: string): TransactedOperation {
  return { kind: "read-key", namespace: NAMESPACE, key: bytesOf(key) };
}

function list(prefix: string, after = ""): TransactedOperation {
  const page = { after: bytesOf(after), entriesMax: 100, keysOnly: false };
  return { kind: "list-keys", namespace: NAMESPACE, prefix: bytesOf(prefix), ...page };
}

function removeAll(prefix: string): TransactedOperation {
  return { kind: "delete-keys", namespace: NAMESPACE, prefix: bytesOf(prefix) };
}

function exists(key: string, isThere = true): Condition {
  return { about: "key-number", key: bytesOf(key), of: "exists", operator: "=", number: Number(isThere) };
}

function keysOf(log: AppliedLog): Record<string, string> {
  const bounds = { entriesMax: 100_000, bytesMax: Number.MAX_SAFE_INTEGER, keysOnly: false };
  const { keys } = listKeys(log.store, NAMESPACE, bytesOf(""), undefined, bounds);
  return Object.fromEntries(keys.map(({ key, value }) => [decodeText(key), decodeText(value)]));
}

/** The tables of the rows that the operation changes, each once. */
function changedTables(log: AppliedLog, change: () => void): string[] {
  const before = new Set(log.dump());
  change();
  const after = log.dump();
  const rows = [...after.filter((row) => !before.delete(row)), ...before];
  return [...new Set(rows.map((row) => row.slice(0, 1)))].sort();
}

describe("a transaction", () => {
  it("runs all operations at one revision, in order, and each sees the ones before it", () => {
    const log = new AppliedLog();
    log.result(putOf("old", "1"));
    const revision = log.revision + 1;
    const result = log.result(
      transact({ success: [putOf("a", "x"), read("a"), remove("old"), increment("n", 5n), list("")] }),
    );
    expect(result.failedCondition).to.equal(null);
    expect(result.revision).to.equal(revision);
    expect(log.revision).to.equal(revision);
    const [put, got, removed, sum, listed] = result.results;
    expect(put).to.include({ kind: "put-key", created: true, modRevision: revision });
    expect(got).to.have.nested.property("current.modRevision", revision);
    expect(removed).to.include({ kind: "remove-key", removed: true });
    expect(sum).to.include({ kind: "increment-key", value: 5n, created: true });
    expect(listed).to.have.property("keys").with.length(2);
    expect(keysOf(log)).to.deep.equal({ a: "x", n: "5" });
    const changes = readHistory(log.store, revision)?.changes ?? [];
    expect(changes.map(({ kind }) => kind)).to.deep.equal(["put", "delete", "put"]);
  });

  it("runs the other operations if a condition is not true, and names the first one", () => {
    const log = new AppliedLog();
    const result = log.result(
      transact({
        conditions: [exists("a", false), exists("a"), exists("b")],
        success: [putOf("a", "yes")],
        failure: [putOf("a", "no")],
      }),
    );
    expect(result.failedCondition).to.equal(1);
    expect(keysOf(log)).to.deep.equal({ a: "no" });
  });

  it("changes nothing if an operation is refused, and the refusal names it", () => {
    const log = new AppliedLog();
    log.result(putOf("a", "1", { ttlSeconds: 9 }));
    const events = new AppliedEventLog({}, { log });
    events.append("x", { idempotencyKey: "k" });
    const refusedPut = putOf("z", "z", { expectedModRevision: 7 });
    const usual = changedTables(log, () => expect(log.refusal(refusedPut).reason).to.equal("REVISION_MISMATCH"));
    const before = log.progress;
    const append: TransactedOperation = {
      kind: "append-events",
      logId: events.logId,
      payloads: Payloads.of([bytesOf("y")]),
      isBatch: false,
      idempotencyKey: "l",
      expectedSequence: 1n,
    };
    const nested = transact({ success: [increment("n", 1n), refusedPut] });
    const changed = changedTables(log, () => {
      const refusal = log.refusal(
        transact({ success: [putOf("a", "2"), append, putOf("b", "1", { ttlSeconds: 5 }), removeAll("a"), nested] }),
      );
      expect(refusal.reason).to.equal("REVISION_MISMATCH");
      expect(refusal.details.get("operation")).to.equal("success[4].transaction.success[1]");
      expect(refusal.message).to.match(/^success\[4\]\.transaction\.success\[1\]: expected_mod_revision is 7/);
    });
    // The stored answer, the usage, and the progress.
    expect(changed).to.deep.equal(usual);
    const { revision, expiringKeys, eventBytes, logTimers, totals } = log.progress;
    expect({ revision, expiringKeys, eventBytes, logTimers, totals }).to.deep.equal({
      revision: before.revision,
      expiringKeys: before.expiringKeys,
      eventBytes: before.eventBytes,
      logTimers: before.logTimers,
      totals: before.totals,
    });
    expect(keysOf(log)).to.deep.equal({ a: "1" });
    log.result(putOf("c", "3"));
    expect(log.revision).to.equal(before.revision + 1);
  });

  it("lists only keys with the prefix, wherever the list begins", () => {
    const log = new AppliedLog();
    log.result(transact({ success: ["a", "b", "p/a", "p/b", "q"].map((key) => putOf(key, "")) }));
    const listed = (after: string): string[] => {
      const [result] = log.result(transact({ success: [list("p/", after)] })).results;
      return (result as ListKeysResult).keys.map(({ key }) => decodeText(key));
    };
    expect(["", "a", "p/", "p/a", "p/b", "q"].map(listed)).to.deep.equal([
      ["p/a", "p/b"],
      ["p/a", "p/b"],
      ["p/a", "p/b"],
      ["p/b"],
      [],
      [],
    ]);
  });

  it("takes no revision if it changes nothing", () => {
    const log = new AppliedLog();
    const { revision } = log;
    expect(log.result(transact({ success: [read("a"), remove("a", true)] })).revision).to.equal(revision);
    expect(log.revision).to.equal(revision);
  });

  it("runs once: a retry gets the same answer, without values if they are too large to be stored", () => {
    const log = new AppliedLog();
    log.result(putOf("large", "x".repeat(8_192)));
    const request = requestOf(1);
    const asked = transact({ success: [increment("n", 1n), read("large")] });
    const first = log.execute(asked, { request });
    const again = log.execute(asked, { request });
    expect(again.replayed).to.equal("no-values");
    expect(keysOf(log).n).to.equal("1");
    const [sum, got] = (again.answer as TransactResult).results;
    expect(sum).to.deep.equal((first.answer as TransactResult).results[0]);
    expect(got).to.have.nested.property("current.value").with.length(0);
  });

  it("has the same outcome and state in steps as in one go", () => {
    const log = new AppliedLog();
    const puts = Array.from({ length: 2_000 }, (_, at) => putOf(`k${at}`, `v${at}`));
    log.result(transact({ success: puts }));
    log.result(transact({ conditions: [exists("k1")], success: [removeAll("k1"), putOf("x", "y")] }));
    const { rows } = log;
    expect(rows.map((row) => mayBeLong(row, 1_000_000))).to.deep.equal([false, true, true]);
    const store = new MemoryStateStore();
    const machine = machineOver(store);
    applyRows(machine, rows.slice(0, 1));
    for (const row of rows.slice(1)) {
      let steps = 0;
      let outcome: Outcome | null = null;
      const running = machine.applyInSteps(row);
      while (outcome === null) {
        steps++;
        outcome = running.next().value ?? null;
      }
      expect(steps).to.be.above(10);
      machine.commit();
    }
    expect(dumpOf(store)).to.deep.equal(log.dump());
  });
});

describe("a number in a key", () => {
  it("is exact from -2^63 to 2^63 - 1, and never wraps", () => {
    const log = new AppliedLog();
    log.result(putOf("n", "9223372036854775806"));
    expect(log.result(transact({ success: [increment("n", 1n)] })).results[0]).to.include({ value: 2n ** 63n - 1n });
    const refusal = log.refusal(transact({ success: [increment("n", 1n)] }));
    expect(refusal.reason).to.equal("NUMBER_OVERFLOW");
    expect(refusal.details.get("value")).to.equal("9223372036854775807");
    log.result(putOf("n", "-9223372036854775808"));
    expect(log.refusal(transact({ success: [increment("n", -1n)] })).reason).to.equal("NUMBER_OVERFLOW");
  });

  for (const value of ["", "x", "01", "-0", "+1", "1.0", " 1", "9223372036854775808", "1".repeat(30)]) {
    it(`is not ${JSON.stringify(value)}`, () => {
      const log = new AppliedLog();
      log.result(putOf("n", value));
      expect(log.refusal(transact({ success: [increment("n", 1n)] })).reason).to.equal("NOT_A_NUMBER");
    });
  }

  it("keeps the deadline of its key, and expires by it", () => {
    const log = new AppliedLog();
    log.result(transact({ success: [increment("n", 1n, 10)] }));
    const deadlineMs = log.tickMs + 10_000;
    log.tickMs += 4_000;
    log.result(transact({ success: [increment("n", 1n, 60)] }));
    expect(readKey(log.store, NAMESPACE, bytesOf("n"))?.deadlineMs).to.equal(deadlineMs);
    log.tickMs = deadlineMs + 1;
    log.lead({ kind: "expire-keys", keys: expiredKeys(log.store, log.tickMs, 10) });
    expect(keysOf(log)).to.deep.equal({});
  });
});

describe("the conditions of a transaction", () => {
  /** Whether a transaction with the condition alone runs. */
  const isTrue = (log: AppliedLog, condition: Condition): boolean =>
    log.result(transact({ conditions: [condition] })).failedCondition === null;

  it("compare numbers and values of keys", () => {
    const log = new AppliedLog();
    log.result(putOf("a", "b"));
    const { revision } = log;
    log.result(putOf("a", "m"));
    const key = bytesOf("a");
    const number = (
      of: "mod-revision" | "create-revision" | "version",
      operator: "=" | "!=" | "<" | ">",
      value: number,
    ) => isTrue(log, { about: "key-number", key, of, operator, number: value });
    expect(number("create-revision", "=", revision)).to.equal(true);
    expect(number("mod-revision", "=", revision + 1)).to.equal(true);
    expect(number("mod-revision", "<", revision + 1)).to.equal(false);
    expect(number("version", ">", 1)).to.equal(true);
    expect(number("version", "!=", 2)).to.equal(false);
    const value = (operator: "=" | "!=" | "<" | ">", text: string, name = key) =>
      isTrue(log, { about: "key-value", key: name, operator, value: bytesOf(text) });
    expect(["=", "!=", "<", ">"].map((operator) => value(operator as "=", "m"))).to.deep.equal([
      true,
      false,
      false,
      false,
    ]);
    expect(["=", "!=", "<", ">"].map((operator) => value(operator as "=", "n"))).to.deep.equal([
      false,
      true,
      true,
      false,
    ]);
    const none = bytesOf("none");
    expect(["=", "!=", "<", ">"].map((operator) => value(operator as "=", "", none))).to.deep.equal([
      false,
      true,
      false,
      false,
    ]);
  });

  it("see whether a prefix has changed since a revision, also by deletions", () => {
    const log = new AppliedLog();
    log.result(putOf("p/a", "1"));
    const { revision } = log;
    const unchanged = (prefix: string, since: number) =>
      isTrue(log, { about: "prefix", prefix: bytesOf(prefix), unchangedSince: since });
    expect(unchanged("p/", revision)).to.equal(true);
    expect(unchanged("p/", revision - 1)).to.equal(false);
    log.result(putOf("q/a", "1"));
    expect(unchanged("p/", revision)).to.equal(true);
    log.result({
      kind: "delete-key",
      namespace: NAMESPACE,
      key: bytesOf("p/a"),
      expectedModRevision: undefined,
      returnPrevious: false,
    });
    expect(unchanged("p/", revision)).to.equal(false);
    expect(unchanged("p/", log.revision)).to.equal(true);
    log.lead({ kind: "compact-history", revision: log.revision, subject: "", request: null });
    expect(unchanged("x/", revision - 1), "what is dropped").to.equal(false);
  });

  it("see the bounds of the history as of the entry before, whatever batches are written", () => {
    const log = new AppliedLog();
    const { revision } = log;
    log.result(putOf("a", "1"));
    log.lead({ kind: "compact-history", revision: log.revision, subject: "", request: null });
    const conditions: Condition[] = [{ about: "prefix", prefix: bytesOf("p"), unchangedSince: revision - 1 }];
    log.result(transact({ conditions, success: [putOf("b", "yes")], failure: [putOf("b", "no")] }));
    expect(keysOf(log)).to.include({ b: "no" });
    const store = new MemoryStateStore();
    applyRows(machineOver(store), log.rows);
    expect(dumpOf(store)).to.deep.equal(log.dump());
  });

  it("look back 4,000 revisions at most, in one transaction", () => {
    const log = new AppliedLog();
    const { revision } = log;
    for (let at = 0; at < 4_000; at++) {
      log.result(putOf("q", "1"));
    }
    const since = (unchangedSince: number): Condition => ({ about: "prefix", prefix: bytesOf("p"), unchangedSince });
    expect(isTrue(log, since(revision))).to.equal(true);
    const twice = transact({ conditions: [since(revision + 2_000), since(revision + 1_999)] });
    expect(log.result(twice).failedCondition).to.equal(1);
    log.result(putOf("q", "1"));
    expect(isTrue(log, since(revision))).to.equal(false);
  });

  it("look back 1 MiB of changes at most", () => {
    const log = new AppliedLog();
    const { revision } = log;
    const since: Condition = { about: "prefix", prefix: bytesOf("p"), unchangedSince: revision };
    log.result(putOf("q", "x".repeat(700_000)));
    expect(isTrue(log, since)).to.equal(true);
    log.result(putOf("r", "x".repeat(700_000)));
    expect(isTrue(log, since)).to.equal(false);
  });

  it("see holds and logs", () => {
    const log = new AppliedLog();
    log.result(createLock());
    const { answer } = log.execute(acquireLock());
    const token = (answer as { hold: { token: number } }).hold.token;
    const hold = (fencingToken: number): Condition => ({ about: "hold", lockName: "l", fencingToken, rw: false });
    expect([isTrue(log, hold(token)), isTrue(log, hold(token + 1))]).to.deep.equal([true, false]);
    const events = new AppliedEventLog({}, { log });
    events.append("x");
    const last = (lastSequence: number): Condition => ({
      about: "log",
      logId: events.logId,
      operator: "=",
      lastSequence,
    });
    expect([isTrue(log, last(1)), isTrue(log, last(0))]).to.deep.equal([true, false]);
    const unknown: Condition = { about: "log", logId: new Uint8Array(16), operator: "=", lastSequence: 0 };
    const refusal = log.refusal(transact({ conditions: [exists("a", false), unknown] }));
    expect([refusal.reason, refusal.details.get("operation")]).to.deep.equal(["LOG_NOT_FOUND", "compare[1]"]);
  });
});

describe("a release in a transaction", () => {
  it("takes effect with the last operation, and the next one in line gets the lock", () => {
    const log = new AppliedLog();
    addUser(log, ANNA);
    log.result(createLock());
    const { answer } = log.execute(acquireLock());
    const token = (answer as { hold: { token: number } }).hold.token;
    log.execute(acquireLock({ waitMs: 60_000 }), { principal: ANNA });
    const guard = { lockName: "l", fencingToken: token, rw: false };
    const { revision } = log.result(
      transact({ success: [releaseLock({ fencingToken: token }), putOf("a", "1", { guard })] }),
    );
    expect(keysOf(log)).to.deep.equal({ a: "1" });
    expect(readHistory(log.store, revision)?.changes.map(({ kind }) => kind)).to.deep.equal(["put", "released"]);
    expect(log.settled.map(({ outcome }) => answerText(outcome))).to.deep.equal([`token ${revision + 1}`]);
    expect(log.refusal(transact({ guard })).reason).to.equal("FENCED");
  });

  it("comes on top of the most changes of keys", () => {
    const log = new AppliedLog();
    log.result(createLock());
    const { answer } = log.execute(acquireLock());
    const release = releaseLock({ fencingToken: (answer as { hold: { token: number } }).hold.token });
    const puts = Array.from({ length: 5_000 }, (_, at) => putOf(`k${at}`, ""));
    log.result(transact({ success: puts }));
    log.result(transact({ success: puts.map((put, at) => ({ ...put, key: bytesOf(`l${at}`) })) }));
    log.result(transact({ success: [release, removeAll("")] }));
    expect(keysOf(log)).to.deep.equal({});
    expect(answerText(log.execute(acquireLock()))).to.equal(`token ${log.revision}`);
  });

  it("is refused twice, and if the caller does not have the hold", () => {
    const log = new AppliedLog();
    addUser(log, ANNA);
    log.result(createLock());
    const { answer } = log.execute(acquireLock());
    const release = releaseLock({ fencingToken: (answer as { hold: { token: number } }).hold.token });
    const { reason, details } = log.refusal(transact({ success: [release, release] }));
    expect([reason, details.get("operation")]).to.deep.equal(["NOT_LOCK_HOLDER", "success[1]"]);
    expect(log.refusal(transact({ success: [release] }), { principal: ANNA }).reason).to.equal("NOT_LOCK_HOLDER");
    log.result(transact({ success: [release] }));
  });
});

describe("the access of a transaction", () => {
  it("is to read for one that contains only reads, and to write for any other, whatever runs of it", () => {
    const log = new AppliedLog();
    addUser(log, ANNA, { role: "viewer" });
    const reads = transact({ conditions: [exists("a")], success: [transact({ failure: [read("a")] })] });
    log.result(reads, { principal: ANNA });
    for (const change of [putOf("a", ""), transact({ failure: [remove("a", true)] })]) {
      const refusal = log.refusal(transact({ ...reads, success: [change] }), { principal: ANNA });
      expect(refusal.reason).to.equal("ACCESS_DENIED");
    }
  });
});

describe("the size of a transaction", () => {
  it("is bounded by its changes: 10,000 keys, and 8 MiB before and after", () => {
    const log = new AppliedLog();
    const puts = (from: number, count: number) => Array.from({ length: count }, (_, at) => putOf(`k${from + at}`, ""));
    log.result(transact({ success: puts(0, 5_000) }));
    log.result(transact({ success: puts(5_000, 5_000) }));
    expect(log.refusal(transact({ success: [removeAll("k"), putOf("x", "")] })).reason).to.equal("TOO_LARGE");
    expect(log.result(transact({ success: [removeAll("k")] })).results).to.deep.include({
      kind: "delete-keys",
      deletedKeys: 10_000,
      revision: log.revision,
    });
    const value = "x".repeat(1024 * 1024);
    for (let at = 0; at < 9; at++) {
      log.result(putOf(`v${at}`, value));
    }
    expect(log.refusal(transact({ success: [removeAll("v")] })).reason).to.equal("TOO_LARGE");
    expect(log.progress.totals.keys).to.equal(9);
  });

  it("is bounded by the rows that it makes members write: 32 MiB", () => {
    const log = new AppliedLog();
    const value = "x".repeat(1024 * 1024);
    for (let at = 0; at < 33; at++) {
      log.result(putOf(`v${at}`, value));
    }
    const touches = Array.from({ length: 33 }, (_, at): TransactedOperation => {
      const key = bytesOf(`v${at}`);
      return { kind: "touch-key", namespace: NAMESPACE, key, ttlSeconds: 60, expectedModRevision: undefined };
    });
    log.result(transact({ success: touches.slice(0, 31) }));
    log.tickMs += 1_000;
    const { reason, details } = log.refusal(transact({ success: touches }));
    expect([reason, details.get("operation")]).to.deep.equal(["TOO_LARGE", "success[31]"]);
    expect(readKey(log.store, NAMESPACE, bytesOf("v32"))?.deadlineMs).to.equal(0);
  });

  it("is bounded by its answer: 4 MiB of values", () => {
    const log = new AppliedLog();
    log.result(putOf("v", "x".repeat(1024 * 1024)));
    log.result(transact({ success: [read("v"), read("v"), read("v")] }));
    const { reason, details } = log.refusal(transact({ success: [read("v"), read("v"), read("v"), read("v")] }));
    expect([reason, details.get("operation")]).to.deep.equal(["TOO_LARGE", "success[3]"]);
  });

  it("is bounded by the quota, which the operation that exceeds it names", () => {
    const { dataBytes } = new AppliedLog().progress;
    const log = new AppliedLog({ ...DEFAULT_STATE_LIMITS, dataBytesMax: dataBytes + 10_000 });
    const large = putOf("large", "x".repeat(10_000));
    const nested = transact({ success: [read("a"), large] });
    const { reason, details } = log.refusal(transact({ success: [putOf("a", "1"), nested] }));
    expect([reason, details.get("operation")]).to.deep.equal(["QUOTA", "success[1].transaction.success[1]"]);
    expect(keysOf(log)).to.deep.equal({});
    log.result(transact({ success: [putOf("a", "1")], failure: [large] }));
  });

  it("is one request in the usage, and counts what its operations count, also in nested ones", () => {
    const log = new AppliedLog();
    const { logId } = new AppliedEventLog({}, { log });
    const usage = () => {
      const [hour] = readUsage(log.store, "hour", 0, Number.MAX_SAFE_INTEGER);
      return { ...NO_USAGE, ...hour };
    };
    const before = usage();
    const append: TransactedOperation = {
      kind: "append-events",
      logId,
      payloads: Payloads.of([bytesOf("ab"), bytesOf("c")]),
      isBatch: true,
      idempotencyKey: "k",
      expectedSequence: undefined,
    };
    const nested = transact({ success: [increment("n", 1n), append], failure: [read("a"), read("b")] });
    log.result(transact({ success: [putOf("a", ""), read("a"), list("a"), nested], failure: [remove("a")] }));
    log.refusal(transact({ success: [putOf("b", ""), remove("absent")] }));
    const after = usage();
    const counted = Object.keys(NO_USAGE).map((name) => {
      const count = name as keyof typeof NO_USAGE;
      return [name, after[count] - before[count]];
    });
    expect(Object.fromEntries(counted)).to.deep.equal({
      ...NO_USAGE,
      requests: 2,
      kvOperations: 4,
      appendRequests: 1,
      eventsAppended: 2,
      bytesAppended: 3,
    });
  });
});
