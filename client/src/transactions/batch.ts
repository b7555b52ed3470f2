/**
 * Batches: they write many keys in as few transactions as possible. Each transaction is atomic, and the batch is not.
 */

import { type GuardedOptions, guardedRulesWithoutRequestId, type OperationContext } from "../calls/index.ts";
import { isQuoinError } from "../errors/index.ts";
import { bytesField, callback, optionsCheck, textField } from "../options/index.ts";
import type { DeleteFields, OneOf, PutFields, TransactionOperation } from "./operations.ts";
import { Transaction } from "./transaction.ts";

/** One write of a batch. Deleting a key that does not exist is no error. */
export type BatchWrite = OneOf<{
  put: Pick<PutFields, "key" | "value" | "ttlSeconds" | "sessionId">;
  delete: Pick<DeleteFields, "key">;
}>;

/** A part of a batch: writes that have taken effect as one change. */
export interface BatchPart {
  /** Revision of the change. */
  readonly revision: number;
  /** Number of its writes. */
  readonly writes: number;
  /** Number of keys that it has deleted. */
  readonly deletedKeys: number;
}

/** Options of batch. `timeoutMs` is that of each part. */
export interface BatchOptions extends Omit<GuardedOptions, "requestId"> {
  /** Called after each part. */
  readonly onPart?: ((part: BatchPart) => void) | undefined;
}

/** The bounds of a transaction, the second one with room for its other fields. */
const WRITES_MAX = 10_000;
const BYTES_MAX = 3.5 * 1_024 * 1_024;
/** The most bytes of a write besides its key and its value. */
const FRAME_BYTES = 48;

const checkOptions = optionsCheck<BatchOptions>({ ...guardedRulesWithoutRequestId, onPart: callback });

/** Writes a batch; see `Client.batch`. */
export async function writeBatch(
  context: OperationContext,
  namespace: string,
  writes: Iterable<BatchWrite> | AsyncIterable<BatchWrite>,
  options: BatchOptions,
): Promise<readonly BatchPart[]> {
  checkOptions(options, "batch");
  const { onPart, ...call } = options;
  const done: BatchPart[] = [];
  let writesMax = WRITES_MAX;
  for await (const part of partsOf(writes)) {
    for (let from = 0; from < part.length; ) {
      const sent = part.slice(from, from + writesMax);
      try {
        const { results, revision } = await new Transaction(context, namespace).then(...sent).commit(call);
        const deletedKeys = results.filter((result) => "deleted" in result && result.deleted).length;
        const written = { revision, writes: sent.length, deletedKeys };
        done.push(written);
        onPart?.(written);
        from += sent.length;
      } catch (error) {
        // The service also counts the values that the writes replace, which only it knows.
        if (!isQuoinError(error, "TOO_LARGE") || sent.length === 1) {
          throw error;
        }
        writesMax = Math.ceil(sent.length / 2);
      }
    }
  }
  return done;
}

/** The writes in parts that fit into a request, and write each key once. */
async function* partsOf(
  writes: Iterable<BatchWrite> | AsyncIterable<BatchWrite>,
): AsyncGenerator<readonly TransactionOperation[], void, void> {
  let part: TransactionOperation[] = [];
  let keys = new Set<string>();
  let bytes = 0;
  for await (const write of writes) {
    const key = textField("key", write.put?.key ?? write.delete?.key);
    const value = write.put === undefined ? "" : bytesField("value", write.put.value);
    const size = Buffer.byteLength(key) + value.length + FRAME_BYTES;
    if (part.length === WRITES_MAX || (bytes > 0 && bytes + size > BYTES_MAX) || keys.has(key)) {
      yield part;
      part = [];
      keys = new Set();
      bytes = 0;
    }
    part.push(write.delete === undefined ? write : { delete: { ...write.delete, missingOk: true } });
    keys.add(key);
    bytes += size;
  }
  if (part.length > 0) {
    yield part;
  }
}
