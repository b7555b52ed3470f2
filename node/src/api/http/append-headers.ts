/**
 * The headers of an append. Each takes all values of its header, as Node gives them apart: one that comes twice is
 * refused, as is one that breaks its rule, with `invalid_header` and its name. No value is repeated in a message.
 */

import type { LogGuard } from "../../state/index.ts";
import { HttpError } from "./http-error.ts";

/** All values of a header; undefined or empty if it was not sent. */
export type HeaderValues = readonly string[] | undefined;

const EXPECTED_SEQUENCE = "Expected-Sequence";
const IDEMPOTENCY_KEY = "Idempotency-Key";
const LOCK_GUARD = "Lock-Guard";

const DECIMAL = /^(0|[1-9][0-9]{0,18})$/;
const SEQUENCE_MAX = 2n ** 63n - 1n;
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
const KEY_BYTES_MAX = 255;
/** The base of a batch leaves room for what makes a key of it for each event. */
const BASE_BYTES_MAX = 240;
const GUARD = /^([a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?)\/([^/;]+);token=([1-9][0-9]{0,15})(;rw)?$/;
const LOCK_NAME_BYTES_MAX = 256;

/** The last sequence that the log must have, exactly (S9); undefined = any. */
export function expectedSequenceOf(values: HeaderValues): bigint | undefined {
  const value = onlyValue(EXPECTED_SEQUENCE, values);
  if (value === undefined) {
    return undefined;
  }
  const sequence = DECIMAL.test(value) ? BigInt(value) : null;
  if (sequence === null || sequence > SEQUENCE_MAX) {
    throw invalidHeader(EXPECTED_SEQUENCE, "must be a decimal number from 0 to 2^63 - 1");
  }
  return sequence;
}

/** The key of a single event; null = it has none. */
export function idempotencyKeyOf(values: HeaderValues): string | null {
  const key = onlyValue(IDEMPOTENCY_KEY, values);
  return key === undefined ? null : checkedKey(key, KEY_BYTES_MAX);
}

/** The base of the keys of a batch. Raises missing_header if there is none. */
export function batchKeyOf(values: HeaderValues): string {
  const key = onlyValue(IDEMPOTENCY_KEY, values);
  if (key === undefined) {
    throw new HttpError("missing_header", `the header ${IDEMPOTENCY_KEY} is required for a batch`);
  }
  return checkedKey(key, BASE_BYTES_MAX);
}

/** The hold under which the append is to count: `<namespace>/<percent-encoded lock>;token=<number>`, then `;rw` if so. */
export function lockGuardOf(values: HeaderValues): LogGuard | undefined {
  const value = onlyValue(LOCK_GUARD, values);
  if (value === undefined) {
    return undefined;
  }
  const [, namespace, lock, token, rw] = GUARD.exec(value) ?? [];
  const lockName = lock === undefined ? null : decodedName(lock);
  const fencingToken = Number(token);
  if (namespace === undefined || lockName === null || !Number.isSafeInteger(fencingToken)) {
    const form = "<namespace>/<percent-encoded lock name>;token=<fencing token>, and ;rw for a read-write lock";
    throw invalidHeader(LOCK_GUARD, `must have the form ${form}`);
  }
  return { namespace, lockName, fencingToken, rw: rw !== undefined };
}

function onlyValue(name: string, values: HeaderValues): string | undefined {
  if (values !== undefined && values.length > 1) {
    throw invalidHeader(name, "must be given once");
  }
  return values?.[0];
}

function checkedKey(key: string, bytesMax: number): string {
  if (!VISIBLE_ASCII.test(key) || key.length > bytesMax) {
    throw invalidHeader(IDEMPOTENCY_KEY, `must have 1 to ${bytesMax} visible ASCII characters`);
  }
  return key;
}

/** The name of a lock; null if it is not percent-encoded UTF-8, or too long. */
function decodedName(encoded: string): string | null {
  try {
    const name = decodeURIComponent(encoded);
    return Buffer.byteLength(name) <= LOCK_NAME_BYTES_MAX ? name : null;
  } catch {
    return null;
  }
}

function invalidHeader(name: string, rule: string): HttpError {
  return new HttpError("invalid_header", `the header ${name} ${rule}`);
}
