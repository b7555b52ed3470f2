/** The headers of an append, and their rules. */

import type { LogGuard } from "../../../state/index.ts";
import { EVENT_KEY_BYTES_MAX } from "../../methods/index.ts";
import { HttpError } from "../answers/index.ts";
import { optional, type Parameter, ParameterProblem, required } from "../requests/index.ts";

const DECIMAL = "^(0|[1-9][0-9]{0,18})$";
const SEQUENCE_MAX = 2n ** 63n - 1n;
/** Without control characters; HTTP itself drops spaces at both ends. */
const KEY =
  "^[^\\u0000-\\u0020\\u007f-\\u009f](?:[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u0020\\u007f-\\u009f])?$";
const KEY_PATTERN = new RegExp(KEY, "u");
const KEY_NAME = "Idempotency-Key";
/** The base key of a batch must leave space for `:0` at least. */
const BASE_BYTES_MAX = EVENT_KEY_BYTES_MAX - 2;
const GUARD = "^([a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?)/([^/;]+);token=([1-9][0-9]{0,15})(;rw)?$";
const LOCK_NAME_BYTES_MAX = 256;

/** The last sequence that the log must have, exactly (S9); undefined = any. */
const expectedSequence: Parameter<bigint | undefined> = optional(
  required(
    "The last sequence that the log must have; 0 = nothing was ever appended",
    { type: "string", pattern: DECIMAL },
    (text) => {
      const sequence = new RegExp(DECIMAL).test(text) ? BigInt(text) : null;
      if (sequence === null || sequence > SEQUENCE_MAX) {
        throw new ParameterProblem("must be a decimal number from 0 to 2^63 - 1");
      }
      return sequence;
    },
  ),
  undefined,
);

/** The hold that must be live for the append; undefined = none. */
const lockGuard: Parameter<LogGuard | undefined> = optional(
  required(
    "A lock hold that must be live, else nothing is appended: <namespace>/<percent-encoded lock name>;token=<fencing " +
      "token>, then ;rw for a read-write lock",
    { type: "string", pattern: GUARD },
    guardOf,
  ),
  undefined,
);

/** The headers of a single event; its key is null if it has none. */
export const eventHeaders = {
  "Expected-Sequence": expectedSequence,
  [KEY_NAME]: optional(
    idempotencyKey("The key of the event: an event with a known key is not stored again", EVENT_KEY_BYTES_MAX),
    null,
  ),
  "Lock-Guard": lockGuard,
};

/** The headers of a batch; the key is the base for the keys of its events. */
export const batchHeaders = {
  "Expected-Sequence": expectedSequence,
  [KEY_NAME]: {
    ...idempotencyKey(
      `The base of the keys: event i, from 0, has the key {base}:{i}, of at most ${EVENT_KEY_BYTES_MAX} bytes`,
      BASE_BYTES_MAX,
    ),
    missingCode: "missing_header",
  },
  "Lock-Guard": lockGuard,
} as const;

/** Throws invalid_header if the key of the last event, which is the longest, is too long. */
export function requireBatchKeys(base: string, count: number): void {
  if (Buffer.byteLength(`${base}:${count - 1}`) > EVENT_KEY_BYTES_MAX) {
    const rule = `of a batch of ${count} events must have at most ${EVENT_KEY_BYTES_MAX - `:${count - 1}`.length} bytes`;
    throw new HttpError("invalid_header", `${KEY_NAME} ${rule}: the key of event i is {base}:{i}`);
  }
}

function idempotencyKey(description: string, bytesMax: number): Parameter<string> {
  const rule = `1 to ${bytesMax} bytes of UTF-8 without control characters`;
  const schema = { type: "string", pattern: KEY, minLength: 1, maxLength: bytesMax };
  return required(`${description}. It has ${rule}; spaces inside count`, schema, (key) => {
    if (!KEY_PATTERN.test(key) || Buffer.byteLength(key) > bytesMax) {
      throw new ParameterProblem(`must have ${rule}`);
    }
    return key;
  });
}

function guardOf(text: string): LogGuard {
  const [, namespace, lock, token, rw] = new RegExp(GUARD).exec(text) ?? [];
  const lockName = lock === undefined ? null : decodedName(lock);
  const fencingToken = Number(token);
  if (namespace === undefined || lockName === null || !Number.isSafeInteger(fencingToken)) {
    const form = "<namespace>/<percent-encoded lock name>;token=<fencing token>, and ;rw for a read-write lock";
    throw new ParameterProblem(`must have the form ${form}`);
  }
  return { namespace, lockName, fencingToken, rw: rw !== undefined };
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
