/**
 * Decodes percent-encoding (RFC 3986 §2.1) to bytes. The reader of each parameter decides whether they must be text.
 */

import type { IncomingMessage } from "node:http";

const PERCENT = 0x25;
const PLUS = 0x2b;
const SPACE = 0x20;
const ENCODED_LENGTH = 3;
const HEX = /^[0-9a-fA-F]{2}$/;

/**
 * Returns the bytes of a percent-encoded text; every character that is not encoded is one byte. Null if a percent sign
 * is not followed by two hexadecimal digits.
 */
export function decodePercent(text: string): Buffer | null {
  const encoded = Buffer.from(text, "latin1");
  const decoded = Buffer.allocUnsafe(encoded.length);
  let length = 0;
  for (let at = 0; at < encoded.length; length++) {
    if (encoded[at] !== PERCENT) {
      decoded[length] = encoded[at++] as number;
      continue;
    }
    const digits = encoded.toString("latin1", at + 1, at + ENCODED_LENGTH);
    if (!HEX.test(digits)) {
      return null;
    }
    decoded[length] = Number.parseInt(digits, 16);
    at += ENCODED_LENGTH;
  }
  return decoded.subarray(0, length);
}

/** Returns the path and the query of the request as they were sent; the query has no question mark. */
export function splitTarget(request: IncomingMessage & { readonly originalUrl?: string }): {
  readonly path: string;
  readonly query: string;
} {
  const target = request.originalUrl ?? request.url ?? "";
  const mark = target.indexOf("?");
  return mark === -1 ? { path: target, query: "" } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

/**
 * Returns the values of a query by name, in their order. A plus is a space, as in forms. A name that cannot be decoded
 * stays as it is. A value that cannot be decoded is null.
 */
export function parseQuery(query: string): ReadonlyMap<string, readonly (Buffer | null)[]> {
  const values = new Map<string, (Buffer | null)[]>();
  for (const pair of query.split("&")) {
    if (pair === "") {
      continue;
    }
    const equals = pair.indexOf("=");
    const given = equals === -1 ? pair : pair.slice(0, equals);
    const name = decodeForm(given)?.toString("latin1") ?? given;
    const value = decodeForm(equals === -1 ? "" : pair.slice(equals + 1));
    const earlier = values.get(name);
    if (earlier === undefined) {
      values.set(name, [value]);
    } else {
      earlier.push(value);
    }
  }
  return values;
}

function decodeForm(text: string): Buffer | null {
  const spaced = Buffer.from(text, "latin1");
  for (let at = spaced.indexOf(PLUS); at !== -1; at = spaced.indexOf(PLUS, at)) {
    spaced[at] = SPACE;
  }
  return decodePercent(spaced.toString("latin1"));
}
