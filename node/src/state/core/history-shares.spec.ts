import { expect } from "chai";
import fc from "fast-check";
import { AppliedLog, applyRows, dumpOf, FOUNDING, MemoryStateStore, machineOver } from "../../../test/index.ts";
import { compactRevisionOf, completeFrom, isHistoryDue, scanHistory } from "./history.ts";
import { readHistoryBounds } from "./history-ledger.ts";
import { readHistoryShares } from "./history-shares.ts";
import { DEFAULT_STATE_LIMITS, type HistoryLimits, type StateLimits } from "./limits.ts";

const QUIET = "default";
const NAMESPACES = [QUIET, "a", "b", "c"];
const NO_SLACK = { revisions: 0, ageMs: 0 };

function limitsWith(history: Partial<HistoryLimits>): StateLimits {
  return { ...DEFAULT_STATE_LIMITS, history: { ...DEFAULT_STATE_LIMITS.history, ...history } };
}

/** A log whose history has these limits, with all namespaces. */
class Shared {
  readonly log: AppliedLog;
  readonly limits: StateLimits;
  /** Every revision that changed something, with its namespace and the bytes of its row. */
  readonly made: { readonly revision: number; readonly namespace: string; readonly bytes: number }[] = [];

  constructor(history: Partial<HistoryLimits>, clusterVersion = FOUNDING.clusterVersion) {
    this.limits = limitsWith(history);
    this.log = new AppliedLog(this.limits, { ...FOUNDING, clusterVersion });
    for (const namespace of NAMESPACES.slice(1)) {
      this.log.result({ kind: "create-namespace", namespace });
    }
  }

  put(namespace: string, bytes = 1): number {
    const value = Buffer.alloc(bytes);
    const put = { kind: "put-key", key: Buffer.from("k"), ttlSeconds: 0, expectedModRevision: undefined } as const;
    const { modRevision } = this.log.result<"put-key">({ ...put, namespace, value, returnPrevious: false });
    const row = [...this.rows()].at(-1);
    expect(row?.revision).equal(modRevision);
    this.made.push({ revision: modRevision, namespace, bytes: row?.bytes ?? 0 });
    return modRevision;
  }

  trim(countMax = 100): void {
    this.log.lead({ kind: "trim-history", countMax });
  }

  /** Trims as the leader does, until the history is within its limits. */
  trimAll(): void {
    for (let left = 1_000; this.isDue(); left--) {
      expect(left).above(0);
      this.trim();
    }
  }

  isDue(slack = NO_SLACK): boolean {
    const { log, limits } = this;
    return isHistoryDue(log.store, log.revision, log.tickMs, limits.history, slack);
  }

  rows(): { readonly revision: number; readonly namespace: string; readonly bytes: number }[] {
    const rows: { revision: number; namespace: string; bytes: number }[] = [];
    scanHistory(this.log.store, 0, this.log.revision, ({ revision, changes, bytes }) => {
      return rows.push({ revision, namespace: changes[0]?.namespace ?? "", bytes }) > 0;
    });
    return rows;
  }

  /** The kept revisions of the namespace. */
  kept(namespace: string): number[] {
    return this.rows()
      .filter((row) => row.namespace === namespace)
      .map(({ revision }) => revision);
  }

  /** Where a new watch of each namespace can start. */
  starts(): number[] {
    return NAMESPACES.map((namespace) => compactRevisionOf(this.log.store, namespace));
  }

  /** The bounds and shares say what the rows are, and nothing is missing where a watch can start. */
  expectRight(): void {
    const { log } = this;
    const rows = this.rows();
    const bounds = readHistoryBounds(log.store);
    expect(bounds.bytes).equal(rows.reduce((sum, { bytes }) => sum + bytes, 0));
    expect(bounds.oldestRevision).equal(rows[0]?.revision ?? 0);
    const shared = rows.filter(({ revision }) => bounds.sharedFrom > 0 && revision >= bounds.sharedFrom);
    expect(bounds.rows).equal(shared.length);
    expect(bounds.completeRevision).equal(Math.max(...this.starts()));
    const shares = readHistoryShares(log.store);
    for (const namespace of NAMESPACES) {
      const own = shared.filter((row) => row.namespace === namespace);
      const share = shares.get(namespace);
      expect(share?.rows ?? 0, namespace).equal(own.length);
      expect(share?.bytes ?? 0, namespace).equal(own.reduce((sum, { bytes }) => sum + bytes, 0));
      expect(share?.oldestRevision ?? 0, namespace).at.most(own[0]?.revision ?? Number.POSITIVE_INFINITY);
      expect(share !== undefined || own.length === 0, namespace).equal(true);
      const start = compactRevisionOf(log.store, namespace);
      expect(completeFrom(log.store, namespace)).at.most(start);
      for (const from of [start, completeFrom(log.store, namespace)]) {
        const wanted = this.made.filter((row) => row.namespace === namespace && row.revision >= from);
        const kept = this.kept(namespace).filter((revision) => revision >= from);
        expect(kept, `${namespace} from ${from}`).deep.equal(wanted.map(({ revision }) => revision));
      }
    }
  }
}

describe("shares of the history", () => {
  it("lose the oldest changes of the namespace with the most bytes, and none of the others", () => {
    const shared = new Shared({ bytesMax: 16_000 });
    const quiet = [shared.put(QUIET), shared.put(QUIET)];
    for (let at = 0; at < 100; at++) {
      shared.put("a", 400);
      shared.trimAll();
    }
    quiet.push(shared.put(QUIET));
    expect(shared.kept(QUIET)).deep.equal(quiet);
    const [quietStart, start] = shared.starts();
    expect(quietStart).equal(0);
    expect(start).equal(shared.kept("a")[0]);
    expect(readHistoryBounds(shared.log.store).bytes).within(14_000, 16_000);
    shared.expectRight();
  });

  it("lose the oldest changes of the namespace with the most revisions", () => {
    const shared = new Shared({ revisionsMax: 10 });
    const quiet = shared.put(QUIET, 10_000);
    for (let at = 0; at < 30; at++) {
      shared.put("b");
    }
    expect(shared.isDue({ revisions: 20, ageMs: 0 })).equal(true);
    expect(shared.isDue({ revisions: 21, ageMs: 0 })).equal(false);
    shared.trimAll();
    expect([shared.kept(QUIET).length, shared.kept("b").length]).deep.equal([1, 9]);
    expect(shared.starts()[0]).equal(0);
    expect(shared.kept(QUIET)).deep.equal([quiet]);
    shared.expectRight();
  });

  it("take turns: of two namespaces that change much, each keeps about half", () => {
    const shared = new Shared({ revisionsMax: 20 });
    for (let at = 0; at < 100; at++) {
      shared.put("a");
      shared.put("b");
      shared.trim(3);
    }
    shared.trimAll();
    expect(shared.kept("a").length).within(8, 12);
    expect(shared.kept("b").length).within(8, 12);
    shared.expectRight();
  });

  it("of equal size are cut in the order of their names, on every member", () => {
    const shared = new Shared({ revisionsMax: 3 });
    for (const namespace of ["c", "b", "a", "a", "b", "c"]) {
      shared.put(namespace);
    }
    const lengths = () => ["a", "b", "c"].map((namespace) => shared.kept(namespace).length);
    // The oldest change of "a" is behind two others.
    for (const left of [
      [1, 2, 2],
      [1, 1, 2],
      [1, 1, 1],
    ]) {
      shared.trim(1);
      expect(lengths()).deep.equal(left);
    }
    shared.expectRight();
  });

  it("end with the changes: what is too old is dropped for all, and empty shares are forgotten", () => {
    const shared = new Shared({ ageMsMax: 1_000 });
    shared.put(QUIET);
    shared.put("a");
    shared.log.tickMs += 1_001;
    const last = shared.put("b");
    shared.trimAll();
    expect(shared.starts()).deep.equal([last, last, last, last]);
    expect([...readHistoryShares(shared.log.store).keys()]).deep.equal(["b"]);
    shared.expectRight();
  });

  it("remember what is missing when nothing is left of them", () => {
    const shared = new Shared({ bytesMax: 4_000 });
    shared.put(QUIET);
    const large = shared.put("a", 5_000);
    shared.trimAll();
    expect(shared.kept("a")).deep.equal([]);
    expect(shared.starts()).deep.equal([0, large + 1, 0, 0]);
    shared.expectRight();
    const next = shared.put("a");
    expect(readHistoryShares(shared.log.store).get("a")?.oldestRevision).equal(next);
    shared.expectRight();
  });

  it("begin when the cluster becomes of version 6; what was there before is dropped first", () => {
    const shared = new Shared({ revisionsMax: 6 }, 5);
    const quiet = shared.put(QUIET);
    for (let at = 0; at < 8; at++) {
      shared.put("a");
    }
    shared.trim(2);
    expect(shared.starts(), "the oldest of all").deep.equal([quiet + 2, quiet + 2, quiet + 2, quiet + 2]);
    expect(readHistoryShares(shared.log.store).size).equal(0);
    shared.log.lead({ kind: "set-cluster-version", version: 6 });
    shared.expectRight();
    const kept = shared.put(QUIET);
    for (let at = 0; at < 8; at++) {
      shared.put("a");
      shared.trimAll();
      shared.expectRight();
    }
    expect(shared.kept(QUIET)).deep.equal([kept]);
    expect(shared.kept("a")).length(5);
  });

  it("are the same on every member, whatever its batches are and however often it starts", () => {
    const shared = new Shared({ revisionsMax: 5, bytesMax: 3_000, ageMsMax: 2_000 });
    for (let at = 0; at < 60; at++) {
      shared.put(NAMESPACES[(at * at) % 3] ?? "", (at * 37) % 500);
      shared.log.tickMs += 50 * (at % 5);
      if (at % 4 === 3) {
        shared.trim((at % 3) + 1);
      }
    }
    const { rows } = shared.log;
    const once = new MemoryStateStore();
    applyRows(machineOver(once, shared.limits), rows);
    const restarted = new MemoryStateStore();
    for (let at = 0; at < rows.length; at += 7) {
      applyRows(machineOver(restarted, shared.limits), rows.slice(at, at + 7));
    }
    expect(dumpOf(once)).deep.equal(shared.log.dump());
    expect(dumpOf(restarted)).deep.equal(shared.log.dump());
  });

  it("are right after any changes and trims, and only the largest loses anything", () => {
    const step = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          kind: fc.constant("put" as const),
          namespace: fc.constantFrom(...NAMESPACES, "a", "a", "b"),
          bytes: fc.constantFrom(0, 10, 100, 1_000),
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant("trim" as const), countMax: fc.integer({ min: 1, max: 8 }) }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 900 }) }) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant("compact" as const), back: fc.integer({ min: 0, max: 30 }) }),
      },
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), fc.boolean(), (steps, isOld) => {
        const history = { revisionsMax: 8, bytesMax: 4_000, ageMsMax: 3_000 };
        const shared = new Shared(history, isOld ? 5 : 6);
        for (const [at, next] of steps.entries()) {
          if (isOld && at === 10) {
            shared.log.lead({ kind: "set-cluster-version", version: 6 });
          }
          if (next.kind === "put") {
            shared.put(next.namespace, next.bytes);
          } else if (next.kind === "pass") {
            shared.log.tickMs += next.ms;
          } else if (next.kind === "compact") {
            const revision = Math.max(0, shared.log.revision - next.back);
            shared.log.lead({ kind: "compact-history", revision, subject: "admin", request: null });
          } else {
            const before = readHistoryShares(shared.log.store);
            const [rows, bytes] = [...before.values()].reduce(
              ([r, b], share) => [r + share.rows, b + share.bytes],
              [0, 0],
            );
            shared.trim(next.countMax);
            for (const [namespace, share] of readHistoryShares(shared.log.store)) {
              const was = before.get(namespace);
              if (was !== undefined && share.compactRevision > was.compactRevision) {
                const isLargest = was.rows * before.size >= rows || was.bytes * before.size >= bytes;
                expect(isLargest, namespace).equal(true);
              }
            }
          }
          shared.expectRight();
        }
        shared.trimAll();
        shared.expectRight();
        const bounds = readHistoryBounds(shared.log.store);
        expect(bounds.bytes).at.most(history.bytesMax);
        expect(bounds.rows).at.most(history.revisionsMax);
      }),
      { numRuns: 60 },
    );
  });
});
