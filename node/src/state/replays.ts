/**
 * Stored answers: a mutation that is sent again with the same request id is answered again and not executed again.
 *
 * Rows are scoped by subject and check the hash of the request (S13); they live in the replicated state for a window
 * of cluster ticks from the first execution. A second row per answer orders them by that tick, for pruning.
 */

import { invariant } from "../raft/index.ts";
import type { ApplyContext } from "./apply-context.ts";
import type { Principal, RequestIdentity } from "./command.ts";
import { CoordinationError } from "./coordination-error.ts";
import { decodeAnswer, encodeAnswer, type Outcome, type Result, withoutValues } from "./outcome.ts";
import { RecordReader, RecordWriter } from "./record.ts";
import { replayRow, replayTimeRow, tableRange } from "./rows.ts";
import type { StateReader } from "./store.ts";

const HASH_BYTES = 32;

interface StoredAnswer {
  readonly payloadHash: Uint8Array;
  readonly tickMs: number;
  readonly index: number;
  /** The answer was too large to keep the values it carried. */
  readonly stripped: boolean;
  readonly answer: Uint8Array;
}

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
  const bytes = reader.get(replayRow(subject, request.requestId));
  if (bytes === undefined) {
    return null;
  }
  const stored = decodeStoredAnswer(bytes);
  if (stored.tickMs < sinceMs) {
    return null;
  }
  if (!stored.payloadHash.every((byte, at) => byte === request.payloadHash[at])) {
    const answer = new CoordinationError(
      "REQUEST_ID_REUSED",
      "the request-id was used before with another request; every request needs an id of its own",
    );
    return { answer, replayed: "no" };
  }
  return { answer: decodeAnswer(stored.answer), replayed: stored.stripped ? "no-values" : "yes" };
}

/** Stores the answer of a request that was executed now. */
export function storeAnswer(
  context: ApplyContext,
  principal: Principal,
  request: RequestIdentity,
  answer: Result | CoordinationError,
): void {
  const key = replayRow(principal.subject, request.requestId);
  const before = context.transaction.get(key);
  if (before !== undefined) {
    removeAnswer(context, key, before);
  }
  const whole = encodeAnswer(answer);
  const bare = withoutValues(answer);
  // A long refusal carries no values: it stays as it is.
  const stripped = whole.length > context.limits.replayAnswerBytesMax && bare !== answer;
  const row = encodeStoredAnswer({
    payloadHash: request.payloadHash,
    tickMs: context.tickMs,
    index: context.index,
    stripped,
    answer: stripped ? encodeAnswer(bare) : whole,
  });
  context.transaction.put(key, row);
  context.transaction.put(replayTimeRow(context.tickMs, context.index), key);
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
  context.transaction.delete(replayTimeRow(stored.tickMs, stored.index));
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
