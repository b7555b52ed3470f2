/**
 * The header fields and trailers of answers. Most answers have the same ones: they are frozen, so that a connection
 * encodes them once.
 */
import type { Replayed } from "../../state/index.ts";
import { type CallStatus, replayedField } from "../calls/index.ts";

/** The encodings that the host can decompress. */
export const ACCEPT_ENCODING: readonly string[] = ["grpc-accept-encoding", "identity,gzip"];
const BASIC: readonly string[] = [":status", "200", "content-type", "application/grpc"];

/** The header fields of an answer; an answer of an earlier attempt is marked. */
export const RESPONSE_FIELDS: Readonly<Record<Replayed, readonly string[]>> = {
  no: responseFields("no"),
  yes: responseFields("yes"),
  "no-values": responseFields("no-values"),
};
export const OK_TRAILERS: readonly string[] = Object.freeze(["grpc-status", "0"]);
/** Answers to requests that are not gRPC calls. */
export const METHOD_NOT_ALLOWED: readonly string[] = Object.freeze([":status", "405", "allow", "POST"]);
export const UNSUPPORTED_MEDIA_TYPE: readonly string[] = Object.freeze([":status", "415"]);
/** Fields whose values differ in most answers. */
export const VARYING_FIELDS: ReadonlySet<string> = new Set(["grpc-message", "grpc-status-details-bin"]);

const PLAIN_MESSAGE = /^[ -$&-~]*$/;
const PERCENT = "%".charCodeAt(0);
const SPACE = " ".charCodeAt(0);
const TILDE = "~".charCodeAt(0);

/** The trailers of an answer; if nothing was sent before, they are the whole answer. */
export function statusFields(status: CallStatus, isOnlyAnswer: boolean): readonly string[] {
  const fields = isOnlyAnswer ? [...BASIC] : [];
  fields.push("grpc-status", String(status.code));
  if (status.message !== "") {
    fields.push("grpc-message", encodedMessage(status.message));
  }
  const { trailers } = status;
  for (let at = 0; at < trailers.length; at += 2) {
    const [name, value] = trailers.slice(at, at + 2) as [string, string];
    // Base64 without padding.
    fields.push(name, name.endsWith("-bin") ? value.replace(/=+$/, "") : value);
  }
  return fields;
}

/** The text of grpc-message: its UTF-8, with percent signs and all that is not printable ASCII percent-encoded. */
function encodedMessage(message: string): string {
  if (PLAIN_MESSAGE.test(message)) {
    return message;
  }
  let encoded = "";
  for (const byte of Buffer.from(message)) {
    const isPlain = byte >= SPACE && byte <= TILDE && byte !== PERCENT;
    encoded += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}

function responseFields(replayed: Replayed): readonly string[] {
  return Object.freeze([...BASIC, ...ACCEPT_ENCODING, ...replayedField(replayed)]);
}
