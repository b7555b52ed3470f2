import { expect } from "chai";
import {
  AppliedLog,
  applyRows,
  dumpOf,
  expectExactReplays,
  MemoryStateStore,
  machineOver,
  putOf,
  requestOf,
} from "../../../test/index.ts";
import { hasExpiredAnswers } from "../replay/index.ts";
import { AnswerLedger, droppedGenerations } from "./answer-ledger.ts";
import { DEFAULT_STATE_LIMITS } from "./limits.ts";
import { answerGenerationRow, answerRange } from "./rows.ts";
import type { Change, KeyRange, Row, StateReader } from "./store.ts";
import { LIVE } from "./stored-answer.ts";
import { Transaction } from "./transaction.ts";

const WINDOW_MS = DEFAULT_STATE_LIMITS.replayWindowMs;
const KEY = Buffer.from("k");

const put = (value: string) => putOf(KEY, value);

describe("dropping stored answers", () => {
  const GENERATION_MS = WINDOW_MS / 10;

  /** Answers of requests 0 and up, each in the generation after the one before. */
  function withAnswers(count: number): AppliedLog {
    const log = new AppliedLog();
    for (let id = 0; id < count; id++) {
      log.tickMs = 1_000 + id * GENERATION_MS;
      log.result(put("a"), { request: requestOf(id) });
    }
    return log;
  }

  const hasEnded = (log: AppliedLog, tickMs = log.tickMs) => hasExpiredAnswers(log.store, tickMs, WINDOW_MS);

  it("S13: removes generations whose windows have all ended, and no others", () => {
    const log = withAnswers(4);
    log.tickMs = WINDOW_MS + 2 * GENERATION_MS;
    expect(hasEnded(log)).to.equal(true);
    log.lead({ kind: "drop-replays" });
    expect(log.progress.storedAnswers).to.equal(2);
    expect(hasEnded(log)).to.equal(false);
    expect(log.execute(put("a"), { request: requestOf(2) }).replayed).to.equal("yes");
    expect(log.execute(put("a"), { request: requestOf(3) }).replayed).to.equal("yes");
    expect(log.execute(put("a"), { request: requestOf(1) }).replayed).to.equal("no");
    expectExactReplays(log.store);
  });

  it("agrees with the end of windows, to the millisecond", () => {
    const log = withAnswers(1);
    const endMs = GENERATION_MS + WINDOW_MS;
    for (const [tickMs, ended] of [
      [0, false],
      [WINDOW_MS + 1_001, false],
      [endMs - 1, false],
      [endMs, true],
    ] as const) {
      expect(hasEnded(log, tickMs)).to.equal(ended);
      log.tickMs = Math.max(tickMs, 1_000);
      log.lead({ kind: "drop-replays" });
      expect(log.progress.storedAnswers).to.equal(ended ? 0 : 1);
    }
  });

  it("leaves an answer whose own window has ended before its generation; the answer does not count", () => {
    const log = withAnswers(1);
    log.tickMs = 1_000 + WINDOW_MS + 1;
    log.lead({ kind: "drop-replays" });
    expect(log.progress.storedAnswers).to.equal(1);
    const second = log.execute(put("b"), { request: requestOf(0, 100) });
    expect([second.replayed, log.progress.storedAnswers]).to.deep.equal(["no", 2]);
    log.tickMs = GENERATION_MS + WINDOW_MS;
    log.lead({ kind: "drop-replays" });
    expect(log.progress.storedAnswers).to.equal(1);
    const again = log.execute(put("b"), { request: requestOf(0, 100) });
    expect(again).to.deep.equal({ answer: second.answer, replayed: "yes" });
    expectExactReplays(log.store);
  });

  it("S13: returns the bytes of the answers to the quota, and leaves no row", () => {
    const log = withAnswers(3);
    const bytesOfKey = KEY.length + 1;
    expect(log.progress.dataBytes).to.be.above(bytesOfKey);
    log.tickMs += WINDOW_MS + GENERATION_MS;
    log.lead({ kind: "drop-replays" });
    expect([log.progress.dataBytes, log.progress.storedAnswers]).to.deep.equal([bytesOfKey, 0]);
    expect(log.dump().filter((row) => /^[rG]/.test(row))).to.deep.equal([]);
  });

  it("is visible to later entries of the same batch, for older answers and those of the batch", () => {
    const log = withAnswers(2);
    log.tickMs += 2 * WINDOW_MS;
    log.lead({ kind: "drop-replays" });
    expect(log.execute(put("b"), { request: requestOf(0, 100) }).replayed).to.equal("no");
    expect(log.execute(put("b"), { request: requestOf(1, 101) }).replayed).to.equal("no");
    expect(log.execute(put("b"), { request: requestOf(1, 101) }).replayed).to.equal("yes");
    for (const sliceEnds of [new Set<number>(), new Set([2]), new Set([3])]) {
      const store = new MemoryStateStore();
      const machine = machineOver(store);
      const outcomes = applyRows(machine, log.rows, sliceEnds);
      expect(outcomes.slice(-3).map((outcome) => outcome?.replayed)).to.deep.equal(["no", "no", "yes"]);
      expect(dumpOf(store)).to.deep.equal(log.dump());
      expectExactReplays(store);
    }
  });

  it("is part of the digest", () => {
    const dropped = withAnswers(1);
    dropped.tickMs += 2 * WINDOW_MS;
    const kept = withAnswers(1);
    kept.tickMs = dropped.tickMs;
    dropped.lead({ kind: "drop-replays" });
    kept.lead({ kind: "tick" });
    expect(dropped.progress.digest).not.to.equal(kept.progress.digest);
  });

  it("deletes one range of rows in the store, whatever was dropped", () => {
    const log = withAnswers(5);
    log.tickMs += 2 * WINDOW_MS;
    log.lead({ kind: "drop-replays" });
    const ranges: KeyRange[] = [];
    const store = new (class extends MemoryStateStore {
      override write(changes: readonly Change[], dropped: readonly KeyRange[] = []): void {
        super.write(changes, dropped);
        ranges.push(...dropped);
      }
    })();
    applyRows(machineOver(store), log.rows, new Set(log.rows.map((_, at) => at + 1)));
    expect(ranges).to.deep.equal([answerRange(1, 5)]);
  });

  it("never lets a look-up find rows that a crash has left of a dropped generation", () => {
    const log = withAnswers(2);
    const store = new LosingStore();
    log.tickMs += GENERATION_MS * 10;
    log.lead({ kind: "drop-replays" });
    const machine = machineOver(store);
    applyRows(machine, log.rows);
    expect(rowsOf(store, "r")).to.equal(2);
    const restarted = machineOver(store);
    const again = log.execute(put("a"), { request: requestOf(0) });
    expect(again.replayed).to.equal("no");
    const [outcome] = applyRows(restarted, log.rows.slice(-1));
    expect(outcome?.replayed).to.equal("no");
    expect(droppedGenerations(store)).to.deep.equal(answerRange(1, 1));
  });
});

/** A store whose process dies, each time, before it deletes ranges. */
class LosingStore extends MemoryStateStore {
  override write(changes: readonly Change[]): void {
    super.write(changes);
  }
}

function rowsOf(store: StateReader, table: string): number {
  const [letter = 0] = Buffer.from(table);
  let count = 0;
  store.scan(Uint8Array.of(letter), Uint8Array.of(letter + 1), () => ++count > 0);
  return count;
}

describe("the filters of stored answers", () => {
  const ANSWERS = 500;
  /** Request ids of the rows at the start; other rows come before and after. */
  const ANSWERS_FROM = 1_000;

  function withMany(): AppliedLog {
    const log = new AppliedLog();
    for (let id = ANSWERS_FROM; id < ANSWERS_FROM + ANSWERS; id++) {
      log.result(put("a"), { request: requestOf(id) });
      log.tickMs += 100;
    }
    return log;
  }

  it("S13: are built in bounded steps after a start, and find everything at every step", () => {
    for (const stored of ["before the rows that are read", "after them"]) {
      const log = withMany();
      log.restart();
      let steps = 0;
      const requestAt = (step: number) => requestOf(stored === "after them" ? 1_000_000 + step : step);
      for (let goesOn = true; goesOn; steps++) {
        const id = ANSWERS_FROM + ((steps * 37) % ANSWERS);
        expect(log.execute(put("a"), { request: requestOf(id) }).replayed).to.equal("yes");
        // Stored while filters are built, in an old generation and in new ones.
        const request = requestAt(steps);
        log.result(put("a"), { request });
        expect(log.execute(put("a"), { request }).replayed).to.equal("yes");
        goesOn = log.readForFilters(10);
        expect(log.execute(put("a"), { request }).replayed).to.equal("yes");
        log.tickMs += 100;
      }
      expect(steps).to.be.above(ANSWERS / 10);
      for (let id = ANSWERS_FROM; id < ANSWERS_FROM + ANSWERS; id++) {
        expect(log.execute(put("a"), { request: requestOf(id) }).replayed).to.equal("yes");
      }
      for (let step = 0; step < steps; step++) {
        expect(log.execute(put("a"), { request: requestAt(step) }).replayed, `${stored}: ${step}`).to.equal("yes");
      }
    }
  });

  it("read a bounded number of rows in a step", () => {
    const log = withMany();
    const counting = new CountingStore();
    const machine = machineOver(counting);
    applyRows(machine, log.rows);
    const restarted = machineOver(counting);
    for (let goesOn = true; goesOn; ) {
      counting.visited = 0;
      goesOn = restarted.readForAnswerFilters(64);
      expect(counting.visited).to.be.at.most(64);
    }
  });

  it("avoid nearly all reads of absent rows, once they are complete", () => {
    const log = withMany();
    const counting = new CountingStore();
    applyRows(machineOver(counting), log.rows);
    const restarted = machineOver(counting);
    const before = log.rows.length;
    for (let id = 0; id < 1_000; id++) {
      log.result(put("a"), { request: requestOf(20_000 + id) });
    }
    const reads = (rows: readonly Uint8Array[]) => {
      counting.replayReads = 0;
      applyRows(restarted, rows);
      return counting.replayReads;
    };
    expect(reads(log.rows.slice(before, before + 500)), "without filters").to.be.at.least(500);
    expect(restarted.readForAnswerFilters(10_000)).to.equal(false);
    expect(reads(log.rows.slice(before + 500)), "with filters").to.be.at.most(100);
  });
});

describe("generation 0", () => {
  const LIVE_KEYS_MAX = 100;
  const SUBJECT = "user-owner";
  const uncounted = { countData: () => undefined, countStoredAnswers: () => undefined };
  const stored = { payloadHash: new Uint8Array(32), tickMs: LIVE, stripped: false, answer: Uint8Array.of(1) };
  let store: CountingStore;
  let transaction: Transaction;
  let ledger: AnswerLedger;

  beforeEach(() => {
    store = new CountingStore();
    transaction = new Transaction(store, () => 0, 0);
    ledger = new AnswerLedger(transaction, store, WINDOW_MS, [1, 2], LIVE_KEYS_MAX);
  });

  const find = (id: number) => ledger.find(SUBJECT, requestOf(id).requestId, 1_000);
  const isLive = (id: number) => find(id).stored?.tickMs === LIVE;
  const begin = (id: number) => ledger.put(uncounted, find(id), stored);
  const end = (id: number) => {
    const place = ledger.findLive(SUBJECT, requestOf(id).requestId);
    ledger.put(uncounted, place, { ...stored, tickMs: 1_000 });
  };
  const commit = () => {
    ledger.flush();
    store.write(transaction.take(), ledger.takeDropped());
  };

  it("S24: contains rows without a window, until each moves to the generation of its end", () => {
    begin(1);
    begin(2);
    commit();
    end(1);
    expect([isLive(1), isLive(2)]).to.deep.equal([false, true]);
    expect([find(1).generation, find(1).stored?.tickMs]).to.deep.equal([1, 1_000]);
    commit();
    expect([rowsIn(0), rowsIn(1), ledger.count]).to.deep.equal([1, 1, 2]);
    end(2);
    commit();
    expect([rowsIn(0), rowsIn(1), ledger.count]).to.deep.equal([0, 2, 2]);
    expect(store.get(answerGenerationRow(0)), "an empty generation has no totals").to.equal(undefined);
  });

  function rowsIn(generation: number): number {
    const { from, to } = answerRange(generation, generation);
    let count = 0;
    store.scan(from, to, () => ++count > 0);
    return count;
  }

  it("S24: finds everything while it is too large for memory, and when it is smaller again", () => {
    for (let id = 0; id <= LIVE_KEYS_MAX; id++) {
      begin(id);
    }
    commit();
    store.replayReads = 0;
    expect([isLive(0), isLive(LIVE_KEYS_MAX), isLive(LIVE_KEYS_MAX + 1)]).to.deep.equal([true, true, false]);
    expect(store.replayReads, "absent rows are read").to.equal(3);
    for (let id = LIVE_KEYS_MAX; id > 10; id--) {
      end(id);
    }
    begin(LIVE_KEYS_MAX + 7);
    commit();
    begin(5_000_000);
    for (let goesOn = true; goesOn; goesOn = ledger.readForFilters(4)) {
      expect([0, 10, LIVE_KEYS_MAX + 7, 5_000_000].map(isLive)).to.deep.equal([true, true, true, true]);
      expect(isLive(11)).to.equal(false);
    }
    commit();
    store.replayReads = 0;
    expect(isLive(6_000_000)).to.equal(false);
    expect(store.replayReads, "the set is back in memory").to.equal(0);
    expect([0, 10, LIVE_KEYS_MAX + 7, 5_000_000].map(isLive)).to.deep.equal([true, true, true, true]);
  });
});

/** Counts the rows of answers that are read. */
class CountingStore extends MemoryStateStore {
  visited = 0;
  replayReads = 0;

  override get(key: Uint8Array): Uint8Array | undefined {
    this.replayReads += key[0] === 0x72 ? 1 : 0;
    return super.get(key);
  }

  override scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    super.scan(from, to, (row) => {
      this.visited++;
      return visit(row);
    });
  }
}
