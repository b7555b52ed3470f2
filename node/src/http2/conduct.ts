/**
 * How a client behaves: what it may do only so often, and what follows when it breaks a rule. A wrong frame ends its
 * stream, or the connection where both sides could no longer agree on its state.
 */
import { type CloseReason, FLOOD_REASONS, REFUSAL_CODES, type StreamRefusal } from "./closure.ts";
import type { ConnectionParts } from "./connection-parts.ts";
import { ErrorCode } from "./error-code.ts";
import { FloodGuard } from "./flood-guard.ts";
import type { FloodKind } from "./limits.ts";
import type { ServerStream } from "./server-stream.ts";

export class Conduct {
  readonly #parts: ConnectionParts;
  readonly #floods: FloodGuard;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#floods = new FloodGuard(parts.limits.floods);
  }

  /** Ends the connection. */
  fail(reason: CloseReason, code: number): void {
    this.#parts.owner.fail(reason, code);
  }

  /** A frame that changes nothing on a stream that has ended, and must not come for one that has not begun (§5.1). */
  ignoreUnlessIdle(streamId: number): void {
    if (this.#parts.streams.closedStateOf(streamId) === "idle") {
      this.#parts.owner.fail("wrong-stream", ErrorCode.ProtocolError);
    } else {
      this.allows("ignoredFrames");
    }
  }

  /** Resets a stream, whether it is open or not. */
  refuseAny(streamId: number, reason: StreamRefusal): void {
    const { streams } = this.#parts;
    const stream = streams.get(streamId);
    if (stream !== undefined) {
      this.refuseOpen(stream, reason);
    } else if (streams.closedStateOf(streamId) !== "idle") {
      this.refuseClosed(streamId, reason);
    } else {
      // A stream that has not begun cannot be reset.
      this.#parts.owner.fail("wrong-frame", REFUSAL_CODES[reason]);
    }
  }

  /** Resets a stream that is open. */
  refuseOpen(stream: ServerStream, reason: StreamRefusal): void {
    this.#parts.owner.refuse(stream, reason);
    this.allows("streamErrors");
    this.#parts.sender.pump();
  }

  /** Resets a stream that does not begin, or has ended. */
  refuseClosed(streamId: number, reason: StreamRefusal): void {
    const { streams, sender, counters } = this.#parts;
    counters.refusedStreams[reason]++;
    counters.resetsSent++;
    streams.reset(streamId);
    sender.sendReset(streamId, REFUSAL_CODES[reason]);
    const isAboveLimit = reason === "too-many-streams" || reason === "too-many-queued-bytes";
    this.allows(isAboveLimit ? "refusedStreams" : "streamErrors");
  }

  /** Whether the client may do this once more; if not, the connection ends. */
  allows(kind: FloodKind): boolean {
    const isAllowed = this.#floods.allows(kind, this.#parts.times.nowMs);
    if (!isAllowed) {
      this.#parts.owner.fail(FLOOD_REASONS[kind], ErrorCode.EnhanceYourCalm);
    }
    return isAllowed;
  }
}
