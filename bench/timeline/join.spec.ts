import type { StampName } from "@quoin/node/local";
import { expect } from "chai";
import { idsOf, joinPut, type Put, type StampedMember, type Timeline } from "./join.ts";
import { StampLog, type TimedStamp, TimelineError } from "./stamp-log.ts";

const LEADER = 1;
const INDEX = 100;
const SEQ = 9;
const REQUEST_ID = "7a0e7a52";

/**
 * A put at member `asked` with a given disk time for its entry; every other step takes 1 µs, or 10 µs between threads
 * and members.
 */
class Scene {
  readonly #stamps = new Map<number, TimedStamp[]>([1, 2, 3].map((id) => [id, []]));
  readonly #asked: number;
  readonly put: Put;

  constructor(asked: number, syncUs: readonly [leader: number, second: number, third: number]) {
    this.#asked = asked;
    // Two calls have the same stream number: the first is over.
    this.stamp(asked, -5, "call.arrived", 5);
    this.stamp(asked, 20, "call.arrived", 5);
    this.stamp(asked, 21, "call.admitted", 5, 0, 0, REQUEST_ID);
    this.stamp(asked, 22, "call.complete", 0, 0, 0, REQUEST_ID);
    this.stamp(asked, 23, "proposal.queued", SEQ);
    this.stamp(asked, 24, "turn.begun");
    const appendedUs = asked === LEADER ? 25 : this.#forward();
    this.stamp(LEADER, appendedUs, "proposal.appended", INDEX, SEQ, asked);
    for (const follower of [2, 3]) {
      this.stamp(LEADER, appendedUs + 1, "progress.sent", INDEX, INDEX - 1, follower, "append");
      this.stamp(LEADER, appendedUs + 3, "peer.written", follower, 0, 0, "log");
    }
    const ownUs = this.#write(LEADER, appendedUs + 2, syncUs[0]);
    const second = this.#replicate(2, appendedUs + 3, syncUs[1]);
    const third = this.#replicate(3, appendedUs + 3, syncUs[2]);
    const committedUs = [ownUs, second.acknowledgedUs, third.acknowledgedUs].sort((one, other) => one - other)[1] ?? 0;
    const dueUs = Math.max(committedUs, ownUs);
    let answerUs = this.#apply(LEADER, dueUs);
    if (asked !== LEADER) {
      const toldUs = this.#tell(committedUs);
      const { durableUs } = asked === 2 ? second : third;
      answerUs = this.#apply(asked, Math.max(toldUs, durableUs));
    }
    this.stamp(asked, answerUs + 1, "proposal.answered", SEQ);
    this.stamp(asked, answerUs + 2, "call.answered", 0, 0, 0, REQUEST_ID);
    this.put = {
      requestId: REQUEST_ID,
      pid: asked,
      sentNs: 0,
      submittedNs: 10_000,
      headersNs: (answerUs + 12) * 1000,
      trailersNs: (answerUs + 13) * 1000,
      answeredNs: (answerUs + 22) * 1000,
    };
  }

  stamp(member: number, us: number, name: StampName, first = 0, second = 0, third = 0, text = ""): void {
    this.#stamps.get(member)?.push({ atNs: us * 1000, name, first, second, third, text });
  }

  without(member: number, name: StampName): this {
    const stamps = this.#stamps.get(member) ?? [];
    this.#stamps.set(
      member,
      stamps.filter((stamp) => stamp.name !== name),
    );
    return this;
  }

  join(): Timeline {
    const [leader, ...followers] = [...this.#stamps].map(([id, stamps]): StampedMember => {
      return { id, log: new StampLog(`member ${id}`, stamps) };
    });
    const members = { leader: leader as StampedMember, followers };
    const asked = [members.leader, ...followers].find(({ id }) => id === this.#asked);
    return joinPut(this.put, asked as StampedMember, members);
  }

  log(member: number): StampLog {
    return new StampLog(`member ${member}`, this.#stamps.get(member) ?? []);
  }

  #forward(): number {
    this.stamp(this.#asked, 25, "proposal.forwarded", SEQ, LEADER);
    this.stamp(this.#asked, 26, "peer.written", LEADER, 0, 0, "log");
    this.stamp(LEADER, 36, "peer.read");
    this.stamp(LEADER, 37, "proposal.arrived", SEQ, this.#asked);
    this.stamp(LEADER, 38, "turn.begun");
    return 39;
  }

  /** Returns the time at which the main thread knows that the write is durable. */
  #write(member: number, handedUs: number, syncUs: number): number {
    const writeSeq = 40 + member;
    const syncedUs = handedUs + 10 + syncUs;
    this.stamp(member, handedUs, "log.handed", writeSeq, INDEX);
    this.stamp(member, handedUs + 10, "log.begun", writeSeq);
    this.stamp(member, syncedUs, "log.synced", writeSeq);
    this.stamp(member, syncedUs + 1, "log.written", writeSeq);
    this.stamp(member, syncedUs + 11, "log.durable", writeSeq);
    this.stamp(member, syncedUs + 12, "turn.begun");
    return syncedUs + 11;
  }

  #replicate(follower: number, sentUs: number, syncUs: number) {
    this.stamp(follower, sentUs + 10, "peer.read");
    this.stamp(follower, sentUs + 11, "progress.arrived", INDEX, INDEX - 1, LEADER, "append");
    this.stamp(follower, sentUs + 12, "turn.begun");
    const durableUs = this.#write(follower, sentUs + 13, syncUs);
    this.stamp(follower, durableUs + 2, "acknowledgement.sent", INDEX, follower, LEADER);
    this.stamp(follower, durableUs + 3, "peer.written", LEADER, 0, 0, "log");
    this.stamp(LEADER, durableUs + 13, "peer.read");
    this.stamp(LEADER, durableUs + 14, "acknowledgement.arrived", INDEX, follower);
    this.stamp(LEADER, durableUs + 15, "turn.begun");
    return { durableUs, acknowledgedUs: durableUs + 14 };
  }

  #tell(committedUs: number): number {
    this.stamp(LEADER, committedUs + 2, "progress.sent", 0, INDEX, this.#asked, "append");
    this.stamp(LEADER, committedUs + 3, "peer.written", this.#asked, 0, 0, "log");
    this.stamp(this.#asked, committedUs + 13, "peer.read");
    this.stamp(this.#asked, committedUs + 14, "progress.arrived", 0, INDEX, LEADER, "append");
    return committedUs + 14;
  }

  /** Returns the time at which the entry is applied. */
  #apply(member: number, dueUs: number): number {
    this.stamp(member, dueUs + 1, "turn.begun");
    this.stamp(member, dueUs + 2, "apply.due", INDEX);
    this.stamp(member, dueUs + 3, "apply.begun");
    this.stamp(member, dueUs + 4, "apply.done", INDEX);
    return dueUs + 4;
  }
}

/** Microseconds from the sending to the receipt. */
function totalUs({ path }: Timeline): number {
  return (path.at(-1)?.atNs ?? 0) / 1000;
}

/** Microseconds from the sending to the end of a leg. */
function endUs({ legs }: Timeline, name: string): number | undefined {
  const endNs = legs.find((leg) => leg.name === name)?.points.at(-1)?.atNs;
  return endNs === undefined ? undefined : endNs / 1000;
}

describe("the join of stamps to the timeline of a put", () => {
  it("goes through the faster follower if its acknowledgement comes after the leader's disk", () => {
    const timeline = new Scene(LEADER, [100, 500, 200]).join();
    expect(timeline.askedAt).to.equal("leader");
    expect(timeline.decisive).to.equal("a follower's acknowledgement");
    expect(timeline.legs.map(({ name }) => name)).to.deep.equal([
      ...["request", "leader's disk", "first follower", "answer"],
    ]);
    expect(endUs(timeline, "request")).to.equal(25);
    expect(endUs(timeline, "leader's disk")).to.equal(148);
    expect(endUs(timeline, "first follower")).to.equal(276);
    expect(totalUs(timeline)).to.equal(302);
    expect(timeline.path.filter(({ kind }) => kind === "disk").map(({ atNs }) => atNs)).to.deep.equal([
      251_000, 252_000,
    ]);
  });

  it("goes through the leader's disk if that is the slowest: the leader applies only its own entries", () => {
    const timeline = new Scene(LEADER, [900, 100, 200]).join();
    expect(timeline.decisive).to.equal("the leader's disk");
    expect(endUs(timeline, "leader's disk")).to.equal(948);
    expect(totalUs(timeline)).to.equal(974);
  });

  it("goes from an asked follower to the leader and back, without the leader's disk if that is the slowest", () => {
    const timeline = new Scene(2, [900, 100, 200]).join();
    expect(timeline.askedAt).to.equal("follower");
    expect(timeline.decisive).to.equal("a follower's acknowledgement");
    expect(timeline.legs.map(({ name }) => name)).to.deep.equal([
      ...["request", "leader's disk", "first follower", "commit index", "leader applies", "answer"],
    ]);
    expect(endUs(timeline, "request")).to.equal(39);
    // The second acknowledgement commits.
    expect(endUs(timeline, "first follower")).to.equal(190);
    expect(endUs(timeline, "commit index")).to.equal(304);
    expect(endUs(timeline, "leader applies")).to.equal(966);
    expect(totalUs(timeline)).to.equal(330);
  });

  it("goes through the leader's disk if its vote is the one that commits", () => {
    const timeline = new Scene(3, [100, 900, 10]).join();
    expect(timeline.decisive).to.equal("the leader's disk");
    expect(endUs(timeline, "leader's disk")).to.equal(162);
    expect(totalUs(timeline)).to.equal(202);
  });

  it("goes through the asked follower's own disk if that is later than the commit", () => {
    const timeline = new Scene(2, [100, 900, 200]).join();
    expect(timeline.decisive).to.equal("the asked follower's disk");
    expect(endUs(timeline, "commit index")).to.equal(304);
    expect(totalUs(timeline)).to.equal(1002);
  });

  it("counts the wait for the previous log write as disk", () => {
    const handed = (timeline: Timeline) => timeline.legs.find(({ name }) => name === "leader's disk")?.points[0];
    const scene = new Scene(LEADER, [100, 100, 100]);
    expect(handed(scene.join())?.kind).to.equal("code");
    scene.stamp(LEADER, 26, "turn.begun");
    expect(handed(scene.join())?.kind).to.equal("disk");
  });

  it("finds leader and follower in the first acknowledgement", () => {
    expect(idsOf(new Scene(LEADER, [1, 1, 1]).log(3))).to.deep.equal({ follower: 3, leader: LEADER });
  });

  for (const [member, name] of [
    [2, "call.complete"],
    [2, "proposal.answered"],
    [LEADER, "proposal.arrived"],
    [LEADER, "proposal.appended"],
    [LEADER, "log.synced"],
    [3, "progress.arrived"],
    [2, "apply.done"],
  ] as const) {
    it(`is refused if ${name} of member ${member} is missing`, () => {
      const scene = new Scene(2, [100, 200, 300]).without(member, name);
      expect(() => scene.join()).to.throw(TimelineError, `member ${member} has no stamp ${name}`);
    });
  }

  it("is refused if the acknowledgements make no majority", () => {
    const scene = new Scene(LEADER, [100, 200, 300]).without(LEADER, "acknowledgement.arrived");
    expect(() => scene.join()).to.throw(TimelineError, "no majority for entry 100");
  });

  it("is refused if a step comes before the step that it follows", () => {
    const scene = new Scene(LEADER, [100, 100, 100]);
    const put = { ...scene.put, submittedNs: 20_500 };
    const leader = { id: LEADER, log: scene.log(LEADER) };
    const followers = [2, 3].map((id) => ({ id, log: scene.log(id) }));
    expect(() => joinPut(put, leader, { leader, followers })).to.throw(
      TimelineError,
      "500 ns before the step before it",
    );
  });
});
