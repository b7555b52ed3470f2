/**
 * Keys of the rows of the replicated state: one letter for the table, then what identifies the row.
 *
 * Namespaces contain no NUL byte, so a NUL ends them and the user's key may hold any byte. Numbers are eight bytes,
 * big-endian, so rows order by them.
 */

import { writeUint53 } from "../raft/index.ts";
import { encodeText } from "./record.ts";

const TABLES = {
  progress: 0x61, // a
  historyBounds: 0x62, // b
  configuration: 0x63, // c
  key: 0x64, // d
  email: 0x65, // e
  history: 0x68, // h
  apiKey: 0x6b, // k
  apiKeyPrefix: 0x71, // q
  namespace: 0x6e, // n
  replay: 0x72, // r
  signingKey: 0x73, // s
  replayTime: 0x74, // t
  user: 0x75, // u
  expiry: 0x78, // x
  pageTokenKey: 0x70, // p
} as const;

type Table = keyof typeof TABLES;

function row(table: Table, ...parts: readonly Uint8Array[]): Uint8Array {
  let length = 1;
  for (const part of parts) {
    length += part.length;
  }
  const key = new Uint8Array(length);
  key[0] = TABLES[table];
  let offset = 1;
  for (const part of parts) {
    key.set(part, offset);
    offset += part.length;
  }
  return key;
}

const NUL = new Uint8Array(1);

function number(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  writeUint53(bytes, 0, value);
  return bytes;
}

/** Applied index and term, clocks, revision, counters. */
export const PROGRESS_ROW = row("progress");
/** Roles, directory of members, cluster id and version. */
export const CONFIGURATION_ROW = row("configuration");
/** Which part of the history of changes is kept. */
export const HISTORY_BOUNDS_ROW = row("historyBounds");
/** The secret that authenticates page tokens. */
export const PAGE_TOKEN_KEY_ROW = row("pageTokenKey");

export function namespaceRow(namespace: string): Uint8Array {
  return row("namespace", encodeText(namespace));
}

export function keyRow(namespace: string, key: Uint8Array): Uint8Array {
  return row("key", encodeText(namespace), NUL, key);
}

/** Length of the part of a key row before the user's key. */
export function keyRowPrefixLength(namespace: string): number {
  return 1 + encodeText(namespace).length + 1;
}

/** Rows of the keys that expire, in the order of their deadlines (cluster tick, ms). */
export function expiryRow(deadlineMs: number, namespace: string, key: Uint8Array): Uint8Array {
  return row("expiry", number(deadlineMs), encodeText(namespace), NUL, key);
}

/** Rows of answers by subject and request id (16 bytes). */
export function replayRow(subject: string, requestId: Uint8Array): Uint8Array {
  return row("replay", encodeText(subject), NUL, requestId);
}

/** Rows that order the answers by the tick of their first execution, then log index. */
export function replayTimeRow(tickMs: number, index: number): Uint8Array {
  return row("replayTime", number(tickMs), number(index));
}

/** Rows of the changes by their revision. */
export function historyRow(revision: number): Uint8Array {
  return row("history", number(revision));
}

export function userRow(userId: string): Uint8Array {
  return row("user", encodeText(userId));
}

export function emailRow(email: string): Uint8Array {
  return row("email", encodeText(email));
}

export function apiKeyRow(apiKeyId: string): Uint8Array {
  return row("apiKey", encodeText(apiKeyId));
}

export function apiKeyPrefixRow(prefix: string): Uint8Array {
  return row("apiKeyPrefix", encodeText(prefix));
}

export function signingKeyRow(kid: string): Uint8Array {
  return row("signingKey", encodeText(kid));
}

/** Whether the row is of a table that nearly every request reads and few write: worth keeping in memory. */
export function isHotRow(key: Uint8Array): boolean {
  const table = key[0];
  return table === TABLES.user || table === TABLES.apiKey || table === TABLES.namespace;
}

/** First key of the table and first key after it. */
export function tableRange(table: Table): { readonly from: Uint8Array; readonly to: Uint8Array } {
  const from = new Uint8Array([TABLES[table]]);
  return { from, to: new Uint8Array([TABLES[table] + 1]) };
}

/**
 * The first byte string after all that begin with the prefix: its last byte below 0xFF incremented, the rest cut off.
 * Undefined if there is none, because every byte is 0xFF (S16).
 */
export function prefixEnd(prefix: Uint8Array): Uint8Array | undefined {
  for (let at = prefix.length - 1; at >= 0; at--) {
    const byte = prefix[at] as number;
    if (byte < 0xff) {
      const end = prefix.slice(0, at + 1);
      end[at] = byte + 1;
      return end;
    }
  }
  return undefined;
}
