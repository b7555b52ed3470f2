/**
 * Stored answers: a mutation that is sent again with the same request id gets the same answer and does not run again.
 *
 * Rows are scoped by subject, and the hash of the request is checked (S13). They stay in the replicated state for a
 * window of cluster ticks from the first execution, and are dropped by generation soon afterwards. For a lock request
 * the row holds its state, and the window begins when it no longer waits or holds (S24).
 */

import { equalBytes } from "../../bytes/index.ts";
import { invariant } from "../../primitives/index.ts";
import {
  type AnswerForms,
  type AnswerSlot,
  type ApplyContext,
  CoordinationError,
  encodeFreshAnswer,
  hasGenerationEnded,
  LIVE,
  type Outcome,
  type RequestIdentity,
  readAnswer,
  type StateReader,
  type StoredAnswer,
  type StoredResult,
  scanGenerations,
} from "../core/index.ts";
import { type Acquisition, decodeAcquisition, encodeAcquisition, isAcquisition } from "./acquisition.ts";

/** The row of a request id: an answer, or the state of a lock acquisition. */
export type StoredRequest = { readonly outcome: Outcome } | { readonly acquisition: Acquisition };

/** The place for the answer of this request. Valid only for the current entry. */
export function answerSlot(context: ApplyContext, subject: string, { requestId }: RequestIdentity): AnswerSlot {
  return context.answerLedger.find(subject, requestId, context.tickMs);
}

/** The stored outcome of this request; REQUEST_ID_REUSED if its id came with another payload; null if it is new. */
export function storedOutcomeAt(
  { answers }: ApplyContext,
  { stored }: AnswerSlot,
  request: RequestIdentity,
): Outcome | null {
  const found = storedRequestIn(answers, stored, request);
  if (found === null) {
    return null;
  }
  // A request that acquires a lock always has another payload than one that does not.
  return "outcome" in found ? found.outcome : { answer: requestIdReused(), replayed: "no" };
}

/** The same for a request that may be a lock acquisition. */
export function storedRequestAt(
  { answers }: ApplyContext,
  { stored }: AnswerSlot,
  request: RequestIdentity,
): StoredRequest | null {
  return storedRequestIn(answers, stored, request);
}

/** The same as `storedRequestAt` outside of apply; answers from before the cluster tick `sinceMs` do not count. */
export function findStoredRequest(
  answers: AnswerForms,
  reader: StateReader,
  subject: string,
  request: RequestIdentity,
  sinceMs: number,
): StoredRequest | null {
  return storedRequestIn(answers, readAnswer(reader, subject, request.requestId, sinceMs), request);
}

function storedRequestIn(
  answers: AnswerForms,
  stored: StoredAnswer | null,
  request: RequestIdentity,
): StoredRequest | null {
  if (stored === null) {
    return null;
  }
  if (!equalBytes(stored.payloadHash, request.payloadHash)) {
    return { outcome: { answer: requestIdReused(), replayed: "no" } };
  }
  if (isAcquisition(stored.answer)) {
    return { acquisition: decodeAcquisition(stored.answer) };
  }
  return { outcome: { answer: answers.decode(stored.answer), replayed: stored.stripped ? "no-values" : "yes" } };
}

function requestIdReused(): CoordinationError {
  return new CoordinationError(
    "REQUEST_ID_REUSED",
    "the request-id was used before with another request; every request needs an id of its own",
  );
}

/** Stores the answer of a newly executed request in its place. */
export function storeAnswer(
  context: ApplyContext,
  slot: AnswerSlot,
  request: RequestIdentity,
  answer: StoredResult | CoordinationError,
): void {
  const { tickMs, limits } = context;
  const row = encodeFreshAnswer(context.answers, request.payloadHash, tickMs, answer, limits.replayAnswerBytesMax);
  context.answerLedger.putRow(context, slot, tickMs, row);
}

/** Stores the state of the acquisition that this request has begun; `isLive` = it is queued or held. */
export function storeAcquisition(
  context: ApplyContext,
  slot: AnswerSlot,
  request: RequestIdentity,
  acquisition: Acquisition,
  isLive: boolean,
): void {
  context.answerLedger.put(context, slot, {
    payloadHash: request.payloadHash,
    tickMs: isLive ? LIVE : context.tickMs,
    stripped: false,
    answer: encodeAcquisition(acquisition),
  });
}

/** The acquisition under this request id while it is queued or held; else undefined. */
export function readAcquisition(
  context: ApplyContext,
  subject: string,
  requestId: Uint8Array,
): Acquisition | undefined {
  const { stored } = context.answerLedger.findLive(subject, requestId);
  return stored === null ? undefined : decodeAcquisition(stored.answer);
}

/**
 * Changes fields of the queued or held acquisition under this request id. If it is no longer live, its window begins.
 * Returns it as it was before.
 */
export function changeAcquisition(
  context: ApplyContext,
  subject: string,
  requestId: Uint8Array,
  changes: Partial<Acquisition>,
  isLive: boolean,
): Acquisition {
  const slot = context.answerLedger.findLive(subject, requestId);
  const { stored } = slot;
  invariant(stored !== null, "what waits or is held has a stored acquisition");
  invariant(stored.tickMs === LIVE, "the window of what waits or is held has not begun");
  const before = decodeAcquisition(stored.answer);
  const answer = encodeAcquisition({ ...before, ...changes });
  context.answerLedger.put(context, slot, { ...stored, tickMs: isLive ? LIVE : context.tickMs, answer });
  return before;
}

/** Whether there is a generation whose windows have all ended by the tick. */
export function hasExpiredAnswers(reader: StateReader, tickMs: number, windowMs: number): boolean {
  let hasEnded = false;
  if (!hasGenerationEnded(1, tickMs, windowMs)) {
    return false;
  }
  scanGenerations(reader, (generation) => {
    // The first generation is not ordered by time: it contains answers without a window.
    hasEnded = generation > 0 && hasGenerationEnded(generation, tickMs, windowMs);
    return generation === 0;
  });
  return hasEnded;
}
