import { expect } from "chai";
import fc from "fast-check";
import { InvariantViolation } from "../primitives/index.ts";
import { Progress, Window } from "./progress.ts";

const LIMITS = { messagesMax: 4, bytesMax: 400 };
const FIRST = 1;
const COMMIT = 5;
const TICK = 100;

function newProgress(next = 11): Progress {
  return new Progress(2, next, LIMITS);
}

/** A peer that has acknowledged 10; the leader sends 11 and more. */
function replicating(): Progress {
  const progress = newProgress();
  progress.acknowledged(10, FIRST, TICK);
  return progress;
}

/** A peer that has acknowledged 10; the leader probes from there. */
function probing(): Progress {
  const progress = replicating();
  progress.becomeProbe();
  return progress;
}

/** A peer that has acknowledged 10 and needs a snapshot: the log begins at 20. */
function needingSnapshot(): Progress {
  const progress = probing();
  progress.becomeSnapshot();
  return progress;
}

function shape(progress: Progress) {
  const { state, match, next, isPaused } = progress;
  return { state, match, next, isPaused };
}

type Transition = readonly [
  event: string,
  from: () => Progress,
  act: (progress: Progress) => unknown,
  to: ReturnType<typeof shape>,
];

const TRANSITIONS: readonly Transition[] = [
  ["nothing yet", newProgress, () => 0, { state: "probe", match: 0, next: 11, isPaused: false }],
  // probe
  ["one Append", probing, (p) => p.sent(12, 99, COMMIT, TICK), probe(10, 11, true)],
  ["its answer", sentProbe, (p) => p.acknowledged(12, FIRST, TICK), replicate(12, 13)],
  ["an answer from before", sentProbe, (p) => p.acknowledged(9, FIRST, TICK), probe(10, 11, true)],
  ["the same answer again", sentProbe, (p) => p.acknowledged(10, FIRST, TICK), replicate(10, 11)],
  ["P34: a refusal of what matches", sentProbe, (p) => p.rejected(10, 3), probe(10, 11, true)],
  ["P34: a refusal of another probe", unknown, (p) => p.rejected(7, 3), probe(0, 11, true)],
  ["a refusal", unknown, (p) => p.rejected(10, 6), probe(0, 7, false)],
  ["a refusal with a hint beyond", unknown, (p) => p.rejected(10, 30), probe(0, 10, false)],
  ["a refusal with a hint of nothing", unknown, (p) => p.rejected(10, 0), probe(0, 1, false)],
  ["P40: an answered heartbeat", sentProbe, (p) => p.onHeartbeatReply(FIRST, 12), probe(10, 11, false)],
  ["P39: a peer that is busy", sentProbe, (p) => p.slowDown(), probe(10, 11, true)],
  ["a lost connection", sentProbe, (p) => p.disconnected(), probe(10, 11, false)],
  ["a lost connection before any answer", unknown, (p) => p.disconnected(), probe(0, 11, false)],
  ["P46: lost data", sentProbe, (p) => p.forgetMatch(), probe(0, 11, false)],
  ["a log that begins later", probing, (p) => p.becomeSnapshot(), snapshot(10, 11)],
  // replicate
  ["entries", replicating, (p) => p.sent(12, 99, COMMIT, TICK), replicate(10, 13)],
  ["an Append without entries", replicating, (p) => p.sent(10, 0, COMMIT, TICK), replicate(10, 11)],
  ["a full window", replicating, fill, replicate(10, 15, true)],
  ["an answer", full, (p) => p.acknowledged(12, FIRST, TICK), replicate(12, 15)],
  ["a late answer", full, (p) => p.acknowledged(9, FIRST, TICK), replicate(10, 15, true)],
  ["P34: a refusal of what matches", full, (p) => p.rejected(10, 3), replicate(10, 15, true)],
  ["P39: a refusal", full, (p) => p.rejected(14, 12), probe(10, 13, false)],
  ["P34: a refusal with a hint below what matches", full, (p) => p.rejected(14, 2), probe(10, 11, false)],
  ["P39: an answered heartbeat", full, (p) => p.onHeartbeatReply(FIRST, 14), replicate(10, 15)],
  [
    "an answered heartbeat of a peer that has all",
    replicating,
    (p) => p.onHeartbeatReply(FIRST, 10),
    replicate(10, 11),
  ],
  ["P41: a peer that is busy", full, (p) => p.slowDown(), probe(10, 11, true)],
  ["a lost connection", full, (p) => p.disconnected(), probe(10, 11, false)],
  ["P46: lost data", full, (p) => p.forgetMatch(), probe(0, 15, false)],
  // snapshot
  ["P26: an answer that is not enough", needingSnapshot, (p) => p.acknowledged(15, 20, TICK), snapshot(15, 16)],
  ["P26: an answer that is just enough", needingSnapshot, (p) => p.acknowledged(19, 20, TICK), replicate(19, 20)],
  ["a refusal", needingSnapshot, (p) => p.rejected(12, 3), snapshot(10, 11)],
  ["an answered heartbeat", needingSnapshot, (p) => p.onHeartbeatReply(20, 30), snapshot(10, 11)],
  ["P26: one that reports enough", reporting(19), (p) => p.onHeartbeatReply(20, 30), probe(10, 20, false)],
  ["one that reports too little", reporting(18), (p) => p.onHeartbeatReply(20, 30), snapshot(10, 11)],
  ["a failure", needingSnapshot, (p) => p.snapshotFailed(TICK), probe(10, 11, false)],
  ["a lost connection before it began", needingSnapshot, (p) => p.disconnected(), probe(10, 11, false)],
  ["a lost connection while it is sent", streaming, (p) => p.disconnected(), snapshot(10, 11)],
  ["a lost connection after it was sent", sentSnapshot, (p) => p.disconnected(), probe(10, 11, false)],
  ["P46: lost data", streaming, (p) => p.forgetMatch(), probe(0, 11, false)],
];

function probe(match: number, next: number, isPaused: boolean) {
  return { state: "probe", match, next, isPaused } as const;
}

function replicate(match: number, next: number, isPaused = false) {
  return { state: "replicate", match, next, isPaused } as const;
}

function snapshot(match: number, next: number) {
  return { state: "snapshot", match, next, isPaused: true } as const;
}

function sentProbe(): Progress {
  const progress = probing();
  progress.sent(12, 99, COMMIT, TICK);
  return progress;
}

/** Probed at 10, and never answered. */
function unknown(): Progress {
  const progress = newProgress();
  progress.sent(12, 99, COMMIT, TICK);
  return progress;
}

function fill(progress: Progress): void {
  for (const index of [11, 12, 13, 14]) {
    progress.sent(index, 10, COMMIT, TICK);
  }
}

function full(): Progress {
  const progress = replicating();
  fill(progress);
  return progress;
}

function reporting(commit: number): () => Progress {
  return () => {
    const progress = needingSnapshot();
    progress.commit = commit;
    return progress;
  };
}

function streaming(): Progress {
  const progress = needingSnapshot();
  progress.snapshotStarted(25);
  return progress;
}

function sentSnapshot(): Progress {
  const progress = streaming();
  progress.snapshotSent(TICK);
  return progress;
}

describe("the progress of a peer", () => {
  for (const [event, from, act, to] of TRANSITIONS) {
    it(`${from().state}: ${event}: ${to.state} from ${to.next}`, () => {
      const progress = from();
      act(progress);
      expect(shape(progress)).to.deep.equal(to);
    });
  }

  it("reports whether an answer is news", () => {
    expect(replicating().acknowledged(10, FIRST, TICK)).to.equal(false);
    expect(replicating().acknowledged(11, FIRST, TICK)).to.equal(true);
    expect(full().rejected(10, 3)).to.equal(false);
    expect(full().rejected(11, 3)).to.equal(true);
  });

  it("is sent nothing while it is paused", () => {
    for (const progress of [sentProbe(), full(), needingSnapshot()]) {
      expect(() => progress.sent(20, 10, COMMIT, TICK)).to.throw(InvariantViolation, "paused");
    }
  });

  it("wants an Append without entries as a probe, to send the commit index, or to detect lost messages", () => {
    expect(probing().mayWantEmptyAppend(0)).to.equal(true);
    const progress = replicating();
    progress.sent(11, 10, COMMIT, TICK);
    expect(progress.mayWantEmptyAppend(COMMIT)).to.equal(false);
    expect(progress.mayWantEmptyAppend(COMMIT + 1)).to.equal(true);
    progress.onHeartbeatReply(FIRST, 11);
    expect(progress.mayWantEmptyAppend(COMMIT)).to.equal(true);
    progress.sent(11, 0, COMMIT, TICK);
    expect(progress.mayWantEmptyAppend(COMMIT)).to.equal(false);
  });

  it("P41: halves its window when the peer is busy, down to one message, and grows again with acknowledgements", () => {
    const progress = full();
    progress.slowDown();
    expect(progress.inFlightMax).to.equal(2);
    for (const max of [1, 1]) {
      progress.acknowledged(10, FIRST, TICK);
      progress.slowDown();
      expect(progress.inFlightMax).to.equal(max);
    }
    progress.acknowledged(10, FIRST, TICK);
    progress.sent(11, 10, COMMIT, TICK);
    expect(progress.isPaused).to.equal(true);
    progress.acknowledged(11, FIRST, TICK);
    expect(progress.inFlightMax).to.equal(2);
  });

  it("is stalled when a full window has not moved for the given number of ticks, and only then", () => {
    const progress = full();
    expect(progress.isStalled(TICK + 19, 20)).to.equal(false);
    expect(progress.isStalled(TICK + 20, 20)).to.equal(true);
    progress.acknowledged(11, FIRST, TICK + 15);
    expect(progress.isStalled(TICK + 99, 20), "not full").to.equal(false);
    progress.sent(15, 10, COMMIT, TICK + 30);
    expect(progress.isStalled(TICK + 34, 20)).to.equal(false);
    expect(progress.isStalled(TICK + 35, 20)).to.equal(true);
    expect(probing().isStalled(9_999, 20)).to.equal(false);
  });

  it("wants one snapshot at a time", () => {
    const progress = needingSnapshot();
    expect(progress.wantsSnapshot(TICK)).to.equal(true);
    progress.snapshotStarted(25);
    expect([progress.wantsSnapshot(TICK), progress.snapshotIndex]).to.deep.equal([false, 25]);
    progress.snapshotSent(TICK);
    expect(progress.wantsSnapshot(TICK)).to.equal(false);
  });

  it("P27: wants another snapshot when the peer has the first and the log begins even later", () => {
    const answered = sentSnapshot();
    answered.acknowledged(25, 40, TICK);
    expect([answered.state, answered.wantsSnapshot(TICK)]).to.deep.equal(["snapshot", true]);
    const reported = sentSnapshot();
    reported.commit = 25;
    reported.onHeartbeatReply(40, 50);
    expect([reported.state, reported.wantsSnapshot(TICK)]).to.deep.equal(["snapshot", true]);
  });

  it("waits longer after each failed snapshot, from 1 to 30 seconds, until entries go through again", () => {
    const progress = needingSnapshot();
    let tick = 0;
    const waits: number[] = [];
    for (let failures = 0; failures < 7; failures++) {
      progress.becomeSnapshot();
      progress.snapshotFailed(tick);
      let waited = 0;
      while (progress.isBackingOff(tick)) {
        tick++;
        waited++;
      }
      waits.push(waited);
    }
    expect(waits).to.deep.equal([20, 40, 80, 160, 320, 600, 600]);
    progress.acknowledged(30, FIRST, tick);
    progress.becomeSnapshot();
    progress.snapshotFailed(tick);
    expect(progress.isBackingOff(tick + 19)).to.equal(true);
    expect(progress.isBackingOff(tick + 20)).to.equal(false);
  });

  it("gives a peer that was sent everything 30 seconds to take it over", () => {
    expect(streaming().isSnapshotOverdue(99_999)).to.equal(false);
    expect(sentSnapshot().isSnapshotOverdue(TICK + 599)).to.equal(false);
    expect(sentSnapshot().isSnapshotOverdue(TICK + 600)).to.equal(true);
  });

  it("takes no news of a snapshot where none is wanted", () => {
    const progress = replicating();
    progress.snapshotStarted(25);
    progress.snapshotSent(TICK);
    progress.snapshotFailed(TICK);
    expect([progress.state, progress.snapshotIndex, progress.isBackingOff(TICK)]).to.deep.equal([
      "replicate",
      0,
      false,
    ]);
  });
});

describe("a window beside a plain list", () => {
  const operation = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("add" as const), bytes: fc.integer({ min: 1, max: 200 }) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("free" as const), share: fc.nat(10) }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom({ kind: "one" } as const, { kind: "halve" } as const, { kind: "clear" } as const),
    },
  );

  it("holds the same after any operations", () => {
    const limits = fc.record({
      messagesMax: fc.integer({ min: 1, max: 9 }),
      bytesMax: fc.integer({ min: 1, max: 500 }),
    });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 120 }), limits, (script, { messagesMax, bytesMax }) => {
        const window = new Window({ messagesMax, bytesMax });
        let model: { index: number; bytes: number }[] = [];
        let max = messagesMax;
        let index = 0;
        const isFull = () => model.length >= max || model.reduce((sum, { bytes }) => sum + bytes, 0) >= bytesMax;
        for (const step of script) {
          if (step.kind === "add" && !isFull()) {
            index += 3;
            window.add(index, step.bytes);
            model.push({ index, bytes: step.bytes });
          } else if (step.kind === "free") {
            const upTo = index - step.share;
            window.freeUpTo(upTo);
            const left = model.filter((message) => message.index > upTo);
            max = Math.min(messagesMax, max + model.length - left.length);
            model = left;
          } else if (step.kind === "one") {
            window.freeOneIfFull();
            model = isFull() ? model.slice(1) : model;
          } else if (step.kind === "halve") {
            window.halve();
            max = Math.max(1, Math.floor(max / 2));
          } else if (step.kind === "clear") {
            window.clear();
            model = [];
          }
          expect([window.count, window.isFull, window.messagesMax]).to.deep.equal([model.length, isFull(), max]);
        }
      }),
    );
  });

  it("takes nothing more when it is full, and holds one message at least", () => {
    const window = new Window({ messagesMax: 1, bytesMax: 1 });
    window.add(1, 1_000_000);
    expect(() => window.add(2, 1)).to.throw(InvariantViolation);
    expect(() => new Window({ messagesMax: 0, bytesMax: 1 })).to.throw(InvariantViolation);
  });
});
