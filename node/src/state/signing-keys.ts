/**
 * The ring of keys that sign tokens, and the secret that authenticates page tokens: replicated, so that every member
 * can issue and check both.
 */

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

const KEY_BYTES = 32;

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
  const writer = new RecordWriter().text(key.kid).fixed(key.publicKey, KEY_BYTES).fixed(key.privateKey, KEY_BYTES);
  transaction.put(signingKeyRow(key.kid), writer.uint53(key.createdAtMs).finish());
}

/** The 32 bytes that authenticate page tokens; undefined before the cluster is founded. */
export function readPageTokenKey(reader: StateReader): Uint8Array | undefined {
  return reader.get(PAGE_TOKEN_KEY_ROW);
}

export function writePageTokenKey(transaction: Transaction, key: Uint8Array): void {
  transaction.put(PAGE_TOKEN_KEY_ROW, new RecordWriter().fixed(key, KEY_BYTES).finish());
}

function decodeSigningKey(bytes: Uint8Array): SigningKey {
  const reader = new RecordReader(bytes);
  const key = {
    kid: reader.text(),
    publicKey: reader.fixed(KEY_BYTES),
    privateKey: reader.fixed(KEY_BYTES),
    createdAtMs: reader.uint53(),
  };
  reader.end();
  return key;
}
