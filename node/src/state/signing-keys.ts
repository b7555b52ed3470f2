/**
 * The ring of keys that sign tokens, and the secret that authenticates page tokens: replicated, so that every member
 * can issue and check both.
 *
 * The newest key signs. An earlier one verifies until every token that it may have signed has expired, then it goes.
 */

import { invariant } from "../raft/index.ts";
import type { RotateSigningKey } from "./account-commands.ts";
import type { ApplyContext } from "./apply-context.ts";
import { CoordinationError } from "./coordination-error.ts";
import { RecordReader, RecordWriter } from "./record.ts";
import { PAGE_TOKEN_KEY_ROW, signingKeyRow, tableRange } from "./rows.ts";
import type { StateReader } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/** An Ed25519 key pair (RFC 8037): raw public key and seed, 32 bytes each. */
export interface SigningKey {
  readonly kid: string;
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
  /** Wall clock in milliseconds. The newest key signs; the others only verify. */
  readonly createdAtMs: number;
}

export interface RotateSigningKeyResult {
  readonly kind: "rotate-signing-key";
  /** Of the key that signs now. */
  readonly kid: string;
  readonly revision: number;
}

export const SIGNING_KEY_BYTES = 32;
/** No token lives longer, in milliseconds. */
export const TOKEN_LIFETIME_MS_MAX = 86_400_000;
/** A member that lags may sign with a key for this long after another one has taken its place, in milliseconds. */
const LATE_SIGNATURE_MS = 3_600_000;
/** Keys of the ring: it goes by the age of the tokens how soon they leave it. */
const KEYS_MAX = 16;

/** All keys of the ring, newest first. */
export function readSigningKeys(reader: StateReader): SigningKey[] {
  const keys: SigningKey[] = [];
  const { from, to } = tableRange("signingKey");
  reader.scan(from, to, (row) => {
    keys.push(decodeSigningKey(row.value));
    return true;
  });
  return keys.sort((a, b) => b.createdAtMs - a.createdAtMs || (a.kid < b.kid ? -1 : 1));
}

/** The key with this id, which may sign no longer. */
export function readSigningKey(reader: StateReader, kid: string): SigningKey | undefined {
  const bytes = reader.get(signingKeyRow(kid));
  return bytes === undefined ? undefined : decodeSigningKey(bytes);
}

export function writeSigningKey(transaction: Transaction, key: SigningKey): void {
  const writer = new RecordWriter()
    .text(key.kid)
    .fixed(key.publicKey, SIGNING_KEY_BYTES)
    .fixed(key.privateKey, SIGNING_KEY_BYTES);
  transaction.put(signingKeyRow(key.kid), writer.uint53(key.createdAtMs).finish());
}

/** The keys that no token can be signed with any more that is good at `wallMs`. */
export function endedSigningKeys(reader: StateReader, wallMs: number): readonly SigningKey[] {
  const keys = readSigningKeys(reader);
  return keys.filter((_key, at) => {
    const next = keys[at - 1];
    return next !== undefined && next.createdAtMs + TOKEN_LIFETIME_MS_MAX + LATE_SIGNATURE_MS <= wallMs;
  });
}

/**
 * The new key signs from now on. Where it was to take the place of a key that signs no longer, nothing changes. Raises
 * QUOTA if there are as many keys as there may be, all of them with tokens that may still be good.
 */
export function applyRotateSigningKey(context: ApplyContext, command: RotateSigningKey): RotateSigningKeyResult {
  const { transaction, wallMs, revision } = context;
  const { kid, publicKey, privateKey, ifKid } = command;
  applyDropSigningKeys(context);
  const keys = readSigningKeys(transaction);
  const [newest] = keys;
  invariant(newest !== undefined, "a founded cluster has a signing key");
  if (ifKid !== "" && ifKid !== newest.kid) {
    return { kind: "rotate-signing-key", kid: newest.kid, revision };
  }
  if (keys.length >= KEYS_MAX) {
    throw new CoordinationError("QUOTA", `there are ${KEYS_MAX} signing keys with tokens that may still be good`);
  }
  // The newest one signs: two of the same instant would have no order.
  const createdAtMs = Math.max(wallMs, newest.createdAtMs + 1);
  writeSigningKey(transaction, { kid, publicKey, privateKey, createdAtMs });
  return { kind: "rotate-signing-key", kid, revision };
}

/** Drops the keys of which no token is good any more. */
export function applyDropSigningKeys({ transaction, wallMs }: ApplyContext): void {
  for (const { kid } of endedSigningKeys(transaction, wallMs)) {
    transaction.delete(signingKeyRow(kid));
  }
}

/** The new key signs from now on, and no other verifies any more: every token that was signed before ends. */
export function replaceSigningKeys({ transaction, wallMs }: ApplyContext, key: Omit<SigningKey, "createdAtMs">): void {
  for (const { kid } of readSigningKeys(transaction)) {
    transaction.delete(signingKeyRow(kid));
  }
  writeSigningKey(transaction, { ...key, createdAtMs: wallMs });
}

/** The 32 bytes that authenticate page tokens; undefined before the cluster is founded. */
export function readPageTokenKey(reader: StateReader): Uint8Array | undefined {
  return reader.get(PAGE_TOKEN_KEY_ROW);
}

export function writePageTokenKey(transaction: Transaction, key: Uint8Array): void {
  transaction.put(PAGE_TOKEN_KEY_ROW, new RecordWriter().fixed(key, SIGNING_KEY_BYTES).finish());
}

function decodeSigningKey(bytes: Uint8Array): SigningKey {
  const reader = new RecordReader(bytes);
  const key = {
    kid: reader.text(),
    publicKey: reader.fixed(SIGNING_KEY_BYTES),
    privateKey: reader.fixed(SIGNING_KEY_BYTES),
    createdAtMs: reader.uint53(),
  };
  reader.end();
  return key;
}
