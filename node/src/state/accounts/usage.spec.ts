import { expect } from "chai";
import {
  AppliedLock,
  AppliedLog,
  applyRows,
  createApiKey,
  createUser,
  dumpOf,
  FOUNDING,
  MemoryStateStore,
  machineOver,
  OWNER,
  requestOf,
  StoreWithTombstones,
  TOKEN_SHA256,
} from "../../../test/index.ts";
import { NO_USAGE, type UsageCounts } from "../core/index.ts";
import type { PutKey } from "../keys/index.ts";
import { readApiKey } from "./principals.ts";
import { isUsageDue, type PrincipalUsage, readUsage, scanPrincipalUsage, sumOf } from "./usage.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FOR_EVER = Number.MAX_SAFE_INTEGER;
/** An hour that is the first of a day. */
const DAY_START_MS = 21_000 * DAY_MS;

function put(value = "v"): PutKey {
  return {
    kind: "put-key",
    namespace: "default",
    key: Buffer.from("k"),
    value: Buffer.from(value),
    ttlSeconds: 0,
    expectedModRevision: undefined,
    returnPrevious: false,
  };
}

describe("usage", () => {
  let log: AppliedLog;

  beforeEach(() => {
    log = new AppliedLog();
    log.wallMs = DAY_START_MS + HOUR_MS + 7;
  });

  function hours(): [number, UsageCounts][] {
    return readUsage(log.store, "hour", 0, FOR_EVER).map(({ startMs, bytesStored: _b, memoryBytes: _m, ...counts }) => [
      (startMs - DAY_START_MS) / HOUR_MS,
      counts,
    ]);
  }

  function byPrincipal(granularity: "hour" | "day" = "hour", store = log.store): Map<string, UsageCounts> {
    const sums = new Map<string, UsageCounts>();
    const all = { from: 0, to: FOR_EVER, after: null };
    scanPrincipalUsage(store, granularity, all, 1_000, ({ principal, startMs: _at, ...counts }: PrincipalUsage) => {
      const who = `${principal.subject} ${principal.apiKeyId}`;
      sums.set(who, sumOf(sums.get(who) ?? NO_USAGE, counts));
    });
    return sums;
  }

  it("counts each mutation once, by its kind, and by hour and day", () => {
    log.execute(put());
    log.execute({ kind: "create-namespace", namespace: "n" });
    log.execute({
      kind: "create-lock",
      namespace: "default",
      rw: false,
      name: "l",
      ttlSeconds: 9,
      lockDelaySeconds: 0,
    });
    log.wallMs += HOUR_MS;
    log.execute({ kind: "allocate-memory", namespace: "default", sizeBytes: 5, label: "" });
    log.ask(createApiKey("k1"));
    expect(hours()).deep.equal([
      [1, { ...NO_USAGE, requests: 3, kvOperations: 1, lockOperations: 1 }],
      [2, { ...NO_USAGE, requests: 2, memoryOperations: 1 }],
    ]);
    const days = readUsage(log.store, "day", 0, FOR_EVER);
    expect(days).have.length(1);
    expect(days[0]).include({ startMs: DAY_START_MS, requests: 5, kvOperations: 1, memoryBytes: 5 });
  });

  it("counts a touch as an operation on keys", () => {
    const { namespace, key } = put();
    log.execute(put());
    log.execute({ kind: "touch-key", namespace, key, ttlSeconds: 9, expectedModRevision: undefined });
    expect(hours()).deep.equal([[1, { ...NO_USAGE, requests: 2, kvOperations: 2 }]]);
  });

  it("counts refusals as requests, but neither callers without rights nor retries", () => {
    const request = requestOf(1);
    log.execute(put(), { request });
    log.execute(put(), { request });
    log.execute(put("other"), { request: requestOf(1, 2) });
    log.refusal({ ...put(), namespace: "nowhere" });
    log.refusal(put(), { principal: { subject: "nobody", apiKeyId: "" } });
    log.ask(createUser("eve", { role: "viewer" }));
    log.lead({ kind: "verify-user", userId: "eve", tokenSha256: TOKEN_SHA256, passwordHash: "" });
    log.refusal(put(), { principal: { subject: "eve", apiKeyId: "" } });
    // Reused ids are refused before any further check, and count as requests.
    const expected = { ...NO_USAGE, requests: 4, kvOperations: 1 };
    expect(hours()).deep.equal([[1, expected]]);
    expect(byPrincipal()).deep.equal(new Map([[`${OWNER.subject} `, expected]]));
  });

  it("counts one acquisition of a lock, however often it is repeated while it waits", () => {
    const locks = new AppliedLock();
    ({ log } = locks);
    locks.ask();
    for (let count = 0; count < 3; count++) {
      expect(locks.ask({ waitMs: 10_000 }, { request: requestOf(1) })).equal("queued-lock");
    }
    const [, counts] = hours()[0] as [number, UsageCounts];
    expect(counts, "with the creation of the lock").deep.equal({ ...NO_USAGE, requests: 3, lockOperations: 3 });
  });

  it("counts API keys and logins separately", () => {
    log.ask(createApiKey("k1"));
    for (const apiKeyId of ["k1", "k1", FOUNDING.owner.apiKeyId]) {
      log.execute(put(), { principal: { ...OWNER, apiKeyId } });
    }
    for (const granularity of ["hour", "day"] as const) {
      expect(byPrincipal(granularity)).deep.equal(
        new Map([
          [`${OWNER.subject} `, { ...NO_USAGE, requests: 1 }],
          [`${OWNER.subject} ${FOUNDING.owner.apiKeyId}`, { ...NO_USAGE, requests: 1, kvOperations: 1 }],
          [`${OWNER.subject} k1`, { ...NO_USAGE, requests: 2, kvOperations: 2 }],
        ]),
      );
    }
  });

  it("has the stored bytes as of the last request of the hour", () => {
    log.execute(put("x".repeat(100)));
    const { regionId } = log.result({ kind: "allocate-memory", namespace: "default", sizeBytes: 1_000, label: "" });
    const first = readUsage(log.store, "hour", 0, FOR_EVER)[0];
    expect(first).include({ memoryBytes: 1_000, bytesStored: log.progress.dataBytes });
    log.wallMs += HOUR_MS;
    const region = { namespace: "default", regionId, expectedVersion: undefined };
    log.execute({ kind: "resize-memory", ...region, sizeBytes: 400 });
    expect(readUsage(log.store, "hour", 0, FOR_EVER)[1]).include({ memoryBytes: 400 });
    log.execute({ kind: "free-memory", ...region });
    expect(readUsage(log.store, "hour", 0, FOR_EVER).map(({ memoryBytes }) => memoryBytes)).deep.equal([1_000, 0]);
  });

  it("is the same in any batches, and after a restart at any point", () => {
    log.ask(createApiKey("k1"));
    for (let count = 0; count < 40; count++) {
      log.wallMs += count % 7 === 0 ? HOUR_MS : 1_000;
      const apiKeyId = count % 3 === 0 ? "k1" : "";
      log.execute(put(String(count)), { principal: { ...OWNER, apiKeyId } });
      log.lead({ kind: "report-use", uses: [use("k1", count)] });
    }
    const wanted = { rows: log.dump(), digest: log.progress.digest };
    for (const every of [1, 2, 7, 1_000]) {
      const store = new MemoryStateStore();
      const ends = new Set(log.rows.map((_, at) => at + 1).filter((index) => index % every === 0));
      const machine = machineOver(store);
      applyRows(machine, log.rows, ends);
      expect({ rows: dumpOf(store), digest: machine.progress.digest }, `every ${every}`).deep.equal(wanted);
    }
    for (const at of [1, 20, 41, 60]) {
      const store = new MemoryStateStore();
      applyRows(machineOver(store), log.rows.slice(0, at));
      const machine = machineOver(store);
      applyRows(machine, log.rows.slice(at));
      expect({ rows: dumpOf(store), digest: machine.progress.digest }, `after ${at}`).deep.equal(wanted);
    }
  });

  it("is part of the digest: a member with other counts is detected", () => {
    const other = new AppliedLog();
    other.wallMs = log.wallMs;
    log.lead({ kind: "report-use", uses: [use("", 1)] });
    other.lead({ kind: "report-use", uses: [use("", 2)] });
    expect(log.progress.digest).not.equal(other.progress.digest);
  });

  describe("of calls without an entry", () => {
    it("is added as members report it, for the hour of the report", () => {
      log.execute(put());
      log.lead({ kind: "report-use", uses: [use("k1", 3), use("", 2)] });
      const sum = { ...NO_USAGE, requests: 1 + 5, kvOperations: 1 + 5, lockOperations: 2, memoryOperations: 2 };
      expect(hours()).deep.equal([[1, sum]]);
      expect(byPrincipal().get(`${OWNER.subject} k1`)).include({ requests: 3, kvOperations: 3 });
    });

    it("records the last use of a key, at most once a minute, and not of a deleted key", () => {
      log.ask(createApiKey("k1"));
      const lastUsed = () => readApiKey(log.store, "k1")?.lastUsedAtMs;
      expect(lastUsed()).equal(0);
      log.lead({ kind: "report-use", uses: [use("k1", 0), use("gone", 0)] });
      const firstMs = log.wallMs;
      expect(lastUsed()).equal(firstMs);
      expect(
        hours().map(([, { requests }]) => requests),
        "a use alone is not a request",
      ).deep.equal([1]);
      log.wallMs += 59_999;
      log.lead({ kind: "report-use", uses: [use("k1", 1)] });
      expect(lastUsed()).equal(firstMs);
      log.wallMs += 1;
      log.lead({ kind: "report-use", uses: [use("k1", 1)] });
      expect(lastUsed()).equal(firstMs + 60_000);
    });
  });

  it("stays for 101 days by hour and for 400 days by day, and is then dropped step by step", () => {
    log.execute(put());
    const beganMs = log.wallMs;
    const counts = () => [byPrincipal("hour").size, hours().length, byPrincipal("day").size];
    log.wallMs = beganMs - (beganMs % HOUR_MS) + 101 * DAY_MS;
    log.lead({ kind: "tick" });
    expect(isUsageDue(log.store, log.wallMs)).equal(false);
    log.lead({ kind: "prune-usage", countMax: 100 });
    expect(counts()).deep.equal([1, 1, 1]);
    log.wallMs += 1;
    expect(isUsageDue(log.store, log.wallMs)).equal(true);
    log.lead({ kind: "prune-usage", countMax: 1 });
    expect(isUsageDue(log.store, log.wallMs)).equal(true);
    log.lead({ kind: "prune-usage", countMax: 1 });
    expect([isUsageDue(log.store, log.wallMs), counts()]).deep.equal([false, [0, 0, 1]]);
    log.wallMs = DAY_START_MS + 400 * DAY_MS + 1;
    log.lead({ kind: "prune-usage", countMax: 100 });
    expect(counts()).deep.equal([0, 0, 0]);
  });

  it("S44: does not scan the part that was dropped before", () => {
    for (let count = 0; count < 30; count++) {
      log.execute(put(String(count)));
      log.wallMs += HOUR_MS;
    }
    log.wallMs += 500 * DAY_MS;
    log.lead({ kind: "tick" });
    while (isUsageDue(log.store, log.wallMs)) {
      log.lead({ kind: "prune-usage", countMax: 3 });
    }
    const store = new StoreWithTombstones("U");
    applyRows(machineOver(store), log.rows, new Set(log.rows.map((_, at) => at + 1)));
    expect(store.steppedOver, "during the drop").equal(0);
    expect(isUsageDue(store, log.wallMs)).equal(false);
    expect(store.steppedOver, "since then").equal(0);
  });

  it("is dropped equally by members that have written it and members that have not", () => {
    log.execute(put());
    log.wallMs += 500 * DAY_MS;
    log.execute(put("w"));
    log.lead({ kind: "prune-usage", countMax: 100 });
    log.execute(put("x"));
    const store = new MemoryStateStore();
    const machine = machineOver(store);
    applyRows(machine, log.rows);
    expect(dumpOf(store)).deep.equal(log.dump());
    expect(machine.progress.digest).equal(log.progress.digest);
    expect(readUsage(store, "day", 0, FOR_EVER).map(({ requests }) => requests)).deep.equal([2]);
  });

  it("is read in pages, within its bounds", () => {
    for (let count = 0; count < 5; count++) {
      log.execute(put(String(count)));
      log.wallMs += HOUR_MS;
    }
    const starts: number[] = [];
    const bounds = { from: DAY_START_MS + 2 * HOUR_MS, to: DAY_START_MS + 5 * HOUR_MS };
    let after: Uint8Array | null = null;
    let calls = 0;
    do {
      after = scanPrincipalUsage(log.store, "hour", { ...bounds, after }, 2, ({ startMs }) => starts.push(startMs));
      calls++;
    } while (after !== null);
    expect(starts.map((startMs) => (startMs - DAY_START_MS) / HOUR_MS)).deep.equal([2, 3, 4]);
    expect(calls).equal(2);
    expect(readUsage(log.store, "hour", bounds.from, bounds.to)).have.length(3);
    expect(readUsage(log.store, "hour", bounds.to, bounds.from)).deep.equal([]);
  });

  function use(apiKeyId: string, requests: number) {
    const principal = { ...OWNER, apiKeyId };
    return { principal, requests, kvOperations: requests, lockOperations: 1, memoryOperations: 1 };
  }
});
