/**
 * Page tokens (S18): an authenticated cursor of a listing. The client gets it with a page and returns it for the next
 * page.
 *
 * A token contains the last key of the page and an HMAC-SHA-256. The HMAC covers that key, the kind of listing, the
 * namespace and the prefix, and its key is shared by all members. So any member can continue a listing, and refuses a
 * token that was invented, changed or made for another listing. A token is not secret and grants nothing: each page is
 * authorised again.
 *
 * Layout before base64url: format (1) · HMAC (32) · last key.
 */

import { timingSafeEqual } from "node:crypto";
import { badField, type CoordinationError, type StateReader } from "../state/index.ts";
import { MAC_BYTES, memberMac } from "./member-mac.ts";

/** The listing that a page token belongs to. */
export interface Listing {
  readonly of:
    | "keys"
    | "key-versions"
    | "namespaces"
    | "locks"
    | "locks-in-use"
    | "streams"
    | "regions"
    | "sessions"
    | "logs"
    | "api-keys"
    | "users";
  /** For API keys: the user whose keys are listed; "" = all users. */
  readonly namespace: string;
  /** UTF-8 bytes; regions, sessions and accounts have none. */
  readonly prefix: Uint8Array;
}

const FORMAT = 1;
const KEY_OFFSET = 1 + MAC_BYTES;
/** Keys have at most 1,024 bytes. A longer text is never one of our tokens, and is not decoded. */
const TEXT_LENGTH_MAX = 2048;

/**
 * Returns the token with which the listing continues after `lastKey`: UTF-8 bytes, the id of a region, or a row. The
 * cluster must be founded.
 */
export function signPageToken(reader: StateReader, listing: Listing, lastKey: Uint8Array): string {
  return Buffer.concat([Uint8Array.of(FORMAT), macOf(reader, listing, lastKey), lastKey]).toString("base64url");
}

/**
 * Returns the last key of the previous page. Throws BAD_FIELD, naming the field, unless the token is for this listing.
 */
export function verifyPageToken(reader: StateReader, listing: Listing, token: string): Uint8Array {
  if (token.length > TEXT_LENGTH_MAX) {
    throw badToken();
  }
  const bytes = Buffer.from(token, "base64url");
  // Decoding skips characters outside base64url, so the canonical encoding is compared as well.
  if (bytes.length <= KEY_OFFSET || bytes[0] !== FORMAT || bytes.toString("base64url") !== token) {
    throw badToken();
  }
  const lastKey = bytes.subarray(KEY_OFFSET);
  if (!timingSafeEqual(bytes.subarray(1, KEY_OFFSET), macOf(reader, listing, lastKey))) {
    throw badToken();
  }
  return lastKey;
}

function macOf(reader: StateReader, { of, namespace, prefix }: Listing, lastKey: Uint8Array): Buffer {
  return memberMac(reader, of, namespace, prefix, lastKey);
}

function badToken(): CoordinationError {
  return badField("page_token", "was not made for this listing");
}
