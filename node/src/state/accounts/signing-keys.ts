/**
 * The ring of keys that sign tokens, and the secret that authenticates page tokens. Both are replicated, so every
 * member can issue and check both kinds of token.
 *
 * The newest key signs. An older key verifies until every token that it may have signed has expired; then it is
 * dropped.
 */

import { invariant } from "../../primitives/index.ts";
import {
  type ApplyContext,
  CoordinationError,
  clusterOperation,
  clusterStep,
  count,
  decodeRow,
  encodeRow,
  fixedBytes,
  hasRulesOf,
  optionalRequest,
  PAGE_TOKEN_KEY_ROW,
  RecordWriter,
  recordOf,
  type StateReader,
  signingKeyRow,
  type Transaction,
  tableRange,
  text,
} from "../core/index.ts";
import {
  type DropSigningKeys,
  type RotateSigningKey,
  type RotateSigningKeyResult,
  SIGNING_KEY_BYTES,
} from "./account-commands.ts";
import { VERSION_WITH_SHARES } from "./principals.ts";

/** An Ed25519 key pair (RFC 8037): raw public key and seed, 32 bytes each. */
export interface SigningKey {
  readonly kid: string;
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
  /** Wall clock in milliseconds. The newest key signs; the others only verify. */
  readonly createdAtMs: number;
}

const KEY_PAIR = {
  kid: text,
  publicKey: fixedBytes(SIGNING_KEY_BYTES),
  privateKey: fixedBytes(SIGNING_KEY_BYTES),
} as const;
const signingKeyFields = recordOf<SigningKey>({ ...KEY_PAIR, createdAtMs: count });
/** A key whose time is that of an entry. */
export const keyPair = recordOf<Omit<SigningKey, "createdAtMs">>(KEY_PAIR);

/** The longest lifetime of a token, in milliseconds. */
export const TOKEN_LIFETIME_MS_MAX = 86_400_000;
/** A lagging member may sign with a replaced key for this long, in milliseconds. */
const LATE_SIGNATURE_MS = 3_600_000;
/** The most keys in the ring. The age of the tokens decides when a key leaves it. */
const KEYS_MAX = 16;
/**
 * With more keys than this, one may replace another only so long after the last that the ring is never full: else a key
 * that leaked later could not be replaced for a day.
 */
const QUICK_KEYS_MAX = KEYS_MAX / 2;
const SLOW_ROTATION_MS = Math.ceil((TOKEN_LIFETIME_MS_MAX + LATE_SIGNATURE_MS) / (KEYS_MAX - QUICK_KEYS_MAX - 1));

/** All keys of the ring, newest first. */
export function readSigningKeys(reader: StateReader): SigningKey[] {
  const keys: SigningKey[] = [];
  const { from, to } = tableRange("signingKey");
  reader.scan(from, to, (row) => {
    keys.push(decodeRow(signingKeyFields, row.value));
    return true;
  });
  return keys.sort((a, b) => b.createdAtMs - a.createdAtMs || (a.kid < b.kid ? -1 : 1));
}

/** The key with this id; it may no longer be the signing key. */
export function readSigningKey(reader: StateReader, kid: string): SigningKey | undefined {
  const bytes = reader.get(signingKeyRow(kid));
  return bytes === undefined ? undefined : decodeRow(signingKeyFields, bytes);
}

export function writeSigningKey(transaction: Transaction, key: SigningKey): void {
  transaction.put(signingKeyRow(key.kid), encodeRow(signingKeyFields, key));
}

/** The keys that can have signed no token that is valid at `wallMs`. */
export function endedSigningKeys(reader: StateReader, wallMs: number): readonly SigningKey[] {
  const keys = readSigningKeys(reader);
  return keys.filter((_key, at) => {
    const next = keys[at - 1];
    return next !== undefined && next.createdAtMs + TOKEN_LIFETIME_MS_MAX + LATE_SIGNATURE_MS <= wallMs;
  });
}

export const rotateSigningKeyOperation = clusterOperation<RotateSigningKey, RotateSigningKeyResult>({
  kind: "rotate-signing-key",
  number: 68,
  fields: {
    kid: text,
    publicKey: fixedBytes(SIGNING_KEY_BYTES),
    privateKey: fixedBytes(SIGNING_KEY_BYTES),
    ifKid: text,
    subject: text,
    request: optionalRequest,
  },
  answer: { number: 61, fields: { kid: text } },
  apply: applyRotateSigningKey,
});

export const dropSigningKeysOperation = clusterStep<DropSigningKeys>({
  kind: "drop-signing-keys",
  number: 69,
  fields: {},
  apply: applyDropSigningKeys,
});

/**
 * Makes the new key the signing key. If `ifKid` names a key that no longer signs, nothing changes. Raises QUOTA if the
 * ring is full of keys whose tokens may still be valid.
 */
function applyRotateSigningKey(context: ApplyContext, command: RotateSigningKey): RotateSigningKeyResult {
  const { transaction, wallMs, revision } = context;
  const { kid, publicKey, privateKey, ifKid } = command;
  applyDropSigningKeys(context);
  const keys = readSigningKeys(transaction);
  const [newest] = keys;
  invariant(newest !== undefined, "a founded cluster has a signing key");
  if (ifKid !== "" && ifKid !== newest.kid) {
    return { kind: "rotate-signing-key", kid: newest.kid, revision };
  }
  const waitMs = newest.createdAtMs + SLOW_ROTATION_MS - wallMs;
  if (keys.length >= QUICK_KEYS_MAX && waitMs > 0 && hasRulesOf(VERSION_WITH_SHARES, transaction)) {
    const minutes = Math.ceil(waitMs / 60_000);
    throw new CoordinationError("QUOTA", `the signing key was replaced too often; try again in ${minutes} minutes`);
  }
  if (keys.length >= KEYS_MAX) {
    throw new CoordinationError("QUOTA", `there are ${KEYS_MAX} signing keys with tokens that may still be good`);
  }
  // The newest key signs, and two keys of the same instant would have no order.
  const createdAtMs = Math.max(wallMs, newest.createdAtMs + 1);
  writeSigningKey(transaction, { kid, publicKey, privateKey, createdAtMs });
  return { kind: "rotate-signing-key", kid, revision };
}

/** Drops the keys that have no valid token left. */
function applyDropSigningKeys({ transaction, wallMs }: ApplyContext): void {
  for (const { kid } of endedSigningKeys(transaction, wallMs)) {
    transaction.delete(signingKeyRow(kid));
  }
}

/** Makes the new key the only one: every token signed before becomes invalid. */
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
