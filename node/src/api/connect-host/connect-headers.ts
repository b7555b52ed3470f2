/**
 * The header fields of the Connect protocol, version 1 (https://connectrpc.com/docs/protocol): the form of the messages,
 * their encoding, and how long the client waits.
 */

import type { IncomingMessage } from "node:http";
import { MIMEType } from "node:util";

/** JSON by the proto3 mapping, or protobuf. */
export type MessageForm = "json" | "proto";

/** What the content type of a request says. */
export interface ContentType {
  readonly form: MessageForm;
  /** Whether messages are enveloped, as the methods that answer with a stream require. */
  readonly isStream: boolean;
}

const CONTENT_TYPES: ReadonlyMap<string, ContentType> = new Map([
  ["application/json", { form: "json", isStream: false }],
  ["application/proto", { form: "proto", isStream: false }],
  ["application/connect+json", { form: "json", isStream: true }],
  ["application/connect+proto", { form: "proto", isStream: true }],
]);
const JSON_ONLY: ContentType = { form: "json", isStream: false };
const TIMEOUT = /^[0-9]{1,10}$/;
const GZIP_REFUSED = /;\s*q=0(?:\.0*)?\s*$/i;

/** The content types of the requests of a method, for the header Accept-Post and for messages. */
export function contentTypesOf(isStream: boolean): string {
  return [...CONTENT_TYPES].flatMap(([type, content]) => (content.isStream === isStream ? [type] : [])).join(", ");
}

/**
 * Returns what the content type says; null if no method takes it. A request without a content type is JSON, so that a
 * request without a body needs no headers.
 */
export function contentTypeOf(header: string | undefined): ContentType | null {
  if (header === undefined) {
    return JSON_ONLY;
  }
  const known = CONTENT_TYPES.get(header);
  if (known !== undefined) {
    return known;
  }
  try {
    const { essence, params } = new MIMEType(header);
    const isUtf8 = (params.get("charset") ?? "utf-8").toLowerCase() === "utf-8";
    return isUtf8 ? (CONTENT_TYPES.get(essence) ?? null) : null;
  } catch {
    return null;
  }
}

/** The content type of an answer. */
export function answerType({ form, isStream }: ContentType): string {
  return isStream ? `application/connect+${form}` : `application/${form}`;
}

/** Milliseconds from `connect-timeout-ms`; Infinity without the header, null if it is malformed. */
export function timeoutMsOf(header: string | undefined): number | null {
  if (header === undefined) {
    return Number.POSITIVE_INFINITY;
  }
  return TIMEOUT.test(header) ? Number(header) : null;
}

/** Whether the client takes an answer in gzip. */
export function acceptsGzip(header: string | undefined): boolean {
  return (
    header?.split(",").some((part) => {
      const coding = part.trim().toLowerCase();
      return (coding === "gzip" || coding.startsWith("gzip;")) && !GZIP_REFUSED.test(coding);
    }) ?? false
  );
}

/** The value of a header that a client should send once. */
export function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}
