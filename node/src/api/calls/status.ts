/**
 * Errors of calls: the only place where a CoordinationError becomes a status with details, fields and trailers.
 *
 * Programs read `error-reason`, `outcome` and `leader-endpoint` (ASCII trailers), or google.rpc.ErrorInfo and RetryInfo
 * in `grpc-status-details-bin`; people read the message. The caller sees nothing of an error of any other type, because
 * its message was not written for callers.
 */

import { encodeStatusDetails, STATUS_DETAILS_TRAILER } from "@quoin/proto";
import { retryAfterMs } from "../../access/index.ts";
import { CoordinationError, type ErrorOutcome, type Replayed } from "../../state/index.ts";
import { type StatusCode, status } from "./grpc-status.ts";

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
const NOTHING_KNOWN: ErrorDetails = { outcome: "unknown", metadata: new Map(), retryDelayMs: undefined };

/** How a call ends. */
export interface CallStatus {
  readonly code: StatusCode;
  readonly message: string;
  /** The trailer error-reason; "" = none. */
  readonly reason: string;
  /** What programs read of an error; null = this status has only a code and a message. */
  readonly details: ErrorDetails | null;
  /** Metadata in ASCII for every protocol: name, value, name, value, … */
  readonly fields: readonly string[];
  /** The trailers of gRPC: the fields, and the details. Values of names that end with -bin are in base64. */
  readonly trailers: readonly string[];
}

export interface ErrorDetails {
  readonly outcome: ErrorOutcome;
  /** Facts about the error, such as the name of a field. */
  readonly metadata: ReadonlyMap<string, string>;
  /** When a retry may help, in milliseconds; undefined = the service does not say. */
  readonly retryDelayMs: number | undefined;
}

/** The status of a call that failed; `leaderEndpoint` is host:port, or null if no leader is known. */
export function errorStatus(error: Error, replayed: Replayed, leaderEndpoint: string | null): CallStatus {
  if (error instanceof CoordinationError) {
    const { reason, details, outcome } = error;
    const retryDelayMs = error.code === "UNAVAILABLE" ? RETRY_DELAY_MS : retryAfterMs(error) || undefined;
    const facts = { outcome, metadata: details, retryDelayMs };
    return new FailedStatus(status[error.code], bounded(error.message), reason, facts, replayed, leaderEndpoint);
  }
  const { code, message, reason } = INTERNAL;
  return new FailedStatus(code, message, reason, NOTHING_KNOWN, replayed, leaderEndpoint);
}

/** A status with only a code and a message, like those of gRPC itself. */
export function plainStatus(code: StatusCode, message: string, trailers: readonly string[] = NO_TRAILERS): CallStatus {
  return { code, message: bounded(message), reason: "", details: null, fields: NO_TRAILERS, trailers };
}

/** The metadata field that marks the answer of an earlier attempt; empty for any other answer. */
export function replayedField(replayed: Replayed): readonly string[] {
  return REPLAYED_FIELDS[replayed];
}

class FailedStatus implements CallStatus {
  readonly code: StatusCode;
  readonly message: string;
  readonly reason: string;
  readonly details: ErrorDetails;
  readonly fields: readonly string[];

  constructor(
    code: StatusCode,
    message: string,
    reason: string,
    details: ErrorDetails,
    replayed: Replayed,
    leaderEndpoint: string | null,
  ) {
    this.code = code;
    this.message = message;
    this.reason = reason;
    this.details = details;
    const fields = [...replayedField(replayed), "error-reason", reason, "outcome", details.outcome];
    if (leaderEndpoint !== null && PRINTABLE_ASCII.test(leaderEndpoint)) {
      fields.push("leader-endpoint", leaderEndpoint);
    }
    this.fields = fields;
  }

  /** Encoded only for gRPC. */
  get trailers(): readonly string[] {
    const { code, message, reason } = this;
    const encoded = encodeStatusDetails({ code, message, reason, ...this.details });
    return [...this.fields, STATUS_DETAILS_TRAILER, Buffer.from(encoded).toString("base64")];
  }
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
