/**
 * Requests of simulated clients on their way. Each is one command with an id of its own. It may be sent several times,
 * and to several members. The record of requests gets all requests and answers.
 */

import {
  type ClientOperation,
  type ClientRequest,
  CoordinationError,
  type Outcome,
  type Principal,
} from "../../src/state/index.ts";
import { isRevocation } from "./access-rules.ts";
import type { Accounts } from "./accounts.ts";
import type { Calls } from "./calls.ts";
import type { EventHeap } from "./event-heap.ts";
import type { Process } from "./process.ts";
import type { RandomStream } from "./random.ts";
import type { Request, Requests } from "./requests.ts";
import { must } from "./rule-violation.ts";
import type { Trace } from "./trace.ts";

export interface RequestCallsOptions {
  readonly heap: EventHeap;
  /** Draws request ids. */
  readonly random: RandomStream;
  readonly trace: Trace;
  readonly calls: Calls;
  readonly requests: Requests;
  /** The accounts of the clients. */
  readonly accounts: Accounts;
}

/** The outcome of a client's call. */
export interface Answer {
  readonly error: CoordinationError | null;
  readonly outcome: Outcome | null;
}

const REQUEST_ID_BYTES = 16;

export class RequestCalls {
  readonly #options: RequestCallsOptions;
  #failures = 0;

  constructor(options: RequestCallsOptions) {
    this.#options = options;
  }

  /**
   * Calls that did not end with a result, not counting those whose callers have left, and those whose member caught up
   * by a snapshot meanwhile.
   */
  get failures(): number {
    return this.#failures;
  }

  begin(operation: ClientOperation, principal: Principal): Request {
    const { heap, random, requests } = this.#options;
    const requestId = random.bytes(REQUEST_ID_BYTES);
    return requests.begin({ requestId, principal, operation, startMs: heap.nowMs });
  }

  /**
   * Sends the request to the process. `onEnd` gets the outcome of the call; null if the process is lost. The returned
   * function makes the caller leave without an answer: then `onEnd` is not called any more.
   */
  send(process: Process, request: Request, limitMs: number, onEnd: (answer: Answer | null) => void): () => void {
    const { accounts, calls, requests, trace } = this.#options;
    const { requestId, principal, operation } = request;
    const name = `${operation.kind} ${requestId.toHex().slice(0, 8)}`;
    const command: ClientRequest = { principal, request: { requestId }, operation };
    trace.record(
      process.memberId,
      "is asked to",
      [Math.round(limitMs)],
      () => `${name} within ${Math.round(limitMs)} ms`,
    );
    const onAnswered = accounts.beginChange(principal, name);
    let isEnded = false;
    const leave = calls.callUntilLeft<Answer>(
      process,
      name,
      limitMs,
      (deadlineMs, done) => process.replica.propose(command, deadlineMs, (error, outcome) => done({ error, outcome })),
      (answer) => {
        isEnded = true;
        this.#note(process, name, request, answer);
        const result = answer?.outcome?.answer;
        if (result !== undefined && !(result instanceof CoordinationError && result.outcome === "unknown")) {
          onAnswered(result);
        }
        if (result instanceof CoordinationError && result.outcome === "unknown") {
          // Another attempt of the request goes on in its place.
          request.isUncertain = true;
        } else if (isRevocation(result)) {
          request.refusals++;
          // A refused request for a lock may have been refused in the queue.
          request.isUncertain ||= operation.kind === "acquire-lock";
        } else if (answer?.outcome != null) {
          requests.onAnswer(request, answer.outcome);
        }
        onEnd(answer);
      },
    );
    return () => {
      // Its process may be lost already: the caller learns that a moment later.
      request.isUncertain ||= !isEnded;
      if (leave()) {
        trace.record(process.memberId, "is left alone with", [], () => name);
        requests.onEnd(request, process, "lost");
      }
    };
  }

  #note(process: Process, name: string, request: Request, answer: Answer | null): void {
    const { requests, trace } = this.#options;
    requests.onEnd(request, process, answer === null ? "lost" : answer.error);
    let word = "lost";
    if (answer === null || answer.error?.outcome === "unknown") {
      request.isUncertain = true;
      word = answer?.error?.reason ?? word;
    } else if (answer.error !== null) {
      request.refusals++;
      word = `${answer.error.reason} not-executed`;
    } else {
      const result = answer.outcome?.answer;
      word = result instanceof CoordinationError ? result.reason : `done at ${result?.revision}`;
    }
    if (answer?.outcome == null && !isHiddenBySnapshot(answer?.error ?? null)) {
      this.#failures++;
    }
    must(
      answer === null || answer.error !== null || answer.outcome !== null,
      "I12 commands of clients have outcomes",
      () => {
        return name;
      },
    );
    trace.record(process.memberId, "has answered", [word.length], () => `${name}: ${word}`);
  }
}

/**
 * Whether a member has caught up by a snapshot that does not show the result. That may happen without any fault, where
 * little of the log is kept. Another rule finds elections, the only other reason for this refusal.
 */
function isHiddenBySnapshot(error: CoordinationError | null): boolean {
  return error?.reason === "LEADER_CHANGED" && error.outcome === "unknown";
}
