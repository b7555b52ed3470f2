/**
 * Questions of this member to another one about itself, and the answers to such questions of others.
 *
 * A question costs one frame in each direction and changes nothing. It is sent once: without an answer in time, the call
 * fails. Only the API knows what the bodies mean.
 */

import {
  encodeMemberAnswer,
  encodeMemberQuestion,
  FrameType,
  type LeaderReply,
  type LeaderRequest,
  memberAnswerIn,
  memberQuestionIn,
} from "../../peers/index.ts";
import { CoordinationError } from "../../state/index.ts";
import { type AnswerMember, type ReplicaContext, shuttingDown } from "../context/index.ts";

/** What this part shares with others. */
export type MemberCallsContext = Pick<ReplicaContext, "transport" | "scheduler" | "arm">;

/** Receives the answer, or the error. */
export type MemberCallDone = (error: CoordinationError | null, answer: Uint8Array | null) => void;

interface Call {
  readonly seq: number;
  readonly peer: number;
  readonly deadlineMs: number;
  readonly done: MemberCallDone;
}

/**
 * Questions to one peer that wait for an answer. The answers travel with the peer's heartbeats, and together they must
 * stay far below what a connection queues. More questions come only from clients that ask without end.
 */
const CALLS_PER_PEER_MAX = 32;

export class MemberCalls {
  readonly #context: MemberCallsContext;
  readonly #answer: AnswerMember;
  #calls: readonly Call[] = [];
  #seq = 0;
  #isStopped = false;

  constructor(context: MemberCallsContext, answer: AnswerMember) {
    this.#context = context;
    this.#answer = answer;
  }

  /**
   * Asks the peer until the deadline, a time of the monotonic clock. Calls `done` once, never before this returns.
   * Errors: MEMBER_UNREACHABLE; OVERLOADED; SHUTTING_DOWN.
   */
  ask(peer: number, question: Uint8Array, deadlineMs: number, done: MemberCallDone): void {
    const { transport, scheduler, arm } = this.#context;
    this.#seq++;
    const seq = this.#seq;
    const refusal = this.#refusal(peer);
    if (refusal !== null) {
      scheduler.immediate(() => done(refusal, null));
    } else if (transport.send(peer, "control", FrameType.Question, encodeMemberQuestion({ seq, body: question }))) {
      this.#calls = [...this.#calls, { seq, peer, deadlineMs, done }];
      arm();
    } else {
      scheduler.immediate(() => done(unreachable(peer, "is not connected to this one"), null));
    }
  }

  /** Answers the request of a peer if it is a question about this member; else returns false. */
  takeQuestion(peer: number, request: LeaderRequest): boolean {
    const question = memberQuestionIn(request);
    if (question === null) {
      return false;
    }
    const { transport, arm } = this.#context;
    const answer = encodeMemberAnswer({ seq: question.seq, body: this.#answer(question.body) });
    transport.send(peer, "control", FrameType.Reply, answer);
    arm();
    return true;
  }

  /** Ends the call to which the reply of a peer is the answer; returns false for a reply of a leader. */
  takeAnswer(peer: number, reply: LeaderReply): boolean {
    const answer = memberAnswerIn(reply);
    if (answer === null) {
      return false;
    }
    const { seq, body } = answer;
    const call = this.#calls.find((one) => one.seq === seq && one.peer === peer);
    if (call !== undefined) {
      this.#end(call, body === null ? unreachable(peer, "has a release that does not know this call") : null, body);
    }
    return true;
  }

  /** Questions to the peer, or its answers, may be lost. */
  onUnreachable(peer: number): void {
    for (const call of this.#calls) {
      if (call.peer === peer) {
        this.#end(call, unreachable(peer, "has lost its connection to this one"), null);
      }
    }
  }

  /** Called at every tick. */
  onTick(nowMs: number): void {
    for (const call of this.#calls) {
      if (call.deadlineMs <= nowMs) {
        this.#end(call, unreachable(call.peer, "did not answer in time"), null);
      }
    }
  }

  /** Ends all calls, and refuses further ones. */
  stop(): void {
    this.#isStopped = true;
    for (const call of this.#calls) {
      this.#end(call, shuttingDown(), null);
    }
  }

  #refusal(peer: number): CoordinationError | null {
    if (this.#isStopped) {
      return shuttingDown();
    }
    const waiting = this.#calls.filter((call) => call.peer === peer).length;
    return waiting < CALLS_PER_PEER_MAX
      ? null
      : new CoordinationError("OVERLOADED", `${waiting} calls wait for an answer of member ${peer} already`);
  }

  #end(call: Call, error: CoordinationError | null, answer: Uint8Array | null): void {
    // A new list: the old one may be under iteration.
    this.#calls = this.#calls.filter((one) => one !== call);
    call.done(error, answer);
  }
}

function unreachable(peer: number, problem: string): CoordinationError {
  return new CoordinationError("MEMBER_UNREACHABLE", `member ${peer} ${problem}`);
}
