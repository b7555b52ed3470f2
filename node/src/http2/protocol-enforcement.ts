/**
 * Enforces the rules for a client: limits for what it may do only so often, and the consequences of wrong frames. A
 * wrong frame ends its stream, or the connection if both sides could no longer agree on the connection's state.
 */
import { type CloseReason, FLOOD_REASONS, REFUSAL_CODES, type StreamRefusal } from "./close-reason.ts";
import type { ConnectionParts } from "./connection-parts.ts";
import { ErrorCode } from "./error-code.ts";
import { FloodGuard } from "./flood-guard.ts";
import type { FloodKind } from "./limits.ts";
import type { ServerStream } from "./server-stream.ts";

export class ProtocolEnforcement {
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

  /** Resets a stream, open or not. */
  refuseAny(streamId: number, reason: StreamRefusal): void {
    const { streams } = this.#parts;
    const stream = streams.get(streamId);
    if (stream !== undefined) {
      this.refuseOpen(stream, reason);
    } else if (streams.closedStateOf(streamId) !== "idle") {
      this.refuseClosed(streamId, reason);
    } else {
      // An idle stream cannot be reset.
      this.#parts.owner.fail("wrong-frame", REFUSAL_CODES[reason]);
    }
  }

  /** Resets an open stream. */
  refuseOpen(stream: ServerStream, reason: StreamRefusal): void {
    this.#parts.owner.refuse(stream, reason);
    this.allows("streamErrors");
    this.#parts.sender.pump();
  }

  /** Resets a stream that is refused before it begins, or that has ended. */
  refuseClosed(streamId: number, reason: StreamRefusal): void {
    const { streams, sender, counters } = this.#parts;
    counters.refusedStreams[reason]++;
    counters.resetsSent++;
    streams.reset(streamId);
    sender.sendReset(streamId, REFUSAL_CODES[reason]);
    this.allows(reason === "too-many-streams" ? "refusedStreams" : "streamErrors");
  }

  /** Returns whether the client may do this once more. If not, it ends the connection. */
  allows(kind: FloodKind): boolean {
    const isAllowed = this.#floods.allows(kind, this.#parts.times.nowMs);
    if (!isAllowed) {
      this.#parts.owner.fail(FLOOD_REASONS[kind], ErrorCode.EnhanceYourCalm);
    }
    return isAllowed;
  }
}
