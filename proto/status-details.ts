/**
 * The details of an error, as gRPC carries them in the trailer `grpc-status-details-bin`: a google.rpc.Status with
 * google.rpc.ErrorInfo, and with google.rpc.RetryInfo where a retry helps.
 */

import { decodeRequest, type MessageCodec } from "./decode.ts";
import { ErrorInfo, RetryInfo } from "./generated/google/rpc/error_details.ts";
import { Status } from "./generated/google/rpc/status.ts";

/** Key of the trailer that carries the details. */
export const STATUS_DETAILS_TRAILER = "grpc-status-details-bin";

/** The domain of all reasons of this service. */
export const ERROR_DOMAIN = "quoin.dev";

/** The details of one error. */
export interface StatusDetails {
  /** The gRPC status code, the same as the status of the call. */
  readonly code: number;
  /** The message for people, the same as the message of the call. */
  readonly message: string;
  /** The reason, such as `REVISION_MISMATCH`. */
  readonly reason: string;
  /** The domain that defines the reason. */
  readonly domain: string;
  /** Facts about the error, such as the name of a field. */
  readonly metadata: ReadonlyMap<string, string>;
  /** How long to wait before a retry, in milliseconds; undefined = the server does not say. */
  readonly retryDelayMs?: number | undefined;
}

const TYPE_URL_PREFIX = "type.googleapis.com/";

/** What an error says besides its code and its message. The domain is `quoin.dev` unless given. */
export interface ErrorFacts extends Omit<StatusDetails, "code" | "message" | "domain" | "metadata"> {
  readonly domain?: string;
  readonly metadata?: ReadonlyMap<string, string>;
}

/** One detail: a message of google.rpc. */
export interface EncodedDetail {
  /** Full name of the message, such as `google.rpc.ErrorInfo`. */
  readonly type: string;
  readonly value: Uint8Array;
  /** The same in JSON, by the proto3 JSON mapping. */
  readonly json: Readonly<Record<string, unknown>>;
}

/**
 * Encodes the details of an error for the trailer.
 *
 * @param details retryDelayMs is at least 0.
 */
export function encodeStatusDetails(details: Pick<StatusDetails, "code" | "message"> & ErrorFacts): Buffer {
  const packed = encodedDetails(details).map(({ type, value }) => ({ typeUrl: TYPE_URL_PREFIX + type, value }));
  const status: Status = { code: details.code, message: details.message, details: packed };
  return Buffer.from(Status.encode(status).finish());
}

/** Encodes the same details one by one, for a protocol that sends them without a google.rpc.Status. */
export function encodedDetails({ reason, domain = ERROR_DOMAIN, metadata, retryDelayMs }: ErrorFacts): EncodedDetail[] {
  const info = { reason, domain, metadata: new Map(metadata) };
  const json = { reason, domain, metadata: Object.fromEntries(info.metadata) };
  const details = [{ type: ErrorInfo.$type, value: ErrorInfo.encode(info).finish(), json }];
  if (retryDelayMs === undefined) {
    return details;
  }
  const retryDelay = toDuration(retryDelayMs);
  const value = RetryInfo.encode({ retryDelay }).finish();
  return [...details, { type: RetryInfo.$type, value, json: { retryDelay: durationText(retryDelay) } }];
}

/**
 * Decodes the trailer of an error. It ignores details of other types. A status without ErrorInfo, for example from a
 * proxy, has an empty reason and domain.
 *
 * @throws MalformedMessageError when the bytes are not a google.rpc.Status with well-formed details.
 */
export function decodeStatusDetails(bytes: Uint8Array): StatusDetails {
  const status = decodeRequest(Status, bytes);
  const info = unpack(ErrorInfo, status);
  const retry = unpack(RetryInfo, status);
  return {
    code: status.code,
    message: status.message,
    reason: info?.reason ?? "",
    domain: info?.domain ?? "",
    metadata: info?.metadata ?? new Map(),
    retryDelayMs: retry?.retryDelay === undefined ? undefined : toMilliseconds(retry.retryDelay),
  };
}

interface Duration {
  seconds: bigint;
  nanos: number;
}

function toDuration(milliseconds: number): Duration {
  const whole = Math.ceil(milliseconds);
  return { seconds: BigInt(Math.floor(whole / 1_000)), nanos: (whole % 1_000) * 1_000_000 };
}

/** The form of google.protobuf.Duration in JSON, such as `0.100s`. */
function durationText({ seconds, nanos }: Duration): string {
  return nanos === 0 ? `${seconds}s` : `${seconds}.${String(nanos / 1_000_000).padStart(3, "0")}s`;
}

/** Rounds up: a retry must not come early. */
function toMilliseconds(duration: Duration): number {
  return Number(duration.seconds) * 1_000 + Math.ceil(duration.nanos / 1_000_000);
}

function unpack<Message>(codec: MessageCodec<Message>, status: Status): Message | undefined {
  const detail = status.details.find(({ typeUrl }) => typeUrl === TYPE_URL_PREFIX + codec.$type);
  return detail === undefined ? undefined : decodeRequest(codec, detail.value);
}
