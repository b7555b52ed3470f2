import { expect } from "chai";
import {
  AppliedEventLog,
  AppliedLock,
  type AppliedLog,
  createLock,
  MemoryStateStore,
  machineOver,
  requestOf,
  soleVoter,
} from "../../../test/index.ts";
import { encodeText } from "../../state/index.ts";
import { RefusedGuards } from "./refused-guards.ts";

const LOCK = { namespace: "default", rw: false, name: "l" };

/** Applies the entries of the log again, and counts. */
function countsOf({ rows }: AppliedLog, guards = new RefusedGuards()): RefusedGuards {
  const machine = machineOver(new MemoryStateStore());
  for (const row of rows) {
    guards.onApplied(row, machine.apply(row, soleVoter));
    machine.commit();
  }
  return guards;
}

function put(log: AppliedLog, lockName: string, fencingToken: number, id?: number): string {
  const operation = {
    ...({ kind: "put-key", namespace: "default", key: encodeText("k"), value: encodeText("v") } as const),
    ttlSeconds: 0,
    returnPrevious: false,
    expectedModRevision: undefined,
    guard: { lockName, fencingToken, rw: false },
  };
  const { answer } = log.execute(operation, id === undefined ? {} : { request: requestOf(id) });
  return "reason" in answer ? answer.reason : answer.kind;
}

describe("RefusedGuards", () => {
  it("counts the refused writes of each lock, and neither other refusals nor retries", () => {
    const locks = new AppliedLock();
    const { log } = locks;
    locks.ask();
    const [token = 0] = locks.tokens;
    expect(put(log, "l", token)).to.equal("put-key");
    expect([1, 2].map((id) => put(log, "l", token + 1, id))).to.deep.equal(["FENCED", "FENCED"]);
    expect(put(log, "l", token + 1, 2), "a retry").to.equal("FENCED");
    expect(put(log, "none", token)).to.equal("FENCED");
    log.refusal(createLock());
    const guards = countsOf(log);
    expect(guards.total).to.equal(3);
    expect(guards.of(LOCK)).to.equal(2);
    expect(guards.of({ ...LOCK, name: "none" })).to.equal(1);
    expect(guards.of({ ...LOCK, rw: true })).to.equal(0);
    expect(guards.of({ ...LOCK, namespace: "other" })).to.equal(0);
  });

  it("counts a refused append under the namespace of its guard", () => {
    const events = new AppliedEventLog({}, { log: new AppliedLock().log });
    const guard = { namespace: "default", lockName: "l", fencingToken: 1, rw: true };
    expect(events.append("one", { guard })).to.equal("FENCED");
    expect(events.appendBatch("b", ["two", "three"], { guard })).to.equal("FENCED");
    const guards = countsOf(events.log);
    expect([guards.total, guards.of({ ...LOCK, rw: true }), guards.of(LOCK)]).to.deep.equal([2, 2, 0]);
  });

  it("forgets the lock whose last refusal is the oldest", () => {
    const { log } = new AppliedLock();
    for (const name of ["a", "b", "a", "c"]) {
      put(log, name, 1);
    }
    const guards = countsOf(log, new RefusedGuards(2));
    expect(["a", "b", "c"].map((name) => guards.of({ ...LOCK, name }))).to.deep.equal([2, 0, 1]);
    expect(guards.total).to.equal(4);
  });
});
