import { expect } from "chai";
import {
  AppliedEventLog,
  applyRows,
  dumpOf,
  MemoryStateStore,
  machineOver,
  OWNER,
  putOf,
  releaseLock,
  requestOf,
} from "../../test/index.ts";
import { InvariantViolation } from "../primitives/index.ts";
import { entryPayload } from "../raft/index.ts";
import { decodeCommand, decodeInSteps, encodeCommand } from "./command.ts";
import { allAtOnce, type Outcome } from "./core/index.ts";
import { mayBeLong } from "./machine.ts";
import type { Condition, Transact, TransactedOperation } from "./transactions/index.ts";

/** As many events as make an entry long, even if they are empty. */
const MANY = 70_000;
const LONG_ENTRY_BYTES = 64 * 1024;
/** Single keys within the batch, each in its own row: more rows than one step reads. */
const SINGLES = 600;
const SPACING = 100;

const empty = (count: number): string[] => new Array<string>(count).fill("");

/** A log with a batch whose keys are already stored, as single keys and by a shorter batch, and with its retry. */
function overlapping(): AppliedEventLog {
  const events = new AppliedEventLog({ duplicateWindowSecs: 60 });
  events.appendBatch("k", empty(5));
  for (let at = 0; at < SINGLES; at++) {
    events.append("x", { idempotencyKey: `k:${at * SPACING}` });
  }
  events.appendBatch("k", empty(MANY));
  events.appendBatch("k", empty(MANY));
  return events;
}

describe("an entry that is applied in steps", () => {
  it("S44: has the same outcome and state as in one go, and shows nothing before its end", () => {
    const { log } = overlapping();
    const { rows } = log;
    const longs = rows.filter((row) => mayBeLong(row, LONG_ENTRY_BYTES));
    expect(longs).to.have.length(2);
    const store = new MemoryStateStore();
    const machine = machineOver(store);
    applyRows(machine, rows.slice(0, -2));
    const whole = new MemoryStateStore();
    const outcomes = applyRows(machineOver(whole), rows).slice(-2);
    expect(dumpOf(whole)).to.deep.equal(log.dump());
    for (const [at, row] of longs.entries()) {
      const before = machine.progress;
      const steps = machine.applyInSteps(row);
      let count = 0;
      let outcome: Outcome | null = null;
      while (outcome === null) {
        count++;
        outcome = steps.next().value ?? null;
        expect(machine.progress).to.equal(before);
      }
      // The offsets, the rows of keys, the sequences, the rows of new events, and the remembered keys.
      expect(count, "steps").to.be.above(at === 0 ? 80 : 10);
      expect(outcome).to.deep.equal(outcomes[at]);
      machine.commit();
    }
    expect(dumpOf(store)).to.deep.equal(dumpOf(whole));
    expect(outcomes.map((outcome) => outcome?.replayed)).to.deep.equal(["no", "yes"]);
  });

  it("gets its stored answer if it is sent again, and the refusal of another one under its request id", () => {
    const events = new AppliedEventLog();
    const { log } = events;
    const batch = { isBatch: true, idempotencyKey: "k" };
    const asked = [
      events.operation(empty(MANY), batch),
      events.operation(empty(MANY), batch),
      events.operation(empty(MANY - 1), batch),
    ];
    for (const [at, operation] of asked.entries()) {
      log.execute(operation, { request: requestOf(1, at === 2 ? 2 : 1) });
    }
    const machine = machineOver(new MemoryStateStore());
    applyRows(machine, log.rows.slice(0, -3));
    const [first, again, other] = log.rows.slice(-3).map((row) => {
      expect(mayBeLong(row, LONG_ENTRY_BYTES)).to.equal(true);
      const outcome = allAtOnce(machine.applyInSteps(row));
      machine.commit();
      return outcome;
    });
    expect(first?.replayed).to.equal("no");
    expect(again).to.deep.equal({ answer: first?.answer, replayed: "yes" });
    expect(other?.answer).to.deep.include({ reason: "REQUEST_ID_REUSED" });
    expect(machine.progress).to.deep.equal(log.progress);
  });

  it("is refused as in one go", () => {
    const events = new AppliedEventLog();
    const conflicting = { isBatch: true, idempotencyKey: "k", expectedSequence: 7n };
    const nowhere = { isBatch: true, idempotencyKey: "k", logId: new Uint8Array(16) };
    for (const changes of [conflicting, nowhere]) {
      const { log } = events;
      const before = log.rows.length;
      const outcome = log.execute(events.operation(empty(MANY), changes));
      const machine = machineOver(new MemoryStateStore());
      applyRows(machine, log.rows.slice(0, before));
      const row = log.rows[before] as Uint8Array;
      expect(mayBeLong(row, LONG_ENTRY_BYTES)).to.equal(true);
      const stepped = allAtOnce(machine.applyInSteps(row));
      expect(stepped?.answer).to.deep.include({ reason: (outcome.answer as { reason: string }).reason });
      machine.commit();
      expect(machine.progress.digest).to.equal(log.progress.digest);
    }
  });

  it("is complete before another one is applied, and before it is committed", () => {
    const events = new AppliedEventLog();
    const { log } = events;
    events.appendBatch("k", empty(MANY));
    const row = log.rows.at(-1) as Uint8Array;
    const machine = machineOver(new MemoryStateStore());
    applyRows(machine, log.rows.slice(0, -1));
    const steps = machine.applyInSteps(row);
    steps.next();
    expect(() => machine.apply(row, () => expect.fail())).to.throw(InvariantViolation, "is complete");
    expect(() => machine.commit()).to.throw(InvariantViolation, "is complete");
    expect(allAtOnce(steps)?.answer).to.include({ kind: "append-events" });
    machine.commit();
    expect(machine.progress).to.deep.equal(log.progress);
  });

  it("is an append of very many bytes, and no other entry", () => {
    const events = new AppliedEventLog();
    const { log } = events;
    events.append("x".repeat(64 * 1024));
    events.append("x");
    const value = new Uint8Array(128 * 1024);
    log.result({
      kind: "put-key",
      namespace: "default",
      key: Buffer.from("k"),
      value,
      ttlSeconds: 0,
      expectedModRevision: undefined,
      returnPrevious: false,
    });
    expect(log.rows.map((row) => mayBeLong(row, LONG_ENTRY_BYTES))).to.deep.equal([false, false, true, false, false]);
  });

  it("is decoded as in one go, and refused if it is damaged", () => {
    const events = new AppliedEventLog();
    events.appendBatch("k", empty(MANY));
    const payload = entryPayload(events.log.rows.at(-1) as Uint8Array);
    expect(allAtOnce(decodeInSteps(payload))).to.deep.equal(decodeCommand(payload));
    events.log.execute(events.operation(empty(MANY), { isBatch: true, idempotencyKey: "k" }), {
      request: requestOf(1),
    });
    const asked = entryPayload(events.log.rows.at(-1) as Uint8Array);
    expect(allAtOnce(decodeInSteps(asked)).request).to.deep.equal(requestOf(1));
    const long = payload.slice();
    long[payload.length - 10] = 1;
    for (const damaged of [payload.subarray(0, -1), Uint8Array.of(...payload.subarray(0, 1), 200), long]) {
      expect(() => allAtOnce(decodeInSteps(damaged))).to.throw(InvariantViolation);
    }
    const [format, ...rest] = payload;
    expect(() => allAtOnce(decodeInSteps(Uint8Array.of((format as number) + 2, ...rest)))).to.throw("known format");
  });

  it("is a transaction of any size, which is decoded as it was encoded", () => {
    const key = Buffer.from("k");
    const guard = { lockName: "l", fencingToken: 4, rw: false };
    const conditions: Condition[] = [
      { about: "key-number", key, of: "version", operator: ">", number: 3 },
      { about: "key-value", key, operator: "<", value: key },
      { about: "prefix", prefix: key, unchangedSince: 9 },
      { about: "hold", ...guard },
      { about: "log", logId: new Uint8Array(16).fill(7), operator: "!=", lastSequence: 2 },
    ];
    const namespace = "default";
    const success: TransactedOperation[] = [
      putOf("a", "b", { guard }),
      { kind: "increment-key", namespace, key, delta: -3n, ttlSeconds: 9 },
      { kind: "list-keys", namespace, prefix: key, after: key, entriesMax: 7, keysOnly: true },
      { kind: "transact", namespace, conditions, success: [releaseLock()], failure: [putOf("c", "d")] },
    ];
    const operation: Transact = { kind: "transact", namespace, conditions, guard, success, failure: success };
    const payload = encodeCommand({ principal: OWNER, request: requestOf(1), operation });
    const command = decodeCommand(payload);
    expect(encodeCommand(command)).to.deep.equal(payload);
    expect(allAtOnce(decodeInSteps(payload))).to.deep.equal(command);
    const decoded = command.operation as Transact;
    expect(decoded.conditions.map(({ about }) => about)).to.deep.equal(conditions.map(({ about }) => about));
    expect(decoded.success.map(({ kind }) => kind)).to.deep.equal(success.map(({ kind }) => kind));
  });
});
