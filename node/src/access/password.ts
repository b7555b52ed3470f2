/**
 * Passwords are hashed with scrypt (RFC 7914). Parameters, salt and hash are stored in one text of the PHC form
 * `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`. So later hashes can be more expensive, and earlier ones still verify.
 */

import { createHash, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { invariant } from "../primitives/index.ts";
import { badField } from "../state/index.ts";

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

/** Computes scrypt, which takes about a quarter of a second of processor time. */
export type Derive = (...key: DerivedKey) => Promise<Uint8Array>;

/** As hard to attack as N = 2^17, p = 1, but with 32 MiB of memory for each. */
const PARAMETERS: ScryptParameters = { ln: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const ENCODED = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Verified against if there is no hash, so that an unknown user takes the same time as a known one. */
const DUMMY_HASH = { parameters: PARAMETERS, salt: new Uint8Array(SALT_BYTES), hash: new Uint8Array(HASH_BYTES) };

/** Throws BAD_FIELD, naming the field, unless the password has 8 to 1,024 bytes of UTF-8, and more than white space. */
export function requirePassword(password: string, field: string): void {
  const bytes = Buffer.byteLength(password);
  if (!password.isWellFormed() || bytes < PASSWORD_BYTES_MIN || bytes > PASSWORD_BYTES_MAX) {
    throw badField(field, `must have ${PASSWORD_BYTES_MIN} to ${PASSWORD_BYTES_MAX} bytes of UTF-8`);
  }
  if (password.trim() === "") {
    throw badField(field, "must have a character that is no white space");
  }
}

/**
 * Resolves to the text to store for a password. The salt has 16 bytes and must not be used for another password. Takes
 * about a quarter of a second of processor time.
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

/** The salt of the hash in a request with an id, which is different for each request of this owner. */
export function saltOf(owner: string, requestId: Uint8Array): Uint8Array {
  return createHash("sha256").update(`${owner}\0`).update(requestId).digest().subarray(0, SALT_BYTES);
}

/**
 * Resolves to whether the password matches the stored hash. If there is no hash (an unknown user: undefined; a user
 * without a password: ""), it resolves to false after the same time.
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
  const { parameters, salt, hash } = known ? decode(stored) : DUMMY_HASH;
  const same = timingSafeEqual(await derive(password, salt, HASH_BYTES, parameters), hash);
  return known && same;
}

/** The parameters in the form of Node's `scrypt`. */
export function scryptOptions({ ln, r, p }: ScryptParameters) {
  const N = 2 ** ln;
  // The working memory of RFC 7914 §6 and two more blocks; the library's default limit is too low.
  return { N, r, p, maxmem: 128 * r * (N + p + 2) };
}

/** Hashes in the thread pool, which the stores use too: only for the few hashes outside client requests. */
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

/** The PHC form has no padding. */
function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replace(/=+$/, "");
}
