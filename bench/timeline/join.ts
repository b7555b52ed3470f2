/**
 * Joins the spans of all members to the timeline of one put, and finds its critical path.
 *
 * The trace of the put connects the spans. A put has its own entry, and may share its log write.
 */

import { type CollectedTraces, type PutSpans, TimelineError } from "./put-spans.ts";

/** The kinds of time. */
export const KINDS = ["code", "threads", "disk", "wire", "generator"] as const;
export type Kind = (typeof KINDS)[number];

/** A step, and the kind of the time since the step before it. */
export interface Point {
  readonly step: string;
  readonly kind: Kind;
  readonly atNs: number;
}

/** Consecutive steps, from the end of another leg on. */
export interface Leg {
  readonly name: LegName;
  /** The start of the leg. */
  readonly fromNs: number;
  readonly points: readonly Point[];
}

export type LegName = "request" | "leader's disk" | "first follower" | "commit index" | "leader applies" | "answer";

/** The last event that the put waited for, between the log and the answer. */
export type Decisive = "the leader's disk" | "a follower's acknowledgement" | "the asked follower's disk";

export interface Timeline {
  readonly askedAt: "leader" | "follower";
  readonly decisive: Decisive;
  readonly startNs: number;
  readonly legs: readonly Leg[];
  /** Everything that the answer had to wait for, from the sending to the receipt. */
  readonly path: readonly Point[];
}

/** A put, as the client saw it. Times are in nanoseconds since the time origin of its process. */
export interface Put {
  readonly requestId: string;
  /** Process id of the member that got the put. */
  readonly pid: number;
  readonly sentNs: number;
  /** The HTTP/2 session of the client has the request. */
  readonly submittedNs: number;
  /** The headers of the answer have arrived. */
  readonly headersNs: number;
  /** The trailers of the answer, which end it, have arrived. */
  readonly trailersNs: number;
  readonly answeredNs: number;
}

/** The timeline of a put in a cluster of so many members. Raises a TimelineError if a span is missing. */
export function joinPut(put: Put, traces: CollectedTraces, members: number): Timeline {
  const spans = traces.put(put.requestId);
  const replicate = spans.span("quoin.replicate");
  const leader = replicate.member;
  const asked = spans.root.member;
  const appendedNs = replicate.fromNs;
  const request = requestLeg(put, spans, asked === leader, appendedNs);
  const own = diskPoints(spans, leader, appendedNs);
  const acknowledgements = spans
    .acknowledgements(replicate)
    .map(({ member, atNs }): readonly Point[] => [
      ...followerPoints(spans, member),
      { step: "the leader has decoded the acknowledgement", kind: "wire", atNs },
    ])
    .sort(byEnd);
  const [firstFollower] = acknowledgements;
  const majority = Math.floor(members / 2) + 1;
  const vote = [own, ...acknowledgements].sort(byEnd)[majority - 1];
  if (firstFollower === undefined || vote === undefined) {
    throw new TimelineError(`put ${put.requestId}: the spans show no majority`);
  }
  const legs: Leg[] = [
    request,
    { name: "leader's disk", fromNs: appendedNs, points: own },
    { name: "first follower", fromNs: appendedNs, points: firstFollower },
  ];
  // The leader, too, applies only entries that are on its own disk; it informs others as soon as an entry is committed.
  const due = byEnd(vote, own) > 0 ? vote : own;
  if (asked === leader) {
    const answer = answerLeg(put, spans, endOf(due));
    const decisive = due === own ? "the leader's disk" : "a follower's acknowledgement";
    return timelineOf("leader", decisive, put, [...legs, answer], [request.points, due, answer.points]);
  }
  const told: Leg = {
    name: "commit index",
    fromNs: endOf(vote),
    points: [
      { step: "the leader has committed", kind: "code", atNs: replicate.toNs },
      { step: "the asked follower knows the commit index", kind: "wire", atNs: spans.span("quoin.forward").toNs },
    ],
  };
  legs.push(told, { name: "leader applies", fromNs: endOf(due), points: applyPoints(spans, leader) });
  // A follower, too, applies only entries that are on its own disk.
  const askedDisk = followerPoints(spans, asked);
  if (byEnd(askedDisk, told.points) > 0) {
    const answer = answerLeg(put, spans, endOf(askedDisk));
    const parts = [request.points, askedDisk, answer.points];
    return timelineOf("follower", "the asked follower's disk", put, [...legs, answer], parts);
  }
  const answer = answerLeg(put, spans, endOf(told.points));
  const decisive = vote === own ? "the leader's disk" : "a follower's acknowledgement";
  const parts = [request.points, vote, told.points, answer.points];
  return timelineOf("follower", decisive, put, [...legs, answer], parts);
}

/** From the client to the entry in the leader's memory. */
function requestLeg(put: Put, spans: PutSpans, isAtLeader: boolean, appendedNs: number): Leg {
  const { root } = spans;
  const admittedNs = spans.eventNs(root, "request admitted");
  const points: Point[] = [
    { step: "the client's HTTP/2 session has the request", kind: "generator", atNs: put.submittedNs },
    { step: "the asked member has the headers", kind: "wire", atNs: root.fromNs },
    { step: "the headers are checked", kind: "code", atNs: admittedNs },
    // Its bytes may be there before.
    {
      step: "the request is there whole",
      kind: "code",
      atNs: Math.max(admittedNs, spans.eventNs(root, "request complete")),
    },
    {
      step: "decoded, authorised, queued as a command",
      kind: "code",
      atNs: spans.span("quoin.propose").fromNs,
    },
  ];
  if (!isAtLeader) {
    points.push(
      { step: "a turn has handed it to the connection", kind: "code", atNs: spans.span("quoin.forward").fromNs },
      { step: "the leader has decoded the forward", kind: "wire", atNs: spans.span("quoin.lead").fromNs },
    );
  }
  points.push({ step: "a turn has appended it in the leader's memory", kind: "code", atNs: appendedNs });
  return { name: "request", fromNs: put.sentNs, points };
}

/** From the entry in memory to the main thread, once it knows that the entry is durable. */
function diskPoints(spans: PutSpans, member: string, fromNs: number): Point[] {
  const { fromNs: handedNs, toNs, writeNs, previousNs } = spans.write(member);
  // Only one log write is in flight.
  const hasWaited = previousNs > fromNs;
  return [
    { step: "the log thread is sent the write", kind: hasWaited ? "disk" : "code", atNs: handedNs },
    { step: "both ways between the threads", kind: "threads", atNs: toNs - writeNs },
    { step: "synced, and the mirror is written", kind: "disk", atNs: toNs },
  ];
}

/** From the leader's memory to the disk of a follower. */
function followerPoints(spans: PutSpans, follower: string): Point[] {
  const { fromNs } = spans.span("quoin.follow", follower);
  return [
    { step: "the follower has decoded the append", kind: "wire", atNs: fromNs },
    ...diskPoints(spans, follower, fromNs),
  ];
}

/** From the last condition for applying until the entry is applied. */
function applyPoints(spans: PutSpans, member: string): Point[] {
  const { fromNs, toNs } = spans.span("quoin.apply", member);
  return [
    { step: "committed, may be applied", kind: "code", atNs: fromNs },
    { step: "applied, written to the state", kind: "code", atNs: toNs },
  ];
}

function answerLeg(put: Put, spans: PutSpans, fromNs: number): Leg {
  return {
    name: "answer",
    fromNs,
    points: [
      ...applyPoints(spans, spans.root.member),
      { step: "the outcome meets its call", kind: "code", atNs: spans.span("quoin.propose").toNs },
      { step: "the answer is encoded", kind: "code", atNs: spans.root.toNs },
      { step: "the client has the headers", kind: "wire", atNs: put.headersNs },
      { step: "the client has the trailers", kind: "wire", atNs: put.trailersNs },
      { step: "the client has the answer", kind: "generator", atNs: put.answeredNs },
    ],
  };
}

function timelineOf(
  askedAt: Timeline["askedAt"],
  decisive: Decisive,
  put: Put,
  legs: readonly Leg[],
  parts: readonly (readonly Point[])[],
): Timeline {
  const path = parts.flat();
  let beforeNs = put.sentNs;
  for (const { step, atNs } of path) {
    if (atNs < beforeNs) {
      throw new TimelineError(`put ${put.requestId}: "${step}" is ${beforeNs - atNs} ns before the step before it`);
    }
    beforeNs = atNs;
  }
  return { askedAt, decisive, startNs: put.sentNs, legs, path };
}

/** Orders paths by their ends. */
function byEnd(one: readonly Point[], other: readonly Point[]): number {
  return endOf(one) - endOf(other);
}

function endOf(points: readonly Point[]): number {
  return points.at(-1)?.atNs ?? Number.NaN;
}
