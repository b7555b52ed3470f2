/**
 * The state of a member as a stream of bytes: a snapshot in the format of backups. The bytes are compared with the hash
 * that the member sends at the end; `@quoin/backup` reads their content.
 */

import { createHash, randomUUID } from "node:crypto";
import { type SnapshotResponse, serviceDefinitions } from "@quoin/proto";
import {
  type AttemptTrace,
  assertTraceparent,
  type CallOptions,
  callMetadata,
  type MessageStream,
  type OperationContext,
  openMessageStream,
  streamMethod,
  tracedCall,
  traceOperation,
} from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import { timeoutField } from "../options/index.ts";
import { connect } from "../transport/index.ts";

/** Options of a snapshot. */
export interface SnapshotOptions extends Omit<CallOptions, "requestId"> {
  /**
   * How long the member may take to begin, in milliseconds: it waits until its state has every acknowledged write.
   * Default 20,000. The stream itself has no time limit.
   */
  readonly timeoutMs?: number | undefined;
  /** The stream fails if no byte comes for this long, in milliseconds. Default 60,000. */
  readonly silenceMs?: number | undefined;
}

/** A stream that has begun. */
export interface SnapshotStream {
  /** Log index of the state. */
  readonly index: number;
  /** Cluster revision of that state. */
  readonly revision: number;
  /** Whether the member had no leader, so that the snapshot may miss acknowledged writes. */
  readonly leaderless: boolean;
  /** Highest log index that the member knew to be committed when the stream began. */
  readonly commitIndex: number;
  /**
   * The bytes, to be consumed once. They are not encrypted, and contain signing keys and hashes of passwords.
   *
   * @throws QuoinError if the stream breaks, or its bytes differ from those that the member sent. The snapshot is
   * complete only after an end without an error.
   */
  readonly chunks: AsyncGenerator<Uint8Array, void, undefined>;
  /** Ends a stream that the caller does not read to its end. */
  cancel(): void;
}

const snapshotMethod = streamMethod(serviceDefinitions.ClusterAdminService.snapshot);
/** Longer than a member waits for its state to be up to date (10 s), on a busy machine. */
const DEFAULT_TIMEOUT_MS = 20_000;
/** A member sends at its own pace, and gives priority to all other work. */
const DEFAULT_SILENCE_MS = 60_000;

/** Opens the stream on the current member. It is not retried: the next attempt would be another snapshot. */
export async function openSnapshot(context: OperationContext, options: SnapshotOptions): Promise<SnapshotStream> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, silenceMs = DEFAULT_SILENCE_MS, signal } = options;
  timeoutField("timeoutMs", timeoutMs);
  timeoutField("silenceMs", silenceMs);
  assertTraceparent(options.traceparent);
  const { closing } = context.pool;
  const untilMs = context.runtime.monotonicMs() + timeoutMs;
  const trace = await traceOperation(options.traceparent, () => tracedCall(snapshotMethod.path, {}));
  let attempt: AttemptTrace | undefined;
  const endTrace = (error: QuoinError | null) => {
    attempt?.end(error);
    trace.end(error);
  };
  try {
    const token = await context.tokens.token();
    if (context.pool.closed) {
      throw cancelled();
    }
    const target = context.pool.current();
    attempt = trace.attempt(target.endpoint);
    await connect(target, untilMs - context.runtime.monotonicMs(), signal);
    const metadata = callMetadata(token, randomUUID(), attempt.headers);
    const messages = openMessageStream(target, snapshotMethod, {}, metadata);
    const end = () => {
      signal?.removeEventListener("abort", end);
      closing.removeEventListener("abort", end);
      messages.cancel();
      endTrace(null);
    };
    signal?.addEventListener("abort", end, { once: true });
    closing.addEventListener("abort", end, { once: true });
    if (signal?.aborted === true) {
      end();
    }
    const next = (limitMs: number) => nextWithin(context, messages, limitMs, target.endpoint);
    const first = await next(Math.max(1, untilMs - context.runtime.monotonicMs()));
    return {
      index: Number(first.index),
      revision: Number(first.revision),
      leaderless: first.leaderless,
      commitIndex: Number(first.commitIndex),
      chunks: chunksOf(first, () => next(silenceMs), end, endTrace),
      cancel: end,
    };
  } catch (thrown) {
    endTrace(QuoinError.from(thrown));
    throw thrown;
  }
}

function cancelled(): QuoinError {
  return new QuoinError({ code: "CANCELLED", outcome: "not-executed", message: "the client is closed" });
}

async function nextWithin(
  { runtime }: OperationContext,
  messages: MessageStream<SnapshotResponse>,
  limitMs: number,
  endpoint: string,
): Promise<SnapshotResponse> {
  let isSilent = false;
  const stopTimer = runtime.after(limitMs, () => {
    isSilent = true;
    messages.cancel();
  });
  try {
    return await messages.next();
  } catch (thrown) {
    // It only reads, so nothing was executed in any case.
    if (!isSilent) {
      throw QuoinError.from(thrown).with({ outcome: "not-executed" });
    }
    const message = `${endpoint} has sent nothing for ${Math.round(limitMs)} ms`;
    throw new QuoinError({ code: "UNAVAILABLE", outcome: "not-executed", message, cause: thrown });
  } finally {
    stopTimer();
  }
}

async function* chunksOf(
  first: SnapshotResponse,
  next: () => Promise<SnapshotResponse>,
  end: () => void,
  fail: (error: QuoinError) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash("sha256");
  try {
    for (let piece = first; ; piece = await next()) {
      hash.update(piece.chunk);
      if (piece.chunk.length > 0) {
        yield piece.chunk;
      }
      if (!piece.last) {
        continue;
      }
      if (hash.digest("hex") !== piece.sha256) {
        const message = "the snapshot arrived with other bytes than the member sent; try again";
        throw new QuoinError({ code: "DATA_LOSS", outcome: "not-executed", message });
      }
      return;
    }
  } catch (thrown) {
    fail(QuoinError.from(thrown));
    throw thrown;
  } finally {
    end();
  }
}
