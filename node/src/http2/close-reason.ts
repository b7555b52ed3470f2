/** The reasons why connections end and why streams are refused: one word each, for the log and for counters. */
import { ErrorCode } from "./error-code.ts";
import type { FloodKind } from "./limits.ts";

/** Reasons that no frame of the client caused. */
const ENDINGS = [
  "peer-closed",
  "peer-went-away",
  "drained",
  "drain-deadline",
  "idle",
  "closed-by-server",
  "socket-error",
  "no-alpn",
  "tls-error",
  "handshake-timeout",
  "headers-timeout",
  "keepalive-timeout",
  "write-timeout",
] as const;

/** Errors in the frames of a client. */
const MISTAKES = [
  "wrong-preface",
  "wrong-frame",
  "wrong-order",
  "wrong-stream",
  "wrong-padding",
  "wrong-settings",
  "wrong-window-update",
  "window-overflow",
  "window-overrun",
  "wrong-header-block",
  "header-block-too-large",
  "too-many-continuations",
] as const;

/** Things that a client did too often or too much. */
const FLOODS = [
  "answers-not-taken",
  "too-many-resets",
  "too-many-refused-streams",
  "too-many-stream-errors",
  "too-many-settings",
  "too-many-pings",
  "too-many-empty-data",
  "too-many-small-window-updates",
  "too-many-ignored-frames",
] as const;

export const CLOSE_REASONS = [...ENDINGS, ...MISTAKES, ...FLOODS] as const;
export type CloseReason = (typeof CLOSE_REASONS)[number];

/** The reason to close a connection, by what its client did too often. */
export const FLOOD_REASONS: Readonly<Record<FloodKind, CloseReason>> = {
  resets: "too-many-resets",
  refusedStreams: "too-many-refused-streams",
  streamErrors: "too-many-stream-errors",
  settings: "too-many-settings",
  pings: "too-many-pings",
  emptyData: "too-many-empty-data",
  smallWindowUpdates: "too-many-small-window-updates",
  ignoredFrames: "too-many-ignored-frames",
};

/** Whether a connection with this reason ended because its client did something too often or too much. */
export function isFlood(reason: CloseReason): boolean {
  return (FLOODS as readonly CloseReason[]).includes(reason);
}

/** How a connection ended. */
export interface CloseResult {
  readonly reason: CloseReason;
  /** The code of the GOAWAY frame that was sent. */
  readonly code: number;
}

export const STREAM_REFUSALS = [
  "too-many-streams",
  "header-list-too-large",
  "malformed-request",
  "malformed-trailers",
  "wrong-content-length",
  "wrong-priority",
  "wrong-priority-length",
  "wrong-window-update",
  "window-overflow",
  "window-overrun",
  "closed-stream",
] as const;
/** Why the server reset a stream, or did not let it begin. */
export type StreamRefusal = (typeof STREAM_REFUSALS)[number];

/** The code with which a stream is reset. */
export const REFUSAL_CODES: Readonly<Record<StreamRefusal, number>> = {
  "too-many-streams": ErrorCode.RefusedStream,
  // gRPC maps it to RESOURCE_EXHAUSTED.
  "header-list-too-large": ErrorCode.EnhanceYourCalm,
  "malformed-request": ErrorCode.ProtocolError,
  "malformed-trailers": ErrorCode.ProtocolError,
  "wrong-content-length": ErrorCode.ProtocolError,
  "wrong-priority": ErrorCode.ProtocolError,
  "wrong-priority-length": ErrorCode.FrameSizeError,
  "wrong-window-update": ErrorCode.ProtocolError,
  "window-overflow": ErrorCode.FlowControlError,
  "window-overrun": ErrorCode.FlowControlError,
  "closed-stream": ErrorCode.StreamClosed,
};
