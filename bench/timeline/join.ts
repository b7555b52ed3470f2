/**
 * Joins the stamps of all members to the timeline of one put, and finds its critical path.
 *
 * Within a thread a step belongs to the event that caused it: a turn takes everything that arrived before it. Between
 * threads and members, the number of the attempt, the index of the entry, and the number of the log write connect the
 * stamps. A put has its own entry, and may share its log write.
 */

import { type StampLog, type TimedStamp, TimelineError } from "./stamp-log.ts";

/** The kinds of time. */
export const KINDS = ["code", "loop", "threads", "disk", "wire", "generator"] as const;
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

/** A put, as the client saw it. Times are in nanoseconds on the clock of the machine. */
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

/** A member, and its stamps. */
export interface StampedMember {
  readonly id: number;
  readonly log: StampLog;
}

export interface StampedCluster {
  readonly leader: StampedMember;
  readonly followers: readonly StampedMember[];
}

/**
 * The ids of the leader and of the follower with these stamps. Raises a TimelineError if the follower acknowledged
 * nothing.
 */
export function idsOf(log: StampLog): { readonly follower: number; readonly leader: number } {
  const { second, third } = log.first("acknowledgement.sent", 0);
  return { follower: second, leader: third };
}

/** The timeline of a put to member `asked`. Raises a TimelineError if a stamp is missing. */
export function joinPut(put: Put, asked: StampedMember, { leader, followers }: StampedCluster): Timeline {
  const { request, seq, index } = joinRequest(put, asked, leader);
  const appendedNs = endOf(request.points);
  const own = diskPoints(leader.log, index, appendedNs);
  const acknowledgements = followers
    .filter(({ id }) => hasAcknowledged(leader.log, id, index, appendedNs))
    .map((follower) => followerPoints(leader, follower, index, appendedNs))
    .sort(byEnd);
  const [firstFollower] = acknowledgements;
  const majority = Math.floor((followers.length + 1) / 2) + 1;
  const vote = [own, ...acknowledgements].sort(byEnd)[majority - 1];
  if (firstFollower === undefined || vote === undefined) {
    throw new TimelineError(`put ${put.requestId}: the stamps show no majority for entry ${index}`);
  }
  const legs: Leg[] = [
    request,
    { name: "leader's disk", fromNs: appendedNs, points: own },
    { name: "first follower", fromNs: appendedNs, points: firstFollower },
  ];
  // The leader, too, applies only entries that are on its own disk; it informs others as soon as an entry is committed.
  const due = byEnd(vote, own) > 0 ? vote : own;
  if (asked === leader) {
    const answer = answerLeg(put, leader.log, index, seq, endOf(due));
    const decisive = due === own ? "the leader's disk" : "a follower's acknowledgement";
    return timelineOf("leader", decisive, put, [...legs, answer], [request.points, due, answer.points]);
  }
  const told = commitIndexLeg(leader, asked, index, endOf(vote));
  legs.push(told, {
    name: "leader applies",
    fromNs: endOf(due),
    points: applyPoints(leader.log, index, endOf(due)),
  });
  // A follower, too, applies only entries that are on its own disk.
  const askedDisk = followerPoints(leader, asked, index, appendedNs, "durable");
  if (byEnd(askedDisk, told.points) > 0) {
    const answer = answerLeg(put, asked.log, index, seq, endOf(askedDisk));
    const parts = [request.points, askedDisk, answer.points];
    return timelineOf("follower", "the asked follower's disk", put, [...legs, answer], parts);
  }
  const answer = answerLeg(put, asked.log, index, seq, endOf(told.points));
  const decisive = vote === own ? "the leader's disk" : "a follower's acknowledgement";
  const parts = [request.points, vote, told.points, answer.points];
  return timelineOf("follower", decisive, put, [...legs, answer], parts);
}

function hasAcknowledged(leader: StampLog, follower: number, index: number, fromNs: number): boolean {
  const isOfEntry = ({ first, second }: TimedStamp) => first >= index && second === follower;
  return leader.find("acknowledgement.arrived", fromNs, isOfEntry) !== null;
}

/** From the client to the entry in the leader's memory. */
function joinRequest(
  put: Put,
  asked: StampedMember,
  leader: StampedMember,
): { readonly request: Leg; readonly seq: number; readonly index: number } {
  const { log } = asked;
  const { requestId, sentNs } = put;
  const isOfPut = ({ text }: TimedStamp) => text === requestId;
  const admitted = log.first("call.admitted", sentNs, isOfPut);
  const arrived = log.last("call.arrived", admitted.atNs, ({ first }) => first === admitted.first);
  const complete = log.first("call.complete", admitted.atNs, isOfPut);
  const callAnswered = log.first("call.answered", complete.atNs, isOfPut);
  // The result of the attempt becomes the answer of the call without interruption.
  const seq = log.last("proposal.answered", callAnswered.atNs).first;
  const queued = log.first("proposal.queued", complete.atNs, ({ first }) => first === seq);
  const turn = log.first("turn.begun", queued.atNs);
  const points: Point[] = [
    { step: "the client's HTTP/2 session has the request", kind: "generator", atNs: put.submittedNs },
    { step: "the asked member has the headers", kind: "wire", atNs: arrived.atNs },
    { step: "the headers are checked", kind: "code", atNs: admitted.atNs },
    { step: "the request is there whole", kind: "loop", atNs: complete.atNs },
    { step: "decoded, authorised, queued as a command", kind: "code", atNs: queued.atNs },
    { step: "a turn of the asked member begins", kind: "loop", atNs: turn.atNs },
  ];
  const appendedAfter = (fromNs: number) =>
    leader.log.first("proposal.appended", fromNs, ({ second, third }) => second === seq && third === asked.id);
  if (asked === leader) {
    const appended = appendedAfter(turn.atNs);
    points.push({ step: "appended in the leader's memory", kind: "code", atNs: appended.atNs });
    return { request: { name: "request", fromNs: sentNs, points }, seq, index: appended.first };
  }
  const forwarded = log.first("proposal.forwarded", turn.atNs, ({ first }) => first === seq);
  const written = writtenTo(log, leader.id, "log", forwarded.atNs);
  const received = leader.log.first("proposal.arrived", written, ({ first, second }) => {
    return first === seq && second === asked.id;
  });
  const read = leader.log.last("peer.read", received.atNs);
  const leaderTurn = leader.log.first("turn.begun", received.atNs);
  const appended = appendedAfter(leaderTurn.atNs);
  points.push(
    { step: "queued for the leader", kind: "code", atNs: forwarded.atNs },
    { step: "the turn's end writes to the socket", kind: "code", atNs: written },
    { step: "the leader reads the socket", kind: "wire", atNs: read.atNs },
    { step: "the forward is decoded", kind: "code", atNs: received.atNs },
    { step: "a turn of the leader begins", kind: "loop", atNs: leaderTurn.atNs },
    { step: "appended in the leader's memory", kind: "code", atNs: appended.atNs },
  );
  return { request: { name: "request", fromNs: sentNs, points }, seq, index: appended.first };
}

/** From the entry in memory to the main thread, once it knows that the entry is durable. */
function diskPoints(log: StampLog, index: number, fromNs: number): Point[] {
  const handed = log.first("log.handed", fromNs, ({ second }) => second >= index);
  const isOfWrite = ({ first }: TimedStamp) => first === handed.first;
  const begun = log.first("log.begun", handed.atNs, isOfWrite);
  const synced = log.first("log.synced", begun.atNs, isOfWrite);
  const written = log.first("log.written", synced.atNs, isOfWrite);
  const durable = log.first("log.durable", written.atNs, isOfWrite);
  // Only one log write is in flight. If the write starts in a later turn than the entry's, it has waited for the write
  // before it.
  const hasWaited = log.last("turn.begun", handed.atNs).atNs > fromNs;
  return [
    { step: "the log thread is sent the write", kind: hasWaited ? "disk" : "code", atNs: handed.atNs },
    { step: "the log thread begins", kind: "threads", atNs: begun.atNs },
    { step: "RocksDB has synced the write", kind: "disk", atNs: synced.atNs },
    { step: "the fence is written", kind: "disk", atNs: written.atNs },
    { step: "the main thread knows", kind: "threads", atNs: durable.atNs },
  ];
}

/** From the leader's memory through a follower: until its disk has the entry, or until the leader knows that. */
function followerPoints(
  leader: StampedMember,
  follower: StampedMember,
  index: number,
  fromNs: number,
  until: "durable" | "acknowledged" = "acknowledged",
): Point[] {
  const sent = leader.log.first("progress.sent", fromNs, ({ first, third }) => first >= index && third === follower.id);
  const sentNs = writtenTo(leader.log, follower.id, "log", sent.atNs);
  const arrived = follower.log.first("progress.arrived", sentNs, ({ first }) => first >= index);
  const read = follower.log.last("peer.read", arrived.atNs);
  const turn = follower.log.first("turn.begun", arrived.atNs);
  const disk = diskPoints(follower.log, index, turn.atNs);
  const points: Point[] = [
    { step: "the append is queued", kind: "code", atNs: sent.atNs },
    { step: "the turn's end writes to the socket", kind: "code", atNs: sentNs },
    { step: "the follower reads the socket", kind: "wire", atNs: read.atNs },
    { step: "the append is decoded", kind: "code", atNs: arrived.atNs },
    { step: "a turn of the follower begins", kind: "loop", atNs: turn.atNs },
    ...disk,
  ];
  if (until === "durable") {
    return points;
  }
  const durableTurn = follower.log.first("turn.begun", endOf(disk));
  const acknowledged = follower.log.first("acknowledgement.sent", durableTurn.atNs, ({ first }) => first >= index);
  const acknowledgedNs = writtenTo(follower.log, leader.id, "log", acknowledged.atNs);
  const received = leader.log.first("acknowledgement.arrived", acknowledgedNs, ({ first, second }) => {
    return first >= index && second === follower.id;
  });
  const readBack = leader.log.last("peer.read", received.atNs);
  points.push(
    { step: "the follower's next turn begins", kind: "loop", atNs: durableTurn.atNs },
    { step: "the acknowledgement is queued", kind: "code", atNs: acknowledged.atNs },
    { step: "the turn's end writes it to the socket", kind: "code", atNs: acknowledgedNs },
    { step: "the leader reads the socket", kind: "wire", atNs: readBack.atNs },
    { step: "the acknowledgement is decoded", kind: "code", atNs: received.atNs },
  );
  return points;
}

/** From the commit at the leader until the asked follower knows it. */
function commitIndexLeg(leader: StampedMember, asked: StampedMember, index: number, committedNs: number): Leg {
  const arrived = asked.log.first("progress.arrived", committedNs, ({ second, third }) => {
    return second >= index && third === leader.id;
  });
  const turn = leader.log.first("turn.begun", committedNs);
  const sent = leader.log.first("progress.sent", turn.atNs, ({ second, third, text }) => {
    return second >= index && third === asked.id && text === arrived.text;
  });
  const written = writtenTo(leader.log, asked.id, arrived.text === "heartbeat" ? "control" : "log", sent.atNs);
  const read = asked.log.last("peer.read", arrived.atNs);
  return {
    name: "commit index",
    fromNs: committedNs,
    points: [
      { step: "the leader's next turn begins", kind: "loop", atNs: turn.atNs },
      { step: "committed; the commit index is queued", kind: "code", atNs: sent.atNs },
      { step: "the turn's end writes it to the socket", kind: "code", atNs: written },
      { step: "the asked follower reads the socket", kind: "wire", atNs: read.atNs },
      { step: "the commit index is decoded", kind: "code", atNs: arrived.atNs },
    ],
  };
}

/** From the last condition for applying until the entry is applied. */
function applyPoints(log: StampLog, index: number, fromNs: number): Point[] {
  const turn = log.first("turn.begun", fromNs);
  const due = log.first("apply.due", turn.atNs, ({ first }) => first >= index);
  const done = log.first("apply.done", due.atNs, ({ first }) => first >= index);
  const begun = log.last("apply.begun", done.atNs);
  return [
    { step: "the next turn begins", kind: "loop", atNs: turn.atNs },
    { step: "committed, may be applied", kind: "code", atNs: due.atNs },
    { step: "the apply slice begins", kind: "loop", atNs: begun.atNs },
    { step: "applied, written to the state", kind: "code", atNs: done.atNs },
  ];
}

function answerLeg(put: Put, log: StampLog, index: number, seq: number, fromNs: number): Leg {
  const applied = applyPoints(log, index, fromNs);
  const answered = log.first("proposal.answered", endOf(applied), ({ first }) => first === seq);
  const callAnswered = log.first("call.answered", answered.atNs, ({ text }) => text === put.requestId);
  return {
    name: "answer",
    fromNs,
    points: [
      ...applied,
      { step: "the outcome meets its call", kind: "code", atNs: answered.atNs },
      { step: "the answer is with the HTTP/2 session", kind: "code", atNs: callAnswered.atNs },
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

/** The time at which the socket got everything that was queued then. */
function writtenTo(log: StampLog, peer: number, kind: string, fromNs: number): number {
  return log.first("peer.written", fromNs, ({ first, text }) => first === peer && text === kind).atNs;
}

/** Orders paths by their ends. */
function byEnd(one: readonly Point[], other: readonly Point[]): number {
  return endOf(one) - endOf(other);
}

function endOf(points: readonly Point[]): number {
  return points.at(-1)?.atNs ?? Number.NaN;
}
