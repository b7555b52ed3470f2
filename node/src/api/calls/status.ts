/**
 * Errors in gRPC: the only place where a CoordinationError becomes a status with details and trailers.
 *
 * Programs read `error-reason`, `outcome` and `leader-endpoint` (ASCII trailers), or google.rpc.ErrorInfo and RetryInfo
 * in `grpc-status-details-bin`; people read the message. The caller sees nothing of an error of any other type, because
 * its message was not written for callers.
 */

import { status } from "@grpc/grpc-js";
import { encodeStatusDetails, statusDetailsTrailer } from "@quoin/proto";
import { retryAfterMs } from "../../access/index.ts";
import { CoordinationError, type ErrorOutcome, type Replayed } from "../../state/index.ts";

/**
 * A message is sent twice, percent-encoded and in base64, and common clients allow 8 KiB of trailers in total. Only a
 * name that the caller invented can make a message longer than this limit.
 */
const MESSAGE_BYTES_MAX = 1024;
/**
 * About the duration of an election. For an overloaded or stopping member, a client can use another member meanwhile.
 */
const RETRY_DELAY_MS = 100;
const NO_TRAILERS: readonly string[] = [];
const REPLAYED_FIELDS: Readonly<Record<Replayed, readonly string[]>> = {
  no: NO_TRAILERS,
  yes: ["replayed", "true"],
  "no-values": ["replayed", "no-values"],
};
const PRINTABLE_ASCII = /^[ -~]+$/;

/** The answer to a call that failed because of a bug. */
const INTERNAL = {
  code: status.INTERNAL,
  reason: "INTERNAL",
  message: "the service failed to answer this request; see its log for the cause",
} as const;

/** How a call ends. */
export interface CallStatus {
  readonly code: status;
  readonly message: string;
  /** The trailer error-reason; "" = none. */
  readonly reason: string;
  /** Name, value, name, value, …; values of names that end with -bin are in base64. */
  readonly trailers: readonly string[];
}

/** The status of a call that failed; `leaderEndpoint` is host:port, or null if no leader is known. */
export function errorStatus(error: Error, replayed: Replayed, leaderEndpoint: string | null): CallStatus {
  if (error instanceof CoordinationError) {
    const { reason, details, outcome } = error;
    const retryDelayMs = error.code === "UNAVAILABLE" ? RETRY_DELAY_MS : retryAfterMs(error) || undefined;
    const body = { code: status[error.code], message: bounded(error.message), reason, metadata: details, retryDelayMs };
    return withTrailers(body, outcome, replayed, leaderEndpoint);
  }
  return withTrailers(INTERNAL, "unknown", replayed, leaderEndpoint);
}

/** A status with only a code and a message, like those of gRPC itself. */
export function plainStatus(code: status, message: string, trailers: readonly string[] = NO_TRAILERS): CallStatus {
  return { code, message, reason: "", trailers };
}

/** The metadata field that marks the answer of an earlier attempt; empty for any other answer. */
export function replayedField(replayed: Replayed): readonly string[] {
  return REPLAYED_FIELDS[replayed];
}

interface StatusBody {
  readonly code: status;
  readonly reason: string;
  readonly message: string;
  readonly metadata?: ReadonlyMap<string, string>;
  readonly retryDelayMs?: number | undefined;
}

function withTrailers(
  body: StatusBody,
  outcome: ErrorOutcome,
  replayed: Replayed,
  leaderEndpoint: string | null,
): CallStatus {
  const { code, message, reason } = body;
  const trailers = [...replayedField(replayed), "error-reason", reason, "outcome", outcome];
  if (leaderEndpoint !== null && PRINTABLE_ASCII.test(leaderEndpoint)) {
    trailers.push("leader-endpoint", leaderEndpoint);
  }
  trailers.push(statusDetailsTrailer, Buffer.from(encodeStatusDetails(body)).toString("base64"));
  return { code, message, reason, trailers };
}

/** The message, cut off between characters if it is too long, without lone surrogates, which cannot be sent. */
function bounded(message: string): string {
  if (Buffer.byteLength(message) <= MESSAGE_BYTES_MAX) {
    return message.toWellFormed();
  }
  const ellipsis = "…";
  const buffer = new Uint8Array(MESSAGE_BYTES_MAX - Buffer.byteLength(ellipsis));
  const { read } = new TextEncoder().encodeInto(message, buffer);
  return message.slice(0, read).toWellFormed() + ellipsis;
}
