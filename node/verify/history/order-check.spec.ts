import { expect } from "chai";
import { created, found, get, historyOf, put } from "./example.ts";
import { acquire, acquired, type LockLine, locksOf } from "./lock-example.ts";
import { type Histories, orderCheck } from "./order-check.ts";
import type { RegionRecord } from "./region-history.ts";
import type { SessionRecord } from "./session-history.ts";

function judged(histories: Partial<Histories>): string {
  return orderCheck({ keys: [], locks: [], regions: [], sessions: [], ...histories }).join("\n");
}

function allocated(startMs: number, endMs: number, revision: number): RegionRecord {
  const operation = { kind: "allocate", region: "r", sizeBytes: 1 } as const;
  const answer = { kind: "allocated", version: 1, revision } as const;
  return { id: 0, client: "c", operation, startMs, endMs, outcome: { kind: "ok", answer } };
}

function createdSession(startMs: number, endMs: number, session: number): SessionRecord {
  const operation = { kind: "create", ttlMs: 1_000 } as const;
  const answer = { kind: "created", session, lifeMs: 1_000 } as const;
  return { id: 0, client: "c", operation, startMs, endMs, outcome: { kind: "ok", answer } };
}

describe("the order of revisions over all primitives", () => {
  const keys = historyOf([put("a"), 0, 10, created(5)]);
  const granted = (token: number): LockLine => [acquire("a"), 20, 30, acquired(["a", token])];

  it("goes from keys to locks to regions to sessions to keys", () => {
    expect(judged({ keys, locks: locksOf(granted(6)) })).to.equal("");
    expect(judged({ keys, locks: locksOf(granted(4)) })).to.contain("never go backwards");
    expect(judged({ locks: locksOf(granted(6)), regions: [allocated(40, 50, 7)] })).to.equal("");
    expect(judged({ locks: locksOf(granted(6)), regions: [allocated(40, 50, 6)] })).to.contain("never go backwards");
    expect(judged({ keys, sessions: [createdSession(20, 30, 6)] })).to.equal("");
    expect(judged({ keys, sessions: [createdSession(20, 30, 5)] })).to.contain("never go backwards");
    const read = historyOf([get(), 60, 70, found("a", [5, 5, 1], 6)]);
    expect(judged({ regions: [allocated(40, 50, 6)], keys: read })).to.equal("");
    expect(judged({ regions: [allocated(40, 50, 7)], keys: read })).to.contain("never go backwards");
  });

  it("gives a revision to one change of all", () => {
    expect(judged({ keys, regions: [allocated(5, 15, 6)] })).to.equal("");
    expect(judged({ keys, regions: [allocated(5, 15, 5)] })).to.contain("a revision has one maker");
  });
});
