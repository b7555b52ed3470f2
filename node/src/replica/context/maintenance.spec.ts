import { expect } from "chai";
import { AppliedEventLog, AppliedLog } from "../../../test/index.ts";
import { DEFAULT_STATE_LIMITS, type StateReader } from "../../state/index.ts";
import { Maintenance, type MaintenanceLimits } from "./maintenance.ts";

const LIMITS: MaintenanceLimits = {
  expiriesMax: 3,
  lockTimersMax: 3,
  sessionsMax: 3,
  sessionObjectsMax: 5,
  prunesMax: 5,
  erasuresMax: 4,
  namespaceRowsMax: 8,
  namespacePauseMs: 50,
  duplicatesMax: 6,
  retentionMax: 7,
  pruneDelayMs: 1_000,
  idleTickMs: 10_000,
  replayWindowMs: 300_000,
  trimsMax: 2,
  trimDelayMs: 1_000,
  history: { revisionsMax: 10, ageMsMax: 2_000_000, bytesMax: 1_000_000 },
  versionRaiseMs: 60_000,
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

  /** A region with ten pages. */
  function writtenRegion() {
    const { regionId } = log.result<"allocate-memory">({
      kind: "allocate-memory",
      namespace: "default",
      sizeBytes: 1024 * 1024,
      label: "",
    });
    const region = { namespace: "default", regionId, expectedVersion: undefined };
    log.result({ kind: "write-memory", ...region, offset: 0, data: new Uint8Array(40_960).fill(1) });
    return region;
  }

  const due = (tickMs: number) => new Maintenance(log.store, LIMITS).due(log.progress, tickMs);

  function expiredAt(tickMs: number): string[] {
    const operation = due(tickMs);
    return operation?.kind === "expire-keys" ? operation.keys.map(({ key }) => Buffer.from(key).toString()) : [];
  }

  it("proposes nothing while nothing runs out, however long", () => {
    expect(log.progress.storedAnswers).to.equal(0);
    expect(due(log.tickMs + 1e9)).to.equal(null);
  });

  it("erases deleted namespaces step by step, with pauses, and what other steps must erase before", () => {
    log.result({ kind: "create-namespace", namespace: "going" });
    const { regionId } = writtenRegion();
    log.result({ kind: "free-memory", namespace: "default", regionId, expectedVersion: undefined });
    const maintenance = new Maintenance(log.store, LIMITS);
    const next = (tickMs: number) => maintenance.due(log.progress, tickMs)?.kind ?? null;
    log.result({ kind: "delete-namespace", namespace: "going", recursive: false });
    while (next(log.tickMs) === "erase-memory") {
      log.lead({ kind: "erase-memory", rowsMax: LIMITS.erasuresMax });
    }
    expect(maintenance.due(log.progress, log.tickMs + 60)).to.deep.equal({ kind: "erase-namespaces", rowsMax: 8 });
    expect(next(log.tickMs + 60 + 49)).to.equal(null);
    expect(next(log.tickMs + 60 + 50)).to.equal("erase-namespaces");
    log.lead({ kind: "erase-namespaces", rowsMax: 8 });
    log.lead({ kind: "erase-namespaces", rowsMax: 8 });
    expect(next(log.tickMs + 1_000)).to.equal(null);
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

  it("drops a generation of stored answers once all of its windows have ended, and those that follow later", () => {
    for (let at = 0; at < 8; at++) {
      put(`k${at}`);
      log.tickMs += 15_000;
    }
    expect(due(330_999)?.kind).to.equal("tick");
    expect(due(331_000)).to.deep.equal({ kind: "drop-replays" });
    log.tickMs = 331_000;
    log.lead({ kind: "drop-replays" });
    expect(log.progress.storedAnswers).to.equal(6);
    expect(due(log.tickMs)).to.equal(null);
    log.tickMs = 331_000 + 2 * 30_000;
    log.lead(due(log.tickMs) as NonNullable<ReturnType<typeof due>>);
    expect(log.progress.storedAnswers).to.equal(2);
    log.tickMs += 30_000;
    log.lead(due(log.tickMs) as NonNullable<ReturnType<typeof due>>);
    expect(log.progress.storedAnswers).to.equal(0);
  });

  it("drops short generations in lots, and not one by one as each ends", () => {
    const replayWindowMs = 2_000;
    log = new AppliedLog({ ...DEFAULT_STATE_LIMITS, replayWindowMs });
    const dueMs: number[] = [];
    for (let at = 0; at < 100; at++) {
      put(`k${at}`);
      log.tickMs += 100;
      const operation = new Maintenance(log.store, { ...LIMITS, replayWindowMs }).due(log.progress, log.tickMs);
      if (operation?.kind === "drop-replays") {
        dueMs.push(log.tickMs);
        log.lead(operation);
      }
    }
    const [firstMs = 0, ...others] = dueMs;
    expect(others).to.deep.equal([1, 2, 3, 4, 5].map((second) => firstMs + second * 1_200));
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

  it("erases what was freed in bounded steps until nothing is left, and however long nothing else happens", () => {
    const region = writtenRegion();
    expect(due(log.tickMs)).to.equal(null);
    log.result({ kind: "free-memory", ...region });
    const step = { kind: "erase-memory", rowsMax: 4 } as const;
    for (let left = 3; left > 0; left--) {
      expect(due(log.tickMs)).to.deep.equal(step);
      log.lead(step);
    }
    expect(due(log.tickMs)).to.equal(null);
  });

  it("S21, S22: names what runs out about locks, a bounded number at a time, until nothing does", () => {
    const lock = { namespace: "default", rw: false, name: "l" };
    const acquire = { namespace: "default", name: "l", mode: "exclusive", ttlSeconds: 2, owner: "" } as const;
    log.execute({ kind: "create-lock", ...lock, ttlSeconds: 30, lockDelaySeconds: 1 });
    log.execute({ kind: "acquire-lock", ...acquire, waitMs: 0, fencingToken: 0 });
    for (let wait = 0; wait < 3; wait++) {
      log.execute({ kind: "acquire-lock", ...acquire, waitMs: 1_999, fencingToken: 0 });
    }
    const loggedMs = log.tickMs;
    expect(due(loggedMs + 1_999)).to.equal(null);
    const first = due(loggedMs + 2_001);
    expect(first?.kind === "expire-locks" && first.timers.map(({ about }) => about)).to.deep.equal(
      Array(3).fill("wait"),
    );
    log.tickMs += 2_001;
    const done: (string | undefined)[] = [];
    for (let round = 0; round < 10; round++) {
      const operation = due(log.tickMs);
      done.push(operation?.kind);
      if (operation === null) {
        log.tickMs += 500;
      } else {
        log.lead(operation);
      }
    }
    expect(done.filter((kind) => kind !== undefined)).to.deep.equal(Array(3).fill("expire-locks"));
    expect(log.progress.lockTimers).to.equal(0);
  });

  it("S21: logs a tick after 10 s without an entry, also while nothing but a lock is held or a session lives", () => {
    const quiet = { ...LIMITS, replayWindowMs: Number.MAX_SAFE_INTEGER };
    const { progress } = log;
    expect(new Maintenance(log.store, quiet).due(progress, log.tickMs + 10_000)).to.equal(null);
    const held = { ...progress, lockTimers: 1 };
    const living = { ...progress, totals: { ...progress.totals, sessions: 1 } };
    for (const some of [held, living]) {
      expect(new Maintenance(log.store, quiet).due(some, log.tickMs + 10_000)).to.deep.equal({ kind: "tick" });
    }
  });

  it("S21: forgets keys of events and removes events when it is time, and ticks while that is to come", () => {
    const events = new AppliedEventLog({ duplicateWindowSecs: 10, retentionMaxAgeSecs: 20 }, { log });
    events.append("a", { idempotencyKey: "k" });
    const loggedMs = log.tickMs;
    expect(due(loggedMs + 9_999)).to.equal(null);
    expect(due(loggedMs + 11_000)).to.deep.equal({ kind: "tick" });
    expect(due(loggedMs + 11_001)).to.deep.equal({ kind: "prune-duplicates", countMax: 6 });
    log.tickMs += 11_001;
    log.lead({ kind: "prune-duplicates", countMax: 6 });
    expect(due(loggedMs + 21_000)).to.equal(null);
    expect(due(loggedMs + 21_001)).to.deep.equal({ kind: "apply-retention", rowsMax: 7 });
    log.tickMs += 10_000;
    log.lead({ kind: "apply-retention", rowsMax: 7 });
    expect(events.texts).to.deep.equal([]);
    expect(due(log.tickMs + 1e9)).to.equal(null);
  });

  it("erases what deleted logs have left, and looks for nothing when there is nothing", () => {
    const events = new AppliedEventLog({}, { log });
    events.append("a");
    events.append("b");
    log.result({ kind: "delete-log", logId: events.logId });
    expect(due(log.tickMs)).to.deep.equal({ kind: "erase-logs", rowsMax: 4 });
    log.lead({ kind: "erase-logs", rowsMax: 4 });
    expect(due(log.tickMs)).to.equal(null);
    const looked: string[] = [];
    const watched: StateReader = {
      get: (key) => log.store.get(key),
      scan: (from, to, visit) => {
        looked.push(String.fromCharCode(from[0] ?? 0));
        log.store.scan(from, to, visit);
      },
    };
    expect(new Maintenance(watched, LIMITS).due(log.progress, log.tickMs + 1e9)).to.equal(null);
    expect(
      looked.filter((table) => "TRF".includes(table)),
      "the tables of logs",
    ).to.deep.equal([]);
  });

  it("looks for what only an entry can leave once for each entry, and finds it behind the next one", () => {
    const looked: string[] = [];
    const watched: StateReader = {
      get: (key) => log.store.get(key),
      scan: (from, to, visit) => {
        looked.push(String.fromCharCode(from[0] ?? 0));
        log.store.scan(from, to, visit);
      },
    };
    const maintenance = new Maintenance(watched, LIMITS);
    put("a");
    expect(maintenance.due(log.progress, log.tickMs)).to.equal(null);
    expect(looked, "usage and memory").to.include.members(["U", "f"]);
    looked.length = 0;
    expect(maintenance.due(log.progress, log.tickMs)).to.equal(null);
    expect(looked).to.deep.equal([]);
    log.result({ kind: "free-memory", ...writtenRegion() });
    expect(maintenance.due(log.progress, log.tickMs)).to.deep.equal({ kind: "erase-memory", rowsMax: 4 });
    expect(maintenance.due(log.progress, log.tickMs), "until it is erased").to.include({ kind: "erase-memory" });
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
    expect(due(log.tickMs + 2_001_000)?.kind).to.equal("drop-replays");
    log.tickMs += 2_001_000;
    log.lead({ kind: "drop-replays" });
    expect(due(log.tickMs)).to.equal(null);
    expect(due(log.tickMs + 1)?.kind).to.equal("trim-history");
  });

  it("expires before it prunes, and prunes before it ticks", () => {
    put("a", 2);
    expect(due(log.tickMs + 400_000)?.kind).to.equal("expire-keys");
    log.tickMs += 400_000;
    log.lead(due(log.tickMs) as NonNullable<ReturnType<typeof due>>);
    expect(due(log.tickMs + 20_000)?.kind).to.equal("drop-replays");
  });
});
