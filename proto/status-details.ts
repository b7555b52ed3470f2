/**
 * The details of an error, as gRPC carries them in the trailer `grpc-status-details-bin`: a google.rpc.Status with
 * google.rpc.ErrorInfo, and with google.rpc.RetryInfo where a retry helps.
 */

import { decodeRequest, type MessageCodec } from "./decode.ts";
import { ErrorInfo, RetryInfo } from "./generated/google/rpc/error_details.ts";
import { Status } from "./generated/google/rpc/status.ts";

/** Key of the trailer that carries the details. */
export const statusDetailsTrailer = "grpc-status-details-bin";

/** The domain of all reasons of this service. */
export const errorDomain = "quoin.dev";

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

const typeUrlPrefix = "type.googleapis.com/";

/**
 * Encodes the details of an error for the trailer.
 *
 * @param details its domain is `quoin.dev` unless given; retryDelayMs is at least 0.
 */
export function encodeStatusDetails(
  details: Omit<StatusDetails, "domain" | "metadata"> & {
    readonly domain?: string;
    readonly metadata?: ReadonlyMap<string, string>;
  },
): Buffer {
  const packed = [
    pack(ErrorInfo, {
      reason: details.reason,
      domain: details.domain ?? errorDomain,
      metadata: new Map(details.metadata),
    }),
  ];
  if (details.retryDelayMs !== undefined) {
    packed.push(pack(RetryInfo, { retryDelay: toDuration(details.retryDelayMs) }));
  }
  const status: Status = { code: details.code, message: details.message, details: packed };
  return Buffer.from(Status.encode(status).finish());
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

/** Rounds up: a retry must not come early. */
function toMilliseconds(duration: Duration): number {
  return Number(duration.seconds) * 1_000 + Math.ceil(duration.nanos / 1_000_000);
}

function pack<Message>(codec: MessageCodec<Message>, message: Message): { typeUrl: string; value: Uint8Array } {
  return { typeUrl: typeUrlPrefix + codec.$type, value: codec.encode(message).finish() };
}

function unpack<Message>(codec: MessageCodec<Message>, status: Status): Message | undefined {
  const detail = status.details.find(({ typeUrl }) => typeUrl === typeUrlPrefix + codec.$type);
  return detail === undefined ? undefined : decodeRequest(codec, detail.value);
}
