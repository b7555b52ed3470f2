/**
 * Errors as gRPC answers them: the one place where a CoordinationError becomes a status with details and trailers.
 *
 * Programs read `error-reason`, `outcome` and `leader-endpoint` (ASCII trailers), or google.rpc.ErrorInfo and RetryInfo
 * in `grpc-status-details-bin`; people read the message. An error of any other type tells the caller nothing about
 * itself, because its message was not written for callers.
 */

import { status } from "@grpc/grpc-js";
import { encodeStatusDetails, statusDetailsTrailer } from "@quoin/proto";
import { retryAfterMs } from "../../access/index.ts";
import { CoordinationError, type ErrorOutcome, type Replayed } from "../../state/index.ts";

/**
 * A message is sent twice, percent-encoded and in base64, and common clients accept 8 KiB of trailers in all. Names of
 * things are much shorter; only what a caller made up may be longer.
 */
const MESSAGE_BYTES_MAX = 1024;
/** An election takes about this long; for an overloaded or stopping member it is long enough to ask another one. */
const RETRY_DELAY_MS = 100;
const NO_TRAILERS: readonly string[] = [];
const REPLAYED_FIELDS: Readonly<Record<Replayed, readonly string[]>> = {
  no: NO_TRAILERS,
  yes: ["replayed", "true"],
  "no-values": ["replayed", "no-values"],
};
const PRINTABLE_ASCII = /^[ -~]+$/;

/** What is answered to a call that ran into a bug. */
const INTERNAL = {
  code: status.INTERNAL,
  reason: "INTERNAL",
  message: "the service failed to answer this request; its log says why",
} as const;

/** How a call ends. */
export interface CallStatus {
  readonly code: status;
  readonly message: string;
  /** The trailer error-reason, "" without. */
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

/** A status that has nothing but a code and a message, as gRPC itself gives it. */
export function plainStatus(code: status, message: string, trailers: readonly string[] = NO_TRAILERS): CallStatus {
  return { code, message, reason: "", trailers };
}

/** The field of metadata that says that an answer is that of an earlier attempt; empty if it is not. */
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

/** The message, cut off between characters where it is too long. Never with lone surrogates: they cannot be sent. */
function bounded(message: string): string {
  if (Buffer.byteLength(message) <= MESSAGE_BYTES_MAX) {
    return message.toWellFormed();
  }
  const ellipsis = "…";
  const room = new Uint8Array(MESSAGE_BYTES_MAX - Buffer.byteLength(ellipsis));
  const { read } = new TextEncoder().encodeInto(message, room);
  return message.slice(0, read).toWellFormed() + ellipsis;
}
