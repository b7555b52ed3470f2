/**
 * Passwords: scrypt (RFC 7914), with its parameters stored beside the salt and the hash in one text of the PHC form
 * `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`, so that later hashes can be made costlier and the earlier ones still verify.
 */

import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { invariant } from "../raft/index.ts";
import { CoordinationError } from "../state/index.ts";

const PASSWORD_BYTES_MIN = 8;
const PASSWORD_BYTES_MAX = 1024;

/** The parameters of scrypt. */
export interface ScryptParameters {
  /** Binary logarithm of the cost N. */
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** A key to derive: password, salt, length of the key in bytes, parameters. */
export type DerivedKey = readonly [password: string, salt: Uint8Array, bytes: number, parameters: ScryptParameters];

/** Computes scrypt, which takes about a quarter of a second of a processor. */
export type Derive = (...key: DerivedKey) => Promise<Uint8Array>;

/** As hard to attack as N = 2^17, p = 1, but 32 MiB each. */
const PARAMETERS: ScryptParameters = { ln: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const ENCODED = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Verified against where there is no hash, so that an unknown user costs the time of a known one. */
const NOBODY = { parameters: PARAMETERS, salt: new Uint8Array(SALT_BYTES), hash: new Uint8Array(HASH_BYTES) };

/** Raises BAD_FIELD, naming the field, unless the password has 8 to 1,024 bytes of UTF-8. */
export function requirePassword(password: string, field: string): void {
  const bytes = Buffer.byteLength(password);
  if (!password.isWellFormed() || bytes < PASSWORD_BYTES_MIN || bytes > PASSWORD_BYTES_MAX) {
    const bounds = `${PASSWORD_BYTES_MIN} to ${PASSWORD_BYTES_MAX} bytes of UTF-8`;
    throw new CoordinationError("BAD_FIELD", `${field} must have ${bounds}`, { details: new Map([["field", field]]) });
  }
}

/**
 * The text to store for a password, with this salt of 16 bytes, which no other password may have. Takes about a quarter of a
 * second of a processor.
 */
export async function hashPassword(
  password: string,
  derive: Derive = deriveInPool,
  salt: Uint8Array = randomBytes(SALT_BYTES),
): Promise<string> {
  invariant(salt.length === SALT_BYTES, "salts have 16 bytes");
  const hash = await derive(password, salt, HASH_BYTES, PARAMETERS);
  const { ln, r, p } = PARAMETERS;
  return `$scrypt$ln=${ln},r=${r},p=${p}$${base64(salt)}$${base64(hash)}`;
}

/**
 * Whether the password is the one that was stored. Without anything stored (an unknown user: undefined; a user without
 * a password: "") it is not, after the same time.
 */
export async function verifyPassword(
  password: string,
  stored: string | undefined,
  derive: Derive = deriveInPool,
): Promise<boolean> {
  if (Buffer.byteLength(password) > PASSWORD_BYTES_MAX) {
    return false;
  }
  const known = stored !== undefined && stored !== "";
  const { parameters, salt, hash } = known ? decode(stored) : NOBODY;
  const same = timingSafeEqual(await derive(password, salt, HASH_BYTES, parameters), hash);
  return known && same;
}

/** The parameters as Node's `scrypt` takes them. */
export function scryptOptions({ ln, r, p }: ScryptParameters) {
  const N = 2 ** ln;
  // The working memory of RFC 7914 §6 and two blocks more; the library's default bound is too low for it.
  return { N, r, p, maxmem: 128 * r * (N + p + 2) };
}

/** In the thread pool, which the stores use as well: for the few hashes that belong to no request of a client. */
export function deriveInPool(...[password, salt, bytes, parameters]: DerivedKey): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, bytes, scryptOptions(parameters), (error, key) => {
      if (error === null) {
        resolve(key);
      } else {
        reject(error);
      }
    });
  });
}

function decode(stored: string): { parameters: ScryptParameters; salt: Uint8Array; hash: Uint8Array } {
  const [, ln, r, p, salt, hash] = ENCODED.exec(stored) ?? [];
  invariant(salt !== undefined && hash !== undefined, "stored password hashes have a known format");
  const bytes = Buffer.from(hash, "base64");
  invariant(bytes.length === HASH_BYTES, "stored password hashes have 32 bytes", () => String(bytes.length));
  const parameters = { ln: Number(ln), r: Number(r), p: Number(p) };
  return { parameters, salt: Buffer.from(salt, "base64"), hash: bytes };
}

/** The PHC form leaves the padding out. */
function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replace(/=+$/, "");
}
