import { expect } from "chai";
import { AppliedEventLog, AppliedLock, MemoryStateStore, machineOver, soleVoter } from "../../../test/index.ts";
import { CoordinationError, type Outcome } from "../../state/index.ts";
import { ReplicaStatistics } from "./replica-statistics.ts";

describe("ReplicaStatistics", () => {
  it("counts elections, and leaders that are others than the last one that was known", () => {
    const statistics = new ReplicaStatistics();
    statistics.onRole("follower", 2);
    statistics.onRole("follower", 0);
    statistics.onRole("candidate", 0);
    statistics.onRole("follower", 2);
    statistics.onRole("candidate", 0);
    statistics.onRole("leader", 1);
    expect([statistics.elections, statistics.leaderChanges]).to.deep.equal([2, 2]);
  });

  it("counts proposals by the answers to their callers, and passes these on unchanged", () => {
    const statistics = new ReplicaStatistics();
    const told: unknown[] = [];
    const done = statistics.counted((error, outcome) => told.push(error ?? outcome));
    const [unavailable, unknown] = (["not-executed", "unknown"] as const).map(
      (outcome) => new CoordinationError("SHUTTING_DOWN", "over", { outcome }),
    ) as [CoordinationError, CoordinationError];
    const applied = { answer: { kind: "delete-key" }, replayed: "no" } as Outcome;
    const refused: Outcome = { answer: new CoordinationError("KEY_NOT_FOUND", "gone"), replayed: "no" };
    done(unavailable, null);
    done(unknown, null);
    done(null, applied);
    done(null, refused);
    expect(told).to.deep.equal([unavailable, unknown, applied, refused]);
    expect([...statistics.proposals]).to.deep.equal([
      ["applied", 1],
      ["refused", 1],
      ["not_executed", 1],
      ["unknown", 1],
    ]);
  });

  it("counts holds that begin and end, by the reason, and how long those waited that had to wait", () => {
    const locks = new AppliedLock();
    locks.ask();
    locks.ask({ owner: "other", waitMs: 60_000 });
    locks.ask({ owner: "impatient", waitMs: 1_000 });
    locks.pass(2_000);
    locks.releaseHold({ fencingToken: locks.tokens[0] ?? 0 });
    locks.pass(30_001);
    locks.ask();
    locks.force();
    const machine = machineOver(new MemoryStateStore());
    const statistics = new ReplicaStatistics();
    for (const row of locks.log.rows) {
      statistics.onApplied(machine.apply(row, soleVoter), machine.watched, machine.endedWaits);
    }
    expect(Object.fromEntries(statistics.lockGrants)).to.deep.equal({ normal: 3, downgraded: 0, upgraded: 0 });
    expect(Object.fromEntries(statistics.lockReleases)).to.deep.equal({
      normal: 1,
      expired: 1,
      forced: 1,
      upgraded: 0,
    });
    expect([statistics.lockWaits.count, statistics.lockWaits.sumSeconds]).to.deep.equal([1, 2]);
    expect(statistics.appliedEntries).to.equal(locks.log.rows.length);
  });

  it("counts events when they are stored, and not again when they were stored before", () => {
    const events = new AppliedEventLog();
    events.append("abc", { idempotencyKey: "once" });
    events.append("abc", { idempotencyKey: "once" });
    events.append("de");
    const machine = machineOver(new MemoryStateStore());
    const statistics = new ReplicaStatistics();
    for (const row of events.log.rows) {
      statistics.onApplied(machine.apply(row, soleVoter), machine.watched, machine.endedWaits);
    }
    expect([statistics.appendedEvents, statistics.appendedEventBytes]).to.deep.equal([2, 5]);
  });

  it("counts copies that were whole with their time, and the others without", () => {
    const { snapshotsSent } = new ReplicaStatistics();
    snapshotsSent.onEnded(true, 2_000);
    snapshotsSent.onEnded(false, 5_000);
    expect([snapshotsSent.completed, snapshotsSent.failed]).to.deep.equal([1, 1]);
    expect(snapshotsSent.durations.sumSeconds).to.equal(2);
  });
});
