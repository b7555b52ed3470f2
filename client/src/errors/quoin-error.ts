/**
 * The only error class of the SDK. Every failure of a call, in the service, on the network or in the arguments, is
 * raised as a QuoinError; every boundary uses `QuoinError.from`. It never contains a token, an API key or a password.
 */

import { type Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { decodeStatusDetails, MalformedMessageError, STATUS_DETAILS_TRAILER, type StatusDetails } from "@quoin/proto";
import type { QuoinReason } from "./reasons.ts";

/** Name of a gRPC status code other than OK, such as `NOT_FOUND`. */
export type QuoinErrorCode = Exclude<keyof typeof status, "OK">;

/**
 * The certain effect of a failed operation, over all its attempts: `not-executed`, or `unknown` = it may have been
 * executed. If it is `unknown`, a repetition with the same `requestId` within 300 s returns the real outcome.
 */
export type Outcome = "not-executed" | "unknown";

/** The parts of a QuoinError. */
export interface QuoinErrorFields {
  readonly code: QuoinErrorCode;
  /** For people. */
  readonly message: string;
  /** Machine-readable reason, such as `REVISION_MISMATCH`; empty = none. */
  readonly reason?: QuoinReason | "" | (string & {}) | undefined;
  /** Undefined = as the code alone implies. */
  readonly outcome?: Outcome | undefined;
  /** Facts about the error by name, such as `field`. */
  readonly details?: ReadonlyMap<string, string> | undefined;
  /** The pause before a retry that the service requests, in milliseconds. */
  readonly retryDelayMs?: number | undefined;
  /** The leader's gRPC endpoint, as host:port, if the answering member knows it. */
  readonly leaderEndpoint?: string | undefined;
  /** The request id of all attempts. */
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/**
 * Codes that are refusals by default. All others may come after the execution: also RESOURCE_EXHAUSTED, which this side
 * raises if an answer is too large.
 */
const REFUSAL_CODES: ReadonlySet<QuoinErrorCode> = new Set([
  "INVALID_ARGUMENT",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "UNAUTHENTICATED",
]);

/** Codes and reasons of errors that pass by themselves, or whose outcome a repetition finds out. */
const RETRYABLE: ReadonlySet<string> = new Set([
  "UNAVAILABLE",
  "DEADLINE_EXCEEDED",
  "RATE_LIMITED",
  "TOO_MANY_STREAMS",
] satisfies readonly (QuoinErrorCode | QuoinReason)[]);

/**
 * The first words of grpc-js's details for a call that was never sent because there was no connection. If a later
 * version uses other words, the outcome becomes `unknown`, which is never wrong.
 */
export const NEVER_SENT_PREFIXES = ["No connection established", "Name resolution failed"];

/**
 * The first words of grpc-js's details for a call whose stream ended without a status, which it calls INTERNAL: the
 * member, or a device on the way, went away. Members end every call with their own status.
 */
export const LOST_PREFIXES = [
  "Received RST_STREAM with code 0 (Call ended without gRPC status)",
  "Received RST_STREAM with code 2 (Internal server error)",
];

/** The same in all copies of this package in one process. */
const BRAND = Symbol.for("@quoin/client.QuoinError");

/** Raised by every operation of the SDK. */
export class QuoinError extends Error {
  override readonly name: string = "QuoinError";
  readonly code: QuoinErrorCode;
  /**
   * Machine-readable reason, such as `REVISION_MISMATCH`; empty = none, for example because no member answered. A member
   * of a newer release may send one that is not in the type: see `isQuoinReason`.
   */
  readonly reason: QuoinReason | "";
  /** Shows that the class is this one, in any copy of this package. */
  get [BRAND](): true {
    return true;
  }

  readonly outcome: Outcome;
  /** Facts about the error by name, such as `field`. */
  readonly details: ReadonlyMap<string, string>;
  /** The pause before a retry that the service requests, in milliseconds; undefined = none. */
  readonly retryDelayMs: number | undefined;
  /** The leader's gRPC endpoint, as host:port; undefined = not known. */
  readonly leaderEndpoint: string | undefined;
  /** The request id of all attempts; undefined = the operation did not get that far. */
  readonly requestId: string | undefined;

  constructor(fields: QuoinErrorFields) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = fields.code;
    // Kept as it is, also if only a newer release knows it.
    this.reason = (fields.reason ?? "") as QuoinReason | "";
    this.outcome = fields.outcome ?? (REFUSAL_CODES.has(fields.code) ? "not-executed" : "unknown");
    this.details = fields.details ?? new Map();
    this.retryDelayMs = fields.retryDelayMs;
    this.leaderEndpoint = fields.leaderEndpoint;
    this.requestId = fields.requestId;
  }

  /**
   * Whether the same operation with the same `requestId` may succeed later, with nothing changed. The SDK has already
   * made its attempts: pause before.
   */
  get retryable(): boolean {
    return RETRYABLE.has(this.code) || RETRYABLE.has(this.reason);
  }

  /**
   * Turns anything thrown into a QuoinError. A QuoinError is returned unchanged, an error of grpc-js is read with its
   * trailers, an abort becomes CANCELLED, and anything else UNKNOWN with the original as its cause.
   */
  static from(thrown: unknown): QuoinError {
    return fromAny(thrown);
  }

  /** The same error with some fields replaced; its stack is that of this one. */
  with(fields: Partial<QuoinErrorFields>): QuoinError {
    const error = fromFields({ ...this.#fields(), ...fields });
    // A stack begins with the message.
    const header = `${this.name}: ${this.message}`;
    if (this.stack?.startsWith(header)) {
      error.stack = `${error.name}: ${error.message}${this.stack.slice(header.length)}`;
    } else if (this.stack !== undefined) {
      error.stack = this.stack;
    }
    return error;
  }

  #fields(): QuoinErrorFields {
    const { code, message, reason, outcome, details, retryDelayMs, leaderEndpoint, requestId, cause } = this;
    return { code, message, reason, outcome, details, retryDelayMs, leaderEndpoint, requestId, cause };
  }
}

/**
 * Whether something thrown is a QuoinError, also of another copy of this package, and has one of the reasons.
 *
 * @param reasons none = any reason.
 */
export function isQuoinError(thrown: unknown): thrown is QuoinError;
export function isQuoinError<Reason extends QuoinReason>(
  thrown: unknown,
  ...reasons: readonly [Reason, ...Reason[]]
): thrown is QuoinError & { readonly reason: Reason };
export function isQuoinError(thrown: unknown, ...reasons: readonly QuoinReason[]): thrown is QuoinError;
export function isQuoinError(thrown: unknown, ...reasons: readonly string[]): boolean {
  if (!(thrown instanceof Error) || !(BRAND in thrown)) {
    return false;
  }
  return reasons.length === 0 || reasons.includes((thrown as QuoinError).reason);
}

// A class that names itself gets another name in a bundle, and stacks show that one.

function fromFields(fields: QuoinErrorFields): QuoinError {
  return new QuoinError(fields);
}

function fromAny(thrown: unknown): QuoinError {
  if (thrown instanceof QuoinError) {
    return thrown;
  }
  if (isServiceError(thrown)) {
    return fromServiceError(thrown);
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const code = thrown instanceof Error && thrown.name === "AbortError" ? "CANCELLED" : "UNKNOWN";
  return new QuoinError({ code, message, cause: thrown });
}

function isServiceError(thrown: unknown): thrown is ServiceError {
  return (
    thrown instanceof Error &&
    "code" in thrown &&
    typeof thrown.code === "number" &&
    "details" in thrown &&
    typeof thrown.details === "string" &&
    "metadata" in thrown
  );
}

function fromServiceError(error: ServiceError): QuoinError {
  const isLost = error.code === status.INTERNAL && LOST_PREFIXES.some((prefix) => error.details.startsWith(prefix));
  const code = isLost ? "UNAVAILABLE" : codeName(error.code);
  const trailing = statusDetails(error.metadata);
  const outcome = text(error.metadata, "outcome");
  return new QuoinError({
    code,
    message: error.details,
    reason:
      text(error.metadata, "error-reason") ?? trailing?.reason ?? (code === "DEADLINE_EXCEEDED" ? "DEADLINE" : ""),
    outcome: outcome === "not-executed" || outcome === "unknown" ? outcome : outcomeWithoutTrailer(code, error.details),
    details: trailing?.metadata,
    retryDelayMs: trailing?.retryDelayMs,
    leaderEndpoint: text(error.metadata, "leader-endpoint"),
    cause: error,
  });
}

function codeName(code: status): QuoinErrorCode {
  const name = status[code] as keyof typeof status | undefined;
  return name === undefined || name === "OK" ? "UNKNOWN" : name;
}

function outcomeWithoutTrailer(code: QuoinErrorCode, details: string): Outcome | undefined {
  const neverSent = code === "UNAVAILABLE" && NEVER_SENT_PREFIXES.some((prefix) => details.startsWith(prefix));
  return neverSent ? "not-executed" : undefined;
}

function text(metadata: Metadata, key: string): string | undefined {
  const value = metadata.get(key)[0];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function statusDetails(metadata: Metadata): StatusDetails | undefined {
  const value = metadata.get(STATUS_DETAILS_TRAILER)[0];
  if (!(value instanceof Uint8Array)) {
    return undefined;
  }
  try {
    return decodeStatusDetails(value);
  } catch (error) {
    // The status and the text trailers still have the facts; a broken extra must not hide them.
    if (error instanceof MalformedMessageError) {
      return undefined;
    }
    throw error;
  }
}
