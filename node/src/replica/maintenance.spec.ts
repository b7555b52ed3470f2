import { expect } from "chai";
import { AppliedLog } from "../../test/index.ts";
import { dueMaintenance, type MaintenanceLimits } from "./maintenance.ts";

const LIMITS: MaintenanceLimits = {
  expiriesMax: 3,
  prunesMax: 5,
  pruneDelayMs: 1_000,
  idleTickMs: 10_000,
  replayWindowMs: 300_000,
  trimsMax: 2,
  trimDelayMs: 1_000,
  history: { revisionsMax: 10, ageMsMax: 2_000_000, bytesMax: 1_000_000 },
};

describe("maintenance", () => {
  let log: AppliedLog;
  beforeEach(() => {
    log = new AppliedLog();
  });

  function put(key: string, ttlSeconds = 0): number {
    return log.result<"put-key">({
      kind: "put-key",
      namespace: "default",
      key: Buffer.from(key),
      value: Buffer.from("v"),
      ttlSeconds,
      expectedModRevision: undefined,
      returnPrevious: false,
    }).modRevision;
  }

  const due = (tickMs: number) => dueMaintenance(log.store, log.progress, tickMs, LIMITS);

  function expiredAt(tickMs: number): string[] {
    const operation = due(tickMs);
    return operation?.kind === "expire-keys" ? operation.keys.map(({ key }) => Buffer.from(key).toString()) : [];
  }

  it("proposes nothing while nothing runs out, however long", () => {
    expect(log.progress.replays).to.equal(0);
    expect(due(log.tickMs + 1e9)).to.equal(null);
  });

  it("S21: names a key when its deadline has passed and not before", () => {
    const modRevision = put("a", 2);
    expect(due(log.tickMs + 2_000), "ticks are rounded down").to.equal(null);
    expect(due(log.tickMs + 2_001)).to.deep.equal({
      kind: "expire-keys",
      keys: [{ namespace: "default", key: Buffer.from("a"), modRevision }],
    });
  });

  it("S22: names the revision that it saw, so that apply refuses what was renewed meanwhile", () => {
    put("a", 2);
    const operation = due(log.tickMs + 2_001);
    if (operation === null) {
      throw new Error("nothing is due");
    }
    put("a", 100);
    log.tickMs += 2_001;
    const before = log.revision;
    log.lead(operation);
    expect(log.revision).to.equal(before);
    expect(expiredAt(log.tickMs)).to.deep.equal([]);
  });

  it("names the earliest ones first, a bounded number at a time, until all are gone", () => {
    for (const [key, ttlSeconds] of [
      ["e", 5],
      ["a", 1],
      ["c", 3],
      ["b", 2],
      ["d", 4],
      ["later", 50],
    ] as const) {
      put(key, ttlSeconds);
    }
    log.tickMs += 5_001;
    expect(expiredAt(log.tickMs)).to.deep.equal(["a", "b", "c"]);
    log.lead(due(log.tickMs) as NonNullable<ReturnType<typeof due>>);
    expect(expiredAt(log.tickMs)).to.deep.equal(["d", "e"]);
    log.lead(due(log.tickMs) as NonNullable<ReturnType<typeof due>>);
    expect(expiredAt(log.tickMs)).to.deep.equal([]);
  });

  it("drops stored answers when their window has ended, in lots and not one by one as each ends", () => {
    for (let at = 0; at < 8; at++) {
      put(`k${at}`);
      log.tickMs += 100;
    }
    const firstMs = log.tickMs - 800;
    expect(due(firstMs + 300_000)?.kind).to.equal("tick");
    expect(due(firstMs + 301_000)?.kind).to.equal("tick");
    expect(due(firstMs + 301_001)).to.deep.equal({ kind: "prune-replays", countMax: 5 });
    log.tickMs = firstMs + 301_001;
    log.lead({ kind: "prune-replays", countMax: 5 });
    expect(log.progress.replays).to.equal(3);
    expect(due(log.tickMs), "the others ended less than a second ago").to.equal(null);
    log.tickMs += 1_000;
    log.lead(due(log.tickMs) as NonNullable<ReturnType<typeof due>>);
    expect(log.progress.replays).to.equal(0);
  });

  it("S21: logs a tick after 10 s without an entry, only while something runs out", () => {
    put("a", 3_600);
    const loggedMs = log.tickMs;
    expect(due(loggedMs + 9_999)).to.equal(null);
    expect(due(loggedMs + 10_000)).to.deep.equal({ kind: "tick" });
    log.tickMs += 10_000;
    log.lead({ kind: "tick" });
    expect(due(log.tickMs + 9_999)).to.equal(null);
    expect(due(log.tickMs + 10_000)).to.deep.equal({ kind: "tick" });
  });

  it("drops what the history keeps beyond its limits, in lots", () => {
    for (let at = 0; at < 12; at++) {
      put(`k${at}`);
    }
    expect(due(log.tickMs)).to.equal(null);
    put("k12");
    expect(due(log.tickMs)).to.deep.equal({ kind: "trim-history", countMax: 2 });
  });

  it("drops what is too old in the history, once it is so for some time", () => {
    put("k");
    expect(due(log.tickMs + 2_001_000)?.kind).to.equal("prune-replays");
    log.tickMs += 2_001_000;
    log.lead({ kind: "prune-replays", countMax: 5 });
    expect(due(log.tickMs)).to.equal(null);
    expect(due(log.tickMs + 1)?.kind).to.equal("trim-history");
  });

  it("expires before it prunes, and prunes before it ticks", () => {
    put("a", 2);
    expect(due(log.tickMs + 400_000)?.kind).to.equal("expire-keys");
    log.tickMs += 400_000;
    log.lead(due(log.tickMs) as NonNullable<ReturnType<typeof due>>);
    expect(due(log.tickMs + 20_000)?.kind).to.equal("prune-replays");
  });
});
