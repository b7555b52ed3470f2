import { expect } from "chai";
import {
  AppliedEventLog,
  AppliedLog,
  applyRows,
  dumpOf,
  MemoryStateStore,
  machineOver,
  StoreWithTombstones,
} from "../../../test/index.ts";
import { eventCountOf } from "./log-rows.ts";

/** Rows of events, keys, timers and erasures of logs. */
function rowsOf(log: AppliedLog): string[] {
  return log.dump().filter((row) => /^[DEFLNRT]/.test(row));
}

function bounds(events: AppliedEventLog) {
  const { stored } = events;
  return [stored.firstSequence, stored.lastSequence, eventCountOf(stored), stored.sizeBytes];
}

describe("retention by age", () => {
  it("removes what is older than the limit, by cluster tick, never early", () => {
    const events = new AppliedEventLog({ retentionMaxAgeSecs: 10 });
    events.append("a");
    events.pass(3_000);
    events.appendBatch("b", ["bb", "cc"]);
    events.log.wallMs += 1e9;
    events.pass(7_000);
    expect(events.texts, "ticks are rounded down").to.deep.equal(["1 a", "2 bb", "3 cc"]);
    events.pass(1);
    expect(events.texts).to.deep.equal(["2 bb", "3 cc"]);
    expect(bounds(events)).to.deep.equal([2, 3, 2, 4]);
    events.pass(3_000);
    expect(bounds(events)).to.deep.equal([4, 3, 0, 0]);
    expect(events.append("d")).to.equal("4");
    expect(bounds(events)).to.deep.equal([4, 4, 1, 1]);
  });

  it("is decided in apply: a proposal that comes too early removes nothing", () => {
    const events = new AppliedEventLog({ retentionMaxAgeSecs: 10 });
    events.append("a");
    events.log.tickMs += 10_000;
    events.log.lead({ kind: "apply-retention", rowsMax: 100 });
    expect(events.texts).to.deep.equal(["1 a"]);
  });

  it("S21: is not early either if something else is removed at that very tick", () => {
    const events = new AppliedEventLog({ retentionMaxAgeSecs: 10, retentionMaxBytes: 3 });
    events.append("a");
    events.append("b");
    events.log.tickMs += 5_000;
    events.append("cc");
    events.log.tickMs += 5_000;
    events.log.lead({ kind: "apply-retention", rowsMax: 100 });
    expect(events.texts).to.deep.equal(["2 b", "3 cc"]);
  });

  it("begins and ends with the setting", () => {
    const events = new AppliedEventLog();
    events.append("a");
    events.pass(100_000);
    expect(events.log.progress.logTimers).to.equal(0);
    events.append("b");
    events.change({ retentionMaxAgeSecs: 50 });
    expect(events.log.progress.logTimers).to.equal(1);
    events.change({ retentionMaxAgeSecs: null });
    events.pass(100_000);
    expect(events.texts).to.deep.equal(["1 a", "2 b"]);
    events.change({ retentionMaxAgeSecs: 150 });
    events.pass(0);
    expect(events.texts).to.deep.equal(["2 b"]);
  });
});

describe("retention by size", () => {
  it("removes the oldest events until the rest is within the limit, also within a batch, and nothing more", () => {
    const events = new AppliedEventLog({ retentionMaxBytes: 10 });
    events.appendBatch("b", ["aaaa", "bbbb", "", "cc"]);
    events.pass(1_000);
    expect(bounds(events)).to.deep.equal([1, 4, 4, 10]);
    events.append("ddd");
    events.pass(1);
    expect(events.texts).to.deep.equal(["2 bbbb", "3 ", "4 cc", "5 ddd"]);
    expect(bounds(events)).to.deep.equal([2, 5, 4, 9]);
    expect(events.events.map(({ idempotencyKey }) => idempotencyKey)).to.deep.equal(["b:1", "b:2", "b:3", null]);
    events.append("e".repeat(11));
    events.pass(1);
    expect(bounds(events), "an event that is too large alone is removed as well").to.deep.equal([7, 6, 0, 0]);
    expect(events.append("f")).to.equal("7");
  });

  it("keeps a due timer while the log grows on", () => {
    const events = new AppliedEventLog({ retentionMaxBytes: 1 });
    events.append("aa");
    const { retentionDueMs } = events.stored;
    events.log.tickMs += 500;
    events.append("bb");
    expect(events.stored.retentionDueMs).to.equal(retentionDueMs);
  });

  it("S44: goes step by step, and is correct after each", () => {
    const events = new AppliedEventLog({ retentionMaxBytes: 2 });
    for (const payload of ["aa", "bb", "cc", "dd"]) {
      events.append(payload);
    }
    events.log.tickMs++;
    const seen: unknown[] = [];
    for (let step = 0; step < 4; step++) {
      events.log.lead({ kind: "apply-retention", rowsMax: 1 });
      seen.push([events.stored.firstSequence, events.stored.sizeBytes, events.texts.length]);
    }
    expect(seen).to.deep.equal([
      [2, 6, 3],
      [3, 4, 2],
      [4, 2, 1],
      [4, 2, 1],
    ]);
    expect(events.log.progress.logTimers).to.equal(0);
  });

  it("S44: counts the bytes that it reads, also if the first event that stays is large", () => {
    const log = new AppliedLog();
    const logs = Array.from({ length: 12 }, (_, at) => {
      const events = new AppliedEventLog({ retentionMaxBytes: 1024 * 1024 }, { log, name: `log-${at}` });
      events.append("a");
      events.append("b".repeat(1024 * 1024));
      return events;
    });
    log.tickMs++;
    log.lead({ kind: "apply-retention", rowsMax: 256 });
    const trimmed = () => logs.filter(({ stored }) => stored.firstSequence === 2).length;
    expect(trimmed(), "8 MiB of large events").to.equal(8);
    log.lead({ kind: "apply-retention", rowsMax: 256 });
    expect(trimmed()).to.equal(12);
  });

  it("takes the log that is due first, and then others", () => {
    const log = new AppliedLog();
    const logs = ["a", "b", "c"].map((name) => new AppliedEventLog({ retentionMaxBytes: 1 }, { log, name }));
    for (const events of logs.toReversed()) {
      events.append("xx");
      log.tickMs++;
    }
    log.lead({ kind: "apply-retention", rowsMax: 2 });
    expect(logs.map(({ texts }) => texts.length)).to.deep.equal([1, 0, 0]);
  });
});

describe("keys of events", () => {
  it("are forgotten when their window has ended, not before, and leave nothing behind", () => {
    const events = new AppliedEventLog({ duplicateWindowSecs: 10 });
    events.append("a", { idempotencyKey: "k" });
    events.appendBatch("b", ["b", "c"]);
    expect(events.log.progress.logTimers).to.equal(2);
    events.pass(10_000);
    expect(rowsOf(events.log).filter((row) => /^[DT]/.test(row))).to.have.length(4);
    events.pass(1);
    expect(rowsOf(events.log).filter((row) => /^[DT]/.test(row))).to.deep.equal([]);
    expect(events.log.progress.logTimers).to.equal(0);
  });

  it("of one batch that came at different times are forgotten each at its time", () => {
    const events = new AppliedEventLog({ duplicateWindowSecs: 10 });
    events.appendBatch("b", ["a"]);
    events.pass(6_000);
    events.appendBatch("b", ["a", "b"]);
    events.pass(4_001);
    expect(events.append("a", { idempotencyKey: "b:0" })).to.equal("3");
    expect(events.append("b", { idempotencyKey: "b:1" })).to.equal("again 2");
    expect(events.appendBatch("b", ["a", "b"])).to.equal("again 3 2");
  });

  it("are kept for a window that was made longer, and counted equally after every restart", () => {
    const events = new AppliedEventLog({ duplicateWindowSecs: 10 });
    events.append("a", { idempotencyKey: "k" });
    events.change({ duplicateWindowSecs: 100 });
    events.pass(50_000);
    expect(events.append("a", { idempotencyKey: "k" })).to.equal("again 1");
    events.pass(50_001);
    expect(events.append("a", { idempotencyKey: "k" })).to.equal("2");
  });

  it("S03: are in the state, so a member that starts from it, or leads, knows them", () => {
    const events = new AppliedEventLog();
    events.append("a", { idempotencyKey: "k" });
    events.appendBatch("b", ["b", "c"]);
    const { rows } = events.log;
    // A member that has installed a snapshot, and applies the entries after it.
    const store = new MemoryStateStore();
    applyRows(machineOver(store), rows);
    expect(events.append("a", { idempotencyKey: "k" })).to.equal("again 1");
    expect(events.appendBatch("b", ["b", "c"])).to.equal("again 2 3");
    const restarted = machineOver(store);
    const outcomes = applyRows(restarted, rows.slice(-2));
    expect(outcomes.map((outcome) => outcome?.replayed)).to.deep.equal(["yes", "yes"]);
    expect(dumpOf(store)).to.deep.equal(events.log.dump());
  });
});

describe("a deleted event log", () => {
  it("is gone at once, and its rows step by step, with every counted byte", () => {
    const log = new AppliedLog();
    const kept = new AppliedEventLog({}, { log, name: "kept" });
    kept.append("x", { idempotencyKey: "k" });
    const before = rowsOf(log);
    const { eventBytes, logTimers } = log.progress;
    const events = new AppliedEventLog({ retentionMaxAgeSecs: 10 }, { log });
    for (let count = 0; count < 5; count++) {
      events.append("a", { idempotencyKey: `k${count}` });
    }
    log.result({ kind: "delete-log", logId: events.logId });
    expect(events.append("a")).to.equal("LOG_NOT_FOUND");
    expect([log.progress.logs, log.progress.logErasures]).to.deep.equal([1, 1]);
    const left: number[] = [];
    while (log.progress.logErasures > 0) {
      const rows = rowsOf(log).length;
      log.lead({ kind: "erase-logs", rowsMax: 4 });
      left.push(rows - rowsOf(log).length);
    }
    // A key goes with its timer; the last step removes the row that names the log.
    expect(left).to.deep.equal([4, 1 + 3 * 2, 2 * 2 + 1]);
    expect(rowsOf(log)).to.deep.equal(before);
    expect(log.progress).to.include({ eventBytes, logTimers });
    expect(kept.texts).to.deep.equal(["1 x"]);
  });

  it("S44: is erased from the end of the last step, without passing the rows deleted before", () => {
    const events = new AppliedEventLog({ retentionMaxBytes: 20 });
    for (let count = 0; count < 40; count++) {
      events.append("a", { idempotencyKey: `k${count}` });
    }
    events.pass(1);
    events.log.result({ kind: "delete-log", logId: events.logId });
    const before = events.log.rows.length;
    while (events.log.progress.logErasures > 0) {
      events.log.lead({ kind: "erase-logs", rowsMax: 4 });
    }
    const store = new StoreWithTombstones("DE");
    const machine = machineOver(store);
    const ends = new Set(events.log.rows.map((_, at) => at + 1));
    applyRows(machine, events.log.rows.slice(0, before), ends);
    store.steppedOver = 0;
    applyRows(machine, events.log.rows.slice(before), ends);
    expect(store.steppedOver).to.equal(0);
    expect(dumpOf(store)).to.deep.equal(events.log.dump());
    expect(rowsOf(events.log)).to.deep.equal([]);
  });

  it("leaves nothing to erase if nothing was appended", () => {
    const events = new AppliedEventLog();
    events.log.result({ kind: "delete-log", logId: events.logId });
    expect(events.log.progress.logErasures).to.equal(0);
    expect(rowsOf(events.log)).to.deep.equal([]);
  });

  it("has its keys pruned also while it is being erased", () => {
    const events = new AppliedEventLog({ duplicateWindowSecs: 1 });
    events.append("a", { idempotencyKey: "k" });
    events.log.result({ kind: "delete-log", logId: events.logId });
    events.pass(1_001);
    expect(events.log.progress.logTimers).to.equal(0);
    events.log.lead({ kind: "erase-logs", rowsMax: 100 });
    expect(rowsOf(events.log)).to.deep.equal([]);
    expect(events.log.progress.eventBytes).to.equal(0);
  });
});
