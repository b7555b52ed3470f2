import { expect } from "chai";
import type { CollectedSpan } from "../../testing/index.ts";
import { joinPut, type Put, type Timeline } from "./join.ts";
import { CollectedTraces, TimelineError } from "./put-spans.ts";

const LEADER = 1;
const INDEX = 100;
const REQUEST_ID = "7a0e7a52";
const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const ORIGIN_NS = 1_750_000_000_000_000_000n;

type Parts = Partial<Pick<CollectedSpan, "traceId" | "attributes" | "links">> & {
  readonly events?: readonly (readonly [name: string, us: number, member?: number])[];
};

/**
 * The spans of a put at member `asked` with a given disk time for its entry; every other step takes 1 µs, or 10 µs
 * between threads and members.
 */
class Scene {
  readonly #spans: CollectedSpan[] = [];
  readonly put: Put;

  constructor(asked: number, syncUs: readonly [leader: number, second: number, third: number]) {
    // Earlier puts through both followers say how they are called.
    for (const member of [2, 3]) {
      const traceId = String(member).repeat(32);
      this.span(member, "a call before", -9, -8, { traceId, attributes: { "quoin.request_id": `before-${member}` } });
      this.span(LEADER, "quoin.lead", -9, -8, { traceId, attributes: { "quoin.forwarded_by": member } });
    }
    const isForwarded = asked !== LEADER;
    const appendedUs = isForwarded ? 36 : 25;
    const ownUs = this.#write(LEADER, appendedUs + 1, syncUs[0]);
    const second = this.#replicate(2, appendedUs, syncUs[1]);
    const third = this.#replicate(3, appendedUs, syncUs[2]);
    const acknowledged: Parts["events"] = [
      ["acknowledged", second.acknowledgedUs, 2],
      ["acknowledged", third.acknowledgedUs, 3],
    ];
    const voteUs = [ownUs, second.acknowledgedUs, third.acknowledgedUs].sort((one, other) => one - other)[1] ?? 0;
    const committedUs = voteUs + 1;
    this.span(LEADER, "quoin.replicate", appendedUs, committedUs, { events: acknowledged });
    let answerUs = this.#apply(LEADER, Math.max(committedUs, ownUs + 1));
    if (isForwarded) {
      const toldUs = committedUs + 10;
      this.span(asked, "quoin.forward", 25, toldUs);
      this.span(LEADER, "quoin.lead", 35, committedUs, { attributes: { "quoin.forwarded_by": asked } });
      const { durableUs } = asked === 2 ? second : third;
      answerUs = this.#apply(asked, Math.max(toldUs, durableUs + 1));
    }
    this.span(asked, "quoin.propose", 23, answerUs + 1);
    this.span(asked, "a put", 20, answerUs + 2, {
      attributes: { "quoin.request_id": REQUEST_ID },
      events: [
        ["request admitted", 21],
        ["request complete", 22],
      ],
    });
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

  span(member: number, name: string, fromUs: number, toUs: number, parts: Parts = {}): string {
    const { traceId = TRACE_ID, attributes = {}, links = [], events = [] } = parts;
    const spanId = String(this.#spans.length).padStart(16, "0");
    this.#spans.push({
      traceId,
      spanId,
      parentId: "",
      state: "",
      name,
      kind: "internal",
      fromNs: wallNs(fromUs),
      toNs: wallNs(toUs),
      attributes,
      resource: { "quoin.member": `q-${member}` },
      events: events.map(([event, us, id]) => ({
        name: event,
        atNs: wallNs(us),
        attributes: id === undefined ? {} : { "quoin.member_id": id },
      })),
      links,
      error: undefined,
    });
    return spanId;
  }

  without(member: number, name: string): this {
    const at = this.#spans.findLastIndex(
      (span) => span.name === name && span.resource["quoin.member"] === `q-${member}`,
    );
    this.#spans.splice(at, 1);
    return this;
  }

  join(put = this.put): Timeline {
    // Members export at their own times.
    return joinPut(put, new CollectedTraces(this.#spans.toReversed(), ORIGIN_NS), 3);
  }

  /** Returns the time at which the main thread knows that the write is durable. */
  #write(member: number, handedUs: number, syncUs: number): number {
    const durableUs = handedUs + 20 + syncUs;
    const attributes = { "quoin.log.first_index": INDEX, "quoin.log.write_ms": syncUs / 1000 };
    const traceId = `a${member}`.repeat(16);
    const spanId = this.span(member, "quoin.log.group_commit", handedUs, durableUs, { traceId, attributes });
    this.span(member, "quoin.log.write", handedUs, durableUs, { links: [{ traceId, spanId }] });
    return durableUs;
  }

  #replicate(follower: number, appendedUs: number, syncUs: number) {
    const durableUs = this.#write(follower, appendedUs + 11, syncUs);
    this.span(follower, "quoin.follow", appendedUs + 10, durableUs, { attributes: { "quoin.leader": LEADER } });
    return { durableUs, acknowledgedUs: durableUs + 10 };
  }

  /** Returns the time at which the entry is applied. */
  #apply(member: number, applicableUs: number): number {
    this.span(member, "quoin.apply", applicableUs, applicableUs + 2);
    return applicableUs + 2;
  }
}

function wallNs(us: number): bigint {
  return ORIGIN_NS + BigInt(us) * 1000n;
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

describe("the join of spans to the timeline of a put", () => {
  it("goes through the faster follower if its acknowledgement comes after the leader's disk", () => {
    const timeline = new Scene(LEADER, [100, 500, 200]).join();
    expect(timeline.askedAt).to.equal("leader");
    expect(timeline.decisive).to.equal("a follower's acknowledgement");
    expect(timeline.legs.map(({ name }) => name)).to.deep.equal([
      ...["request", "leader's disk", "first follower", "answer"],
    ]);
    expect(endUs(timeline, "request")).to.equal(25);
    expect(endUs(timeline, "leader's disk")).to.equal(146);
    expect(endUs(timeline, "first follower")).to.equal(266);
    expect(totalUs(timeline)).to.equal(291);
    expect(timeline.path.filter(({ kind }) => kind === "disk").map(({ atNs }) => atNs)).to.deep.equal([256_000]);
    expect(timeline.path.filter(({ kind }) => kind === "threads").map(({ atNs }) => atNs)).to.deep.equal([56_000]);
  });

  it("goes through the leader's disk if that is the slowest: the leader applies only its own entries", () => {
    const timeline = new Scene(LEADER, [900, 100, 200]).join();
    expect(timeline.decisive).to.equal("the leader's disk");
    expect(endUs(timeline, "leader's disk")).to.equal(946);
    expect(totalUs(timeline)).to.equal(971);
  });

  it("goes from an asked follower to the leader and back, without the leader's disk if that is the slowest", () => {
    const timeline = new Scene(2, [900, 100, 200]).join();
    expect(timeline.askedAt).to.equal("follower");
    expect(timeline.decisive).to.equal("a follower's acknowledgement");
    expect(timeline.legs.map(({ name }) => name)).to.deep.equal([
      ...["request", "leader's disk", "first follower", "commit index", "leader applies", "answer"],
    ]);
    expect(endUs(timeline, "request")).to.equal(36);
    // The second acknowledgement commits.
    expect(endUs(timeline, "first follower")).to.equal(177);
    expect(endUs(timeline, "commit index")).to.equal(288);
    expect(endUs(timeline, "leader applies")).to.equal(960);
    expect(totalUs(timeline)).to.equal(312);
  });

  it("goes through the leader's disk if its vote is the one that commits", () => {
    const timeline = new Scene(3, [100, 900, 10]).join();
    expect(timeline.decisive).to.equal("the leader's disk");
    expect(endUs(timeline, "leader's disk")).to.equal(157);
    expect(totalUs(timeline)).to.equal(192);
  });

  it("goes through the asked follower's own disk if that is later than the commit", () => {
    const timeline = new Scene(2, [100, 900, 200]).join();
    expect(timeline.decisive).to.equal("the asked follower's disk");
    expect(endUs(timeline, "commit index")).to.equal(288);
    expect(totalUs(timeline)).to.equal(992);
  });

  it("counts the wait for the previous log write as disk", () => {
    const handed = (timeline: Timeline) => timeline.legs.find(({ name }) => name === "leader's disk")?.points[0];
    const scene = new Scene(LEADER, [100, 100, 100]);
    scene.span(LEADER, "quoin.log.group_commit", 1, 25, { traceId: "b".repeat(32) });
    expect(handed(scene.join())?.kind).to.equal("code");
    scene.span(LEADER, "quoin.log.group_commit", 2, 26, { traceId: "c".repeat(32) });
    expect(handed(scene.join())?.kind).to.equal("disk");
  });

  it("takes a message that arrives during the checks of the headers as there when they are over", () => {
    const scene = new Scene(LEADER, [100, 100, 100]).without(LEADER, "a put");
    const attributes = { "quoin.request_id": REQUEST_ID };
    const events = [["request complete", 20] as const, ["request admitted", 22] as const];
    scene.span(LEADER, "a put", 20, scene.put.headersNs / 1000, { attributes, events });
    const steps = scene.join().legs[0]?.points.slice(1, 4);
    expect(steps?.map(({ atNs }) => atNs)).to.deep.equal([20_000, 22_000, 22_000]);
  });

  for (const [member, name, missing] of [
    [2, "a put", "trace"],
    [2, "quoin.propose", "quoin.propose"],
    [2, "quoin.forward", "quoin.forward"],
    [LEADER, "quoin.lead", "quoin.lead"],
    [LEADER, "quoin.replicate", "quoin.replicate"],
    [LEADER, "quoin.log.write", "quoin.log.write of q-1"],
    [LEADER, "quoin.log.group_commit", "quoin.log.group_commit of q-1"],
    [3, "quoin.follow", "quoin.follow of q-3"],
    [2, "quoin.apply", "quoin.apply of q-2"],
  ] as const) {
    it(`is refused if ${name} of member ${member} is missing`, () => {
      const scene = new Scene(2, [100, 200, 300]).without(member, name);
      expect(() => scene.join()).to.throw(TimelineError, `put 7a0e7a52 has no ${missing}`);
    });
  }

  it("is refused if no span says which member has acknowledged", () => {
    const scene = new Scene(LEADER, [100, 200, 300]).without(3, "a call before");
    expect(() => scene.join()).to.throw(TimelineError, "has no span that names member 3");
  });

  it("is refused if the acknowledgements make no majority", () => {
    const scene = new Scene(LEADER, [100, 200, 300]).without(LEADER, "quoin.replicate");
    scene.span(LEADER, "quoin.replicate", 25, 500);
    expect(() => scene.join()).to.throw(TimelineError, "the spans show no majority");
  });

  it("is refused if a step comes before the step that it follows", () => {
    const scene = new Scene(LEADER, [100, 100, 100]);
    expect(() => scene.join({ ...scene.put, submittedNs: 20_500 })).to.throw(
      TimelineError,
      "500 ns before the step before it",
    );
  });
});
