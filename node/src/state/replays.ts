/**
 * Stored answers: a mutation that is sent again with the same request id is answered again and not executed again.
 *
 * Rows are scoped by subject and check the hash of the request (S13); they live in the replicated state for a window
 * of cluster ticks from the first execution. A second row per answer orders them by that tick, for pruning. Of a request
 * for a lock is stored how far it has come, and its window begins when it neither waits nor holds any more (S24).
 */

import { invariant } from "../raft/index.ts";
import { type Acquisition, decodeAcquisition, encodeAcquisition, isAcquisition } from "./acquisition.ts";
import type { ApplyContext } from "./apply-context.ts";
import type { Principal, RequestIdentity } from "./command.ts";
import { CoordinationError } from "./coordination-error.ts";
import { decodeAnswer, encodeAnswer, type Outcome, type StoredResult, withoutValues } from "./outcome.ts";
import { RecordReader, RecordWriter } from "./record.ts";
import { replayRow, replayTimeRow, tableRange } from "./rows.ts";
import type { StateReader } from "./store.ts";

const HASH_BYTES = 32;
/** The tick of what has no window yet: an acquisition that is queued or held. No row orders it by time. */
const LIVE = Number.MAX_SAFE_INTEGER;

interface StoredAnswer {
  readonly payloadHash: Uint8Array;
  /** Cluster tick at which its window began, or LIVE. */
  readonly tickMs: number;
  /** Log index of the entry that stored it first: no other stored answer has the same. */
  readonly index: number;
  /** The answer was too large to keep the values it carried. */
  readonly stripped: boolean;
  readonly answer: Uint8Array;
}

/** What is stored under a request id: an answer, or how far the acquisition of a lock has come. */
export type Found = { readonly outcome: Outcome } | { readonly acquisition: Acquisition };

/** The stored outcome of this request, REQUEST_ID_REUSED if its id came with another payload, or null if it is new. */
export function replayOf(context: ApplyContext, principal: Principal, request: RequestIdentity): Outcome | null {
  const { transaction, tickMs, limits } = context;
  return storedOutcome(transaction, principal.subject, request, tickMs - limits.replayWindowMs);
}

/** The same for whoever looks from outside of apply; answers from before the cluster tick `sinceMs` do not count. */
export function storedOutcome(
  reader: StateReader,
  subject: string,
  request: RequestIdentity,
  sinceMs: number,
): Outcome | null {
  const found = findStored(reader, subject, request, sinceMs);
  if (found === null) {
    return null;
  }
  // A request that does not acquire a lock has another payload than one that does.
  return "outcome" in found ? found.outcome : { answer: reused(), replayed: "no" };
}

/** The same for a request that may be the acquisition of a lock. */
export function findStored(
  reader: StateReader,
  subject: string,
  request: RequestIdentity,
  sinceMs: number,
): Found | null {
  const bytes = reader.get(replayRow(subject, request.requestId));
  if (bytes === undefined) {
    return null;
  }
  const stored = decodeStoredAnswer(bytes);
  if (stored.tickMs < sinceMs) {
    return null;
  }
  if (!stored.payloadHash.every((byte, at) => byte === request.payloadHash[at])) {
    return { outcome: { answer: reused(), replayed: "no" } };
  }
  if (isAcquisition(stored.answer)) {
    return { acquisition: decodeAcquisition(stored.answer) };
  }
  return { outcome: { answer: decodeAnswer(stored.answer), replayed: stored.stripped ? "no-values" : "yes" } };
}

function reused(): CoordinationError {
  return new CoordinationError(
    "REQUEST_ID_REUSED",
    "the request-id was used before with another request; every request needs an id of its own",
  );
}

/** Stores the answer of a request that was executed now. */
export function storeAnswer(
  context: ApplyContext,
  principal: Principal,
  request: RequestIdentity,
  answer: StoredResult | CoordinationError,
): void {
  const whole = encodeAnswer(answer);
  const bare = withoutValues(answer);
  // A long refusal carries no values: it stays as it is.
  const stripped = whole.length > context.limits.replayAnswerBytesMax && bare !== answer;
  put(context, replayRow(principal.subject, request.requestId), {
    payloadHash: request.payloadHash,
    tickMs: context.tickMs,
    index: context.index,
    stripped,
    answer: stripped ? encodeAnswer(bare) : whole,
  });
}

/** Stores how far the acquisition has come that this request has begun now; `isLive` while it is queued or held. */
export function storeAcquisition(
  context: ApplyContext,
  principal: Principal,
  request: RequestIdentity,
  acquisition: Acquisition,
  isLive: boolean,
): void {
  put(context, replayRow(principal.subject, request.requestId), {
    payloadHash: request.payloadHash,
    tickMs: isLive ? LIVE : context.tickMs,
    index: context.index,
    stripped: false,
    answer: encodeAcquisition(acquisition),
  });
}

/** How far the acquisition under this request id has come; undefined if there is none. */
export function readAcquisition(reader: StateReader, subject: string, requestId: Uint8Array): Acquisition | undefined {
  const bytes = reader.get(replayRow(subject, requestId));
  if (bytes === undefined) {
    return undefined;
  }
  const { answer } = decodeStoredAnswer(bytes);
  return isAcquisition(answer) ? decodeAcquisition(answer) : undefined;
}

/**
 * Changes fields of the acquisition under this request id, which is queued or held. When it is not any more, its window
 * begins. Returns it as it was.
 */
export function changeAcquisition(
  context: ApplyContext,
  subject: string,
  requestId: Uint8Array,
  changes: Partial<Acquisition>,
  isLive: boolean,
): Acquisition {
  const key = replayRow(subject, requestId);
  const bytes = context.transaction.get(key);
  invariant(bytes !== undefined, "what waits or is held has a stored acquisition");
  const stored = decodeStoredAnswer(bytes);
  invariant(stored.tickMs === LIVE, "the window of what waits or is held has not begun");
  const before = decodeAcquisition(stored.answer);
  const answer = encodeAcquisition({ ...before, ...changes });
  put(context, key, { ...stored, tickMs: isLive ? LIVE : context.tickMs, answer });
  return before;
}

/** Puts a row in the place of the one that may be there. */
function put(context: ApplyContext, key: Uint8Array, stored: StoredAnswer): void {
  const before = context.transaction.get(key);
  if (before !== undefined) {
    removeAnswer(context, key, before);
  }
  const row = encodeStoredAnswer(stored);
  context.transaction.put(key, row);
  if (stored.tickMs !== LIVE) {
    context.transaction.put(replayTimeRow(stored.tickMs, stored.index), key);
  }
  context.countData(key.length + row.length);
  context.countReplays(1);
}

/** Whether an answer is stored whose window has ended by the tick. */
export function hasEndedReplays(reader: StateReader, tickMs: number, windowMs: number): boolean {
  let found = false;
  if (tickMs > windowMs) {
    reader.scan(tableRange("replayTime").from, replayTimeRow(tickMs - windowMs, 0), () => {
      found = true;
      return false;
    });
  }
  return found;
}

/** Removes answers whose window has ended, the oldest first, at most this many. */
export function applyPruneReplays(context: ApplyContext, countMax: number): void {
  const { from } = tableRange("replayTime");
  const cutoff = context.tickMs - context.limits.replayWindowMs;
  if (cutoff <= 0) {
    return;
  }
  const ended: Uint8Array[] = [];
  context.transaction.scan(from, replayTimeRow(cutoff, 0), (row) => {
    if (ended.length === countMax) {
      return false;
    }
    ended.push(row.value);
    return true;
  });
  for (const key of ended) {
    const bytes = context.transaction.get(key);
    invariant(bytes !== undefined, "every time row belongs to a stored answer");
    removeAnswer(context, key, bytes);
  }
}

function removeAnswer(context: ApplyContext, key: Uint8Array, row: Uint8Array): void {
  const stored = decodeStoredAnswer(row);
  context.transaction.delete(key);
  if (stored.tickMs !== LIVE) {
    context.transaction.delete(replayTimeRow(stored.tickMs, stored.index));
  }
  context.countData(-key.length - row.length);
  context.countReplays(-1);
}

function encodeStoredAnswer(stored: StoredAnswer): Uint8Array {
  return new RecordWriter()
    .fixed(stored.payloadHash, HASH_BYTES)
    .uint53(stored.tickMs)
    .uint53(stored.index)
    .boolean(stored.stripped)
    .bytes(stored.answer)
    .finish();
}

function decodeStoredAnswer(bytes: Uint8Array): StoredAnswer {
  const reader = new RecordReader(bytes);
  const stored = {
    payloadHash: reader.fixed(HASH_BYTES),
    tickMs: reader.uint53(),
    index: reader.uint53(),
    stripped: reader.boolean(),
    answer: reader.bytes(),
  };
  reader.end();
  return stored;
}
