/**
 * Calls that only the leader can answer: the health of the members, and a transfer of the leadership.
 *
 * Every member takes these calls and sends them to the leader. Both requests are idempotent, so the member retries them
 * until the deadline when the leader changes or the connection is lost. A transfer is done when the member hears
 * another leader.
 */

import {
  type ArchiveReport,
  encodeLeaderReply,
  encodeLeaderRequest,
  FrameType,
  type LeaderReply,
  type LeaderRequest,
} from "../../peers/index.ts";
import { mark } from "../../primitives/index.ts";
import { type CoreLimits, isJoint, type TransferRefusal } from "../../raft/index.ts";
import { CoordinationError, readCluster, type StateReader } from "../../state/index.ts";
import type { ReplicaContext } from "../context/index.ts";
import { deadlineError, leaderWaitUntil, type ReadDone } from "../proposals/index.ts";
import { ArchiverAssigner } from "./archiver-assigner.ts";
import type { MemberHealth, MembershipView, MembershipViewDone, TransferDone } from "./membership-view.ts";

/** What this part shares with others; it only reads the state. */
export type LeaderCallsContext = Pick<
  ReplicaContext,
  "memberId" | "core" | "coreTickMs" | "transport" | "clock" | "commitTimes" | "arm"
> & {
  readonly state: StateReader;
  readonly limits: { readonly core: Pick<CoreLimits, "transferTicks"> };
};

type RequestedCall =
  | { readonly kind: "membership"; readonly archive?: ArchiveReport | null; readonly done: MembershipViewDone }
  | { readonly kind: "transfer"; readonly target: number; readonly ifTerm: number; readonly done: TransferDone };

interface Call {
  readonly requested: RequestedCall;
  readonly deadlineMs: number;
  /** Until when it may wait for a leader. */
  readonly waitUntilMs: number;
  /** The leader that the request was sent to, and its term; 0 = no request is in flight. */
  leader: number;
  term: number;
  seq: number;
  sentMs: number;
  /** The leader that was asked last and has not refused. Its transfer may have begun unseen. 0 = none. */
  lastLeader: number;
  lastTerm: number;
  /** When a begun transfer is given up; null = it has not begun. */
  untilMs: number | null;
}

/** Why a leader refused a request. */
type ReplyRefusal = TransferRefusal | "not-leader" | "term-changed" | "no-quorum";

/** A request without an answer is sent again after this many milliseconds: the request or the answer is lost. */
const REPLY_MS = 1_000;
/** How long the leader waits for the read barrier of a request, in milliseconds. */
const BARRIER_MS = 3_000;
/** The asking member waits this much longer than the leader for a transfer, because it may learn of the end later. */
const TRANSFER_GRACE_MS = 500;

export class LeaderCalls {
  readonly #context: LeaderCallsContext;
  readonly #readBarrier: (deadlineMs: number, done: ReadDone) => void;
  readonly #archiverAssigner: ArchiverAssigner;
  #calls: Call[] = [];
  #seq = 0;
  /** A call may have to be sent. A refused request waits for the next tick. */
  #isDue = false;

  /** `readBarrier` is that of the driver. */
  constructor(context: LeaderCallsContext, readBarrier: (deadlineMs: number, done: ReadDone) => void) {
    this.#context = context;
    this.#readBarrier = readBarrier;
    this.#archiverAssigner = new ArchiverAssigner(context.memberId);
  }

  get size(): number {
    return this.#calls.length;
  }

  add(requested: RequestedCall, deadlineMs: number): void {
    const waitUntilMs = leaderWaitUntil(this.#context.clock.monotonicMs(), deadlineMs);
    const noLeader = { leader: 0, term: 0, seq: 0, sentMs: 0, lastLeader: 0, lastTerm: 0 };
    this.#calls.push({ requested, deadlineMs, waitUntilMs, ...noLeader, untilMs: null });
    this.#isDue = true;
    this.#context.arm();
  }

  /** Sends due requests to the leader, and finishes transfers that are done. */
  proceed(): void {
    if (!this.#isDue) {
      return;
    }
    this.#isDue = false;
    const { leader, term, role } = this.#context.core;
    const isLed = leader !== 0 && role !== "candidate";
    for (const call of this.#calls) {
      const isBegun = call.untilMs !== null;
      if (isBegun && isLed && term > call.term && leader !== call.leader) {
        this.#finishTransfer(call, leader, term);
      } else if (isLed && isDoneWithoutReply(call, leader, term)) {
        mark("replica.transfer.done-unheard");
        this.#finishTransfer(call, leader, term);
      } else if (!isBegun && isLed && (call.leader !== leader || call.term !== term)) {
        this.#sendToLeader(call, leader, term);
      }
    }
  }

  /** Called at every tick: refuses calls that have waited too long, and makes the rest due again. */
  onTick(nowMs: number, waitReason: () => CoordinationError): void {
    this.#isDue = this.#calls.length > 0;
    for (const call of this.#calls) {
      if (call.untilMs !== null && call.untilMs <= nowMs) {
        mark("replica.transfer.given-up");
        const message = "no other member took over the leadership in time; the leader continues";
        this.#end(call, new CoordinationError("NO_LEADER", message, { outcome: "unknown" }));
      } else if (call.deadlineMs <= nowMs) {
        this.#end(call, deadlineError());
      } else if (call.leader === 0 && call.waitUntilMs <= nowMs) {
        this.#end(call, mayHaveBegun(call) ? noReplyError() : waitReason());
      } else if (call.leader !== 0 && call.untilMs === null && nowMs - call.sentMs >= REPLY_MS) {
        this.#markUnsent(call);
      }
    }
  }

  refuseAll(error: CoordinationError): void {
    for (const call of this.#calls) {
      this.#end(call, error);
    }
  }

  /** Requests to the peer may be lost: sends them again. */
  onUnreachable(peer: number): void {
    for (const call of this.#calls) {
      if (call.leader === peer && call.untilMs === null) {
        this.#markUnsent(call);
      }
    }
  }

  /** Marks the request as not sent, so that the next `proceed` sends it to the leader of that time. */
  #markUnsent(call: Call): void {
    call.leader = 0;
    call.term = 0;
  }

  // ---- Answering ----

  /** Answers a member that considers this one the leader of that term. */
  onRequest(peer: number, request: LeaderRequest): void {
    this.#answer(peer, request, (reply) => {
      this.#context.transport.send(peer, "control", FrameType.Reply, encodeLeaderReply(reply));
      this.#context.arm();
    });
  }

  #answer(requester: number, request: LeaderRequest, reply: (reply: LeaderReply) => void): void {
    const { core } = this.#context;
    const { seq, term, kind } = request;
    const refuse = (reason: ReplyRefusal): void => reply({ seq, term, kind: "refused", reason });
    if (core.role !== "leader" || core.term !== term) {
      refuse("not-leader");
      return;
    }
    if (kind === "membership") {
      this.#readBarrier(this.#context.clock.monotonicMs() + BARRIER_MS, (error) => {
        if (error !== null || core.role !== "leader" || core.term !== term) {
          refuse(error === null ? "not-leader" : "no-quorum");
          return;
        }
        const { archive: report } = request;
        const archive = report === undefined ? {} : { archive: this.#archiverAssignment(requester, report) };
        reply({ seq, term, kind, ...this.#membership(), ...archive });
      });
      return;
    }
    if (request.ifTerm !== 0 && request.ifTerm !== term) {
      refuse("term-changed");
      return;
    }
    const refusal = core.transfer(request.target);
    if (refusal === null) {
      reply({ seq, term, kind });
    } else {
      refuse(refusal);
    }
  }

  #archiverAssignment(requester: number, report: ArchiveReport) {
    const { core, clock } = this.#context;
    return this.#archiverAssigner.onReport(requester, report, core.term, clock.monotonicMs());
  }

  /** The members' health as this leader knows it. */
  #membership(): Pick<MembershipView, "commitIndex" | "changing" | "health"> {
    const { core, memberId, clock, commitTimes, coreTickMs } = this.#context;
    const nowMs = clock.monotonicMs();
    const members = readCluster(this.#context.state)?.members ?? [];
    const health: MemberHealth[] = [];
    for (const { id, incarnation } of members) {
      const peer = core.peer(id);
      if (id === memberId) {
        health.push({ id, lagMs: 0, contactAgeMs: 0, promotable: false });
      } else if (peer !== undefined && incarnation.length > 0) {
        const contactAgeMs = Math.min(core.contactTicksOf(id) * coreTickMs, Number.MAX_SAFE_INTEGER);
        health.push({
          id,
          lagMs: commitTimes.lagMs(peer.match, nowMs),
          contactAgeMs,
          promotable: core.isPromotable(id),
        });
      }
    }
    return { commitIndex: core.commitIndex, changing: isJoint(core.configuration), health };
  }

  // ---- Asking ----

  #sendToLeader(call: Call, leader: number, term: number): void {
    const { memberId, transport, clock } = this.#context;
    this.#seq++;
    Object.assign(call, { seq: this.#seq, leader, term, sentMs: clock.monotonicMs() });
    const request = requestOf(call);
    if (leader === memberId) {
      this.#answer(memberId, request, (reply) => this.onReply(reply));
    } else if (transport.send(leader, "control", FrameType.Question, encodeLeaderRequest(request))) {
      call.lastLeader = leader;
      call.lastTerm = term;
    } else {
      this.#markUnsent(call);
    }
  }

  onReply(reply: LeaderReply): void {
    const call = this.#calls.find(({ seq, term }) => seq === reply.seq && term === reply.term);
    if (call === undefined || call.untilMs !== null) {
      return;
    }
    const { requested } = call;
    if (reply.kind === "refused") {
      this.#onRefused(call, reply.reason);
    } else if (reply.kind === "membership" && requested.kind === "membership") {
      this.#remove(call);
      const { commitIndex, changing, health, archive } = reply;
      requested.done(null, { leaderId: call.leader, term: call.term, commitIndex, changing, health, archive });
    } else if (reply.kind === "transfer" && requested.kind === "transfer") {
      const { clock, coreTickMs, limits } = this.#context;
      call.untilMs = clock.monotonicMs() + limits.core.transferTicks * coreTickMs + TRANSFER_GRACE_MS;
    }
  }

  #onRefused(call: Call, reason: string): void {
    call.lastLeader = 0;
    call.lastTerm = 0;
    switch (reason) {
      case "not-leader":
      case "no-quorum":
        // Ask again at the next tick: another leader, or the same one.
        this.#markUnsent(call);
        return;
      case "self":
        this.#finishTransfer(call, call.leader, call.term);
        return;
      default:
        this.#end(call, transferError(reason, call.term));
    }
  }

  #finishTransfer(call: Call, leader: number, term: number): void {
    const { requested } = call;
    if (requested.kind !== "transfer") {
      return;
    }
    if (requested.target !== 0 && requested.target !== leader) {
      const message = `member ${leader} was elected instead of ${requested.target}`;
      this.#end(call, new CoordinationError("LEADER_CHANGED", message, { outcome: "unknown" }));
      return;
    }
    this.#remove(call);
    requested.done(null, { id: leader, term });
  }

  #end(call: Call, error: CoordinationError): void {
    if (this.#remove(call)) {
      call.requested.done(error, null);
    }
  }

  #remove(call: Call): boolean {
    const before = this.#calls.length;
    // A new array: the old one may be under iteration.
    this.#calls = this.#calls.filter((one) => one !== call);
    return this.#calls.length < before;
  }
}

/** Whether a transfer may have begun at a leader whose answer was not heard. */
function mayHaveBegun({ requested, lastTerm }: Call): boolean {
  return requested.kind === "transfer" && lastTerm !== 0;
}

/** Whether a transfer is done although the leader's answer never arrived. */
function isDoneWithoutReply({ requested, untilMs, lastLeader, lastTerm }: Call, leader: number, term: number): boolean {
  const isOther = lastTerm !== 0 && term > lastTerm && leader !== lastLeader;
  return (
    requested.kind === "transfer" &&
    untilMs === null &&
    isOther &&
    (requested.target === 0 || requested.target === leader)
  );
}

function noReplyError(): CoordinationError {
  const message = "the leader was asked to hand over and did not answer";
  return new CoordinationError("NO_LEADER", message, { outcome: "unknown" });
}

function requestOf({ requested, seq, term }: Call): LeaderRequest {
  return requested.kind === "membership"
    ? { seq, term, kind: "membership", archive: requested.archive ?? undefined }
    : { seq, term, kind: "transfer", target: requested.target, ifTerm: requested.ifTerm };
}

function transferError(reason: string, term: number): CoordinationError {
  switch (reason) {
    case "unknown-member":
      return new CoordinationError("MEMBER_NOT_FOUND", "target_id is not the id of a member");
    case "not-voter":
      return new CoordinationError("LEARNER_NOT_READY", "target_id names a learner; promote it first");
    case "term-changed":
      return new CoordinationError("CONFIG_CHANGED", `the term is ${term} now`, {
        details: new Map([["term", String(term)]]),
      });
    case "damaged":
      return new CoordinationError("QUORUM_UNSAFE", "target_id names a member that has lost data and is healing");
    case "disk-full":
      return new CoordinationError("QUORUM_UNSAFE", "target_id names a member whose disk is full");
    case "behind":
      return new CoordinationError("NO_LEADER", "the target is too far behind to take over; try again later");
    default:
      return new CoordinationError("NO_LEADER", "no other voter in contact can take over; try again later");
  }
}
