import { expect } from "chai";
import { AppliedLog, requestOf } from "../../../test/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import type { PutKey } from "../keys/index.ts";
import type { WatchedChange } from "./changes.ts";
import { compactRevisionOf, isHistoryDue, type RevisionChanges, scanHistory } from "./history.ts";
import { readHistoryBounds } from "./history-ledger.ts";
import { DEFAULT_STATE_LIMITS, type HistoryLimits } from "./limits.ts";
import type { RequestIdentity } from "./principal.ts";
import { HISTORY_BOUNDS_ROW, historyRow, historyShareRow } from "./rows.ts";

const NO_SLACK = { revisions: 0, ageMs: 0 };
const KEY = Buffer.from("k");

function put(key: string, value: string, ttlSeconds = 0): PutKey {
  return {
    kind: "put-key",
    namespace: "default",
    key: Buffer.from(key),
    value: Buffer.from(value),
    ttlSeconds,
    expectedModRevision: undefined,
    returnPrevious: false,
  };
}

const DELETE = {
  kind: "delete-key",
  namespace: "default",
  key: KEY,
  expectedModRevision: undefined,
  returnPrevious: false,
} as const;

function historyOf(log: AppliedLog): RevisionChanges[] {
  const all: RevisionChanges[] = [];
  scanHistory(log.store, 1, log.revision, (changes) => {
    all.push(changes);
    return true;
  });
  return all;
}

/** A change of a key in a line. */
function told(change: WatchedChange): string {
  if (change.about === "lock") {
    throw new Error("only keys have changed");
  }
  const { kind, namespace, current, previous } = change;
  const text = ({ value, createRevision, modRevision, version, deadlineMs }: NonNullable<typeof previous>) =>
    `${Buffer.from(value)} c${createRevision} m${modRevision} v${version} d${deadlineMs}`;
  const before = previous === null ? "nothing" : text(previous);
  return `${kind} ${namespace}/${Buffer.from(current.key)} ${text(current)} after ${before}`;
}

function logWith(history: Partial<HistoryLimits>): AppliedLog {
  return new AppliedLog({ ...DEFAULT_STATE_LIMITS, history: { ...DEFAULT_STATE_LIMITS.history, ...history } });
}

describe("the history of changes", () => {
  it("has each change with the previous value, and nothing for commands without an effect", () => {
    const log = new AppliedLog();
    const cas = {
      kind: "compare-and-swap",
      namespace: "default",
      key: KEY,
      expectedModRevision: undefined,
      ttlSeconds: 0,
    } as const;
    log.execute(put("k", "1", 5));
    log.execute({ ...cas, expectedValue: Buffer.from("no"), newValue: Buffer.from("2") });
    log.execute({ ...cas, expectedValue: Buffer.from("1"), newValue: Buffer.from("2") });
    log.execute(DELETE);
    log.execute(DELETE);
    const { modRevision } = log.result<"put-key">(put("k", "3", 1));
    log.tickMs += 1_001;
    log.lead({ kind: "expire-keys", keys: [{ namespace: "default", key: KEY, modRevision: modRevision - 1 }] });
    log.lead({ kind: "expire-keys", keys: [{ namespace: "default", key: KEY, modRevision }] });
    const history = historyOf(log);
    expect(history.map(({ revision, tickMs }) => [revision, tickMs])).to.deep.equal([
      ...[2, 3, 4, 5].map((revision) => [revision, 1_000]),
      [6, 2_001],
    ]);
    expect(history.flatMap(({ changes }) => changes.map(told))).to.deep.equal([
      "put default/k 1 c2 m2 v1 d6000 after nothing",
      "put default/k 2 c2 m3 v2 d0 after 1 c2 m2 v1 d6000",
      "delete default/k 2 c2 m4 v2 d0 after 2 c2 m3 v2 d0",
      "put default/k 3 c5 m5 v1 d2000 after nothing",
      "expire default/k 3 c5 m6 v1 d0 after 3 c5 m5 v1 d2000",
    ]);
  });

  it("is not written again for a replayed request", () => {
    const log = new AppliedLog();
    const request = { requestId: new Uint8Array(16).fill(1), payloadHash: new Uint8Array(32) };
    log.execute(put("k", "1"), { request });
    log.execute(put("k", "1"), { request });
    expect(historyOf(log)).to.have.length(1);
  });

  it("is read within the requested revisions, until the reader stops", () => {
    const log = new AppliedLog();
    for (const value of ["1", "2", "3", "4"]) {
      log.execute(put("k", value));
    }
    const seen: number[] = [];
    scanHistory(log.store, 3, 5, ({ revision }) => seen.push(revision) < 2);
    expect(seen).to.deep.equal([3, 4]);
    scanHistory(log.store, 4, 4, ({ revision }) => seen.push(revision) > 0);
    expect(seen).to.deep.equal([3, 4, 4]);
  });

  // These bytes are in the state of every member: a change here changes the storage format.
  it("has these bytes", () => {
    const log = new AppliedLog();
    log.execute(put("k", "ab", 5));
    log.execute(put("k", "", 0));
    log.execute(DELETE);
    const bytesOf = (key: Uint8Array) => log.store.get(key)?.toHex();
    const name = `00000007${Buffer.from("default").toString("hex")}`;
    const tick = "00000000000003e8";
    const first = `${"0000000000000002".repeat(2)}0000000000000001`;
    expect(bytesOf(historyRow(2))).to.equal(`${tick}0000000100${name}000000016b00${"0000000000001770"}000000026162`);
    expect(bytesOf(historyRow(3))).to.equal(
      `${tick}0000000100${name}000000016b01${first}${"0000000000001770"}000000026162${"00".repeat(8)}00000000`,
    );
    const second = "000000000000000200000000000000030000000000000002";
    expect(bytesOf(historyRow(4))).to.equal(`${tick}0000000101${name}000000016b01${second}${"00".repeat(8)}00000000`);
    const bytes = [2, 3, 4].reduce((sum, revision) => sum + (log.store.get(historyRow(revision))?.length ?? 0), 0);
    const count = (value: number) => value.toString(16).padStart(16, "0");
    expect(bytesOf(HISTORY_BOUNDS_ROW)).to.equal(
      `${[0, bytes, 2].map(count).join("")}${tick}${[2, 3, 0].map(count).join("")}`,
    );
    expect(bytesOf(historyShareRow("default"))).to.equal([3, bytes, 0, 2].map(count).join(""));
    expect(historyRow(2).toHex()).to.equal("770000000000000002");
  });

  it("is refused after every truncation, with a byte more, and of an unknown kind", () => {
    const log = new AppliedLog();
    log.execute(put("k", "ab", 5));
    log.execute(put("k", "c"));
    log.execute(DELETE);
    const read = () => scanHistory(log.store, 1, log.revision, () => true);
    for (const revision of [2, 3, 4]) {
      const key = historyRow(revision);
      const whole = log.store.get(key) as Uint8Array;
      const damages = Array.from(whole, (_, length) => whole.subarray(0, length));
      damages.push(Uint8Array.of(...whole, 0), whole.with(12, 5));
      for (const value of damages) {
        log.store.write([{ key, value }]);
        expect(read).to.throw(InvariantViolation);
      }
      log.store.write([{ key, value: whole }]);
      expect(read).not.to.throw();
    }
  });

  describe("is dropped", () => {
    const trim = (log: AppliedLog, countMax = 100): void => {
      log.lead({ kind: "trim-history", countMax });
    };
    const revisions = (log: AppliedLog): number[] => historyOf(log).map(({ revision }) => revision);
    const isDue = (log: AppliedLog, history: Partial<HistoryLimits>, slack = NO_SLACK): boolean =>
      isHistoryDue(log.store, log.revision, log.tickMs, { ...DEFAULT_STATE_LIMITS.history, ...history }, slack);

    /** The rows and the bounds agree; a watch can start at this revision. */
    function expectBounds(log: AppliedLog, start: number): void {
      const history = historyOf(log);
      const { bytes, rows, oldestRevision, oldestTickMs } = readHistoryBounds(log.store);
      expect({ start: compactRevisionOf(log.store, "default"), bytes, rows, oldestRevision, oldestTickMs }).deep.equal({
        start,
        bytes: history.reduce((sum, row) => sum + row.bytes, 0),
        rows: history.length,
        oldestRevision: history[0]?.revision ?? 0,
        oldestTickMs: history[0]?.tickMs ?? 0,
      });
    }

    it("by number, the oldest first and a bounded number at a time", () => {
      const log = logWith({ revisionsMax: 3 });
      for (let at = 0; at < 10; at++) {
        log.execute(put(`k${at}`, "v"));
      }
      expectBounds(log, 0);
      expect(isDue(log, { revisionsMax: 3 })).to.equal(true);
      expect(isDue(log, { revisionsMax: 3 }, { revisions: 6, ageMs: 0 })).to.equal(true);
      expect(isDue(log, { revisionsMax: 3 }, { revisions: 7, ageMs: 0 })).to.equal(false);
      trim(log, 4);
      expect(revisions(log)).to.deep.equal([6, 7, 8, 9, 10, 11]);
      expectBounds(log, 6);
      trim(log);
      expect(revisions(log)).to.deep.equal([9, 10, 11]);
      expectBounds(log, 9);
      expect(isDue(log, { revisionsMax: 3 })).to.equal(false);
      const before = log.dump();
      trim(log);
      expect(
        log.dump().filter((row) => !before.includes(row)),
        "only the progress",
      ).to.have.length(1);
    });

    it("by age, and completely if all of it is old", () => {
      const log = logWith({ ageMsMax: 1_000 });
      log.execute(put("a", "v"));
      log.tickMs += 500;
      log.execute(put("b", "v"));
      log.tickMs += 500;
      expect(isDue(log, { ageMsMax: 1_000 })).to.equal(false);
      trim(log);
      expectBounds(log, 0);
      log.tickMs += 1;
      expect(isDue(log, { ageMsMax: 1_000 }, { revisions: 0, ageMs: 1 })).to.equal(false);
      expect(isDue(log, { ageMsMax: 1_000 })).to.equal(true);
      trim(log);
      expect(revisions(log)).to.deep.equal([3]);
      expectBounds(log, 3);
      log.tickMs += 10_000;
      trim(log);
      expect(revisions(log)).to.deep.equal([]);
      expectBounds(log, 4);
      expect(isDue(log, { ageMsMax: 1_000 })).to.equal(false);
      log.execute(put("c", "v"));
      expectBounds(log, 4);
    });

    it("by size, and then a share more than necessary", () => {
      const bytesMax = 16_000;
      const log = logWith({ bytesMax });
      while (readHistoryBounds(log.store).bytes <= bytesMax) {
        expect(isDue(log, { bytesMax })).to.equal(false);
        log.execute(put(`k${log.revision}`, "v".repeat(50)));
      }
      expect(isDue(log, { bytesMax })).to.equal(true);
      trim(log);
      const { bytes, completeRevision } = readHistoryBounds(log.store);
      expect(bytes).to.be.within(14_800, 15_000);
      expectBounds(log, completeRevision);
    });

    it("by the decision of apply alone, whatever the leader saw", () => {
      const log = logWith({ revisionsMax: 3 });
      log.execute(put("a", "v"));
      trim(log);
      expect(revisions(log)).to.deep.equal([2]);
      expectBounds(log, 0);
    });

    it("in bounded steps: a command reads some MiB and not all of a large history", () => {
      const log = logWith({ revisionsMax: 0 });
      for (let at = 0; at < 12; at++) {
        log.execute(put(`k${at}`, "v".repeat(1024 * 1024)));
      }
      trim(log);
      expect(revisions(log)).to.deep.equal([10, 11, 12, 13]);
      expectBounds(log, 10);
    });

    const compact = (log: AppliedLog, revision: number, request: RequestIdentity | null = null) =>
      log.lead({ kind: "compact-history", revision, subject: "admin", request });

    it("below a revision on request of an administrator, at once for readers and step by step on disk", () => {
      const log = new AppliedLog();
      for (let at = 0; at < 10; at++) {
        log.execute(put(`k${at}`, "v"));
      }
      expect(isDue(log, {})).to.equal(false);
      const answer = { kind: "compact-history", compactRevision: 7, revision: 11 };
      expect(compact(log, 7)).to.deep.equal({ answer, replayed: "no" });
      expect(compactRevisionOf(log.store, "default")).to.equal(7);
      expect(revisions(log), "no long turn").to.have.length(10);
      for (const left of [8, 6, 5]) {
        expect(isDue(log, {})).to.equal(true);
        trim(log, 2);
        expect(revisions(log)).to.have.length(left);
        expect(compactRevisionOf(log.store, "default")).to.equal(7);
      }
      expect(isDue(log, {})).to.equal(false);
      expectBounds(log, 7);
      expect(log.revision, "no visible change").to.equal(11);
    });

    it("never above the applied revision, and compacted revisions do not come back", () => {
      const log = new AppliedLog();
      for (let at = 0; at < 3; at++) {
        log.execute(put(`k${at}`, "v"));
      }
      expect(compact(log, Number.MAX_SAFE_INTEGER)?.answer).to.include({ compactRevision: 4, revision: 4 });
      expect(compact(log, 2)?.answer).to.include({ compactRevision: 4 });
      trim(log);
      expect(revisions(log), "the newest stays").to.deep.equal([4]);
      const before = log.dump();
      expect(compact(log, 4)?.answer).to.include({ compactRevision: 4 });
      const changed = log.dump().filter((row) => !before.includes(row));
      expect(changed, "only the progress").to.have.length(1);
    });

    it("so that the digest covers the compact revision", () => {
      const digests = [undefined, 2, 3].map((revision) => {
        const log = new AppliedLog();
        log.execute(put("k", "1"));
        log.execute(put("k", "2"));
        if (revision !== undefined) {
          compact(log, revision);
        }
        return log.progress.digest;
      });
      expect(new Set(digests).size).to.equal(3);
    });

    it("answers a retry as the first time, and refuses its id for another request (S13)", () => {
      const log = new AppliedLog();
      log.execute(put("k", "1"));
      expect(compact(log, 2, requestOf(1))?.replayed).to.equal("no");
      log.execute(put("k", "2"));
      compact(log, 3);
      const again = compact(log, 2, requestOf(1));
      expect(again).to.deep.include({ replayed: "yes" });
      expect(again?.answer).to.include({ compactRevision: 2, revision: 2 });
      expect(compact(log, 3, requestOf(1, 2))?.answer).to.include({ reason: "REQUEST_ID_REUSED" });
    });

    it("by limits and by administrators, whichever drops more", () => {
      const log = logWith({ revisionsMax: 3 });
      for (let at = 0; at < 10; at++) {
        log.execute(put(`k${at}`, "v"));
      }
      compact(log, 5);
      trim(log);
      expect(revisions(log)).to.deep.equal([5, 6, 7, 8, 9, 10, 11]);
      expect(isDue(log, { revisionsMax: 3 })).to.equal(true);
      trim(log);
      expect(revisions(log)).to.deep.equal([9, 10, 11]);
      expectBounds(log, 9);
      compact(log, 11);
      trim(log);
      expectBounds(log, 11);
    });
  });
});
