/**
 * Keys of the rows of the replicated state: one letter for the table, then what identifies the row.
 *
 * Namespaces contain no NUL byte, so a NUL ends them and the user's key may hold any byte. Numbers are eight bytes,
 * big-endian, so rows order by them.
 */

import { writeUint53 } from "../raft/index.ts";
import { decodeText, encodeText } from "./record.ts";

const TABLES = {
  duplicate: 0x44, // D
  event: 0x45, // E
  logErasure: 0x46, // F
  accountIndex: 0x49, // I
  apiKeyByUser: 0x4b, // K
  log: 0x4c, // L
  logName: 0x4e, // N
  retention: 0x52, // R
  settings: 0x53, // S
  duplicateTimer: 0x54, // T
  usage: 0x55, // U
  verification: 0x56, // V
  progress: 0x61, // a
  historyBounds: 0x62, // b
  configuration: 0x63, // c
  key: 0x64, // d
  email: 0x65, // e
  memoryErasure: 0x66, // f
  memorySegment: 0x67, // g
  lockHold: 0x68, // h
  lockTimer: 0x69, // i
  lockWait: 0x6a, // j
  apiKey: 0x6b, // k
  lock: 0x6c, // l
  memoryRegion: 0x6d, // m
  namespace: 0x6e, // n
  memoryUsage: 0x6f, // o
  pageTokenKey: 0x70, // p
  apiKeyPrefix: 0x71, // q
  replay: 0x72, // r
  signingKey: 0x73, // s
  replayTime: 0x74, // t
  user: 0x75, // u
  memoryPage: 0x76, // v
  history: 0x77, // w
  expiry: 0x78, // x
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
/** What administrators have set, and how often. */
export const SETTINGS_ROW = row("settings");
/** How many users there are. */
export const USER_COUNT_ROW = row("accountIndex", Uint8Array.of(0));
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

/** Rows of a user's API keys, in the order of their creation (wall clock, ms). */
export function apiKeyByUserRow(userId: string, createdAtMs: number, apiKeyId: string): Uint8Array {
  return row("apiKeyByUser", encodeText(userId), NUL, number(createdAtMs), encodeText(apiKeyId));
}

/** What the rows of a user's API keys begin with. */
export function apiKeyByUserPrefix(userId: string): Uint8Array {
  return row("apiKeyByUser", encodeText(userId), NUL);
}

/** Rows of the active users of the role owner. */
export function activeOwnerRow(userId: string): Uint8Array {
  return row("accountIndex", Uint8Array.of(1), encodeText(userId));
}

/** What the rows of the active owners begin with. */
export const ACTIVE_OWNER_PREFIX = row("accountIndex", Uint8Array.of(1));

/** Rows of the verifications that users are asked for, at most one for each. */
export function verificationRow(userId: string): Uint8Array {
  return row("verification", encodeText(userId));
}

/** Before which times rows of usage were dropped. */
export const USAGE_DROPPED_ROW = row("usage", Uint8Array.of(5));
/** Which part of the table of usage holds totals, and which the usage of principals. */
const USAGE_PARTS = { hour: { total: 1, principal: 2 }, day: { total: 3, principal: 4 } } as const;

/** What rows of usage begin with, of buckets that begin at this wall clock in milliseconds. */
export function usageTableRow(granularity: "hour" | "day", isTotal: boolean, startMs: number): Uint8Array {
  const part = USAGE_PARTS[granularity][isTotal ? "total" : "principal"];
  return row("usage", Uint8Array.of(part), number(startMs));
}

/** Rows of usage by hour or day: of a principal, as `subject NUL API key id`, or with null of all together. */
export function usageRow(granularity: "hour" | "day", startMs: number, principal: string | null): Uint8Array {
  const part = USAGE_PARTS[granularity][principal === null ? "total" : "principal"];
  return row("usage", Uint8Array.of(part), number(startMs), encodeText(principal ?? ""));
}

export function signingKeyRow(kid: string): Uint8Array {
  return row("signingKey", encodeText(kid));
}

/** Rows of memory regions by namespace and id (16 bytes). */
export function memoryRegionRow(namespace: string, regionId: Uint8Array): Uint8Array {
  return row("memoryRegion", encodeText(namespace), NUL, regionId);
}

/** Rows of how many bytes the regions of a namespace have together. */
export function memoryUsageRow(namespace: string): Uint8Array {
  return row("memoryUsage", encodeText(namespace));
}

/** Rows of the segments of a region, which is named by the revision of its allocation, in their order. */
export function memorySegmentRow(createRevision: number, segment: number): Uint8Array {
  return row("memorySegment", number(createRevision), number(segment));
}

/** Rows of the pages that were stored under a revision, in their order within the region. */
export function memoryPageRow(storeRevision: number, page: number): Uint8Array {
  return row("memoryPage", number(storeRevision), number(page));
}

/** Rows of the segments whose pages are to be erased, by the revision that those were stored under. */
export function memoryErasureRow(storeRevision: number, segment: number): Uint8Array {
  return row("memoryErasure", number(storeRevision), number(segment));
}

/** Row of a lock; exclusive and read-write locks have names of their own. */
export function lockRow(namespace: string, rw: boolean, name: string): Uint8Array {
  return row("lock", encodeText(namespace), NUL, Uint8Array.of(rw ? 1 : 0), encodeText(name));
}

/** The lock whose row has this key. */
export function splitLockRow(key: Uint8Array): {
  readonly namespace: string;
  readonly rw: boolean;
  readonly name: string;
} {
  const end = key.indexOf(0, 1);
  return {
    namespace: decodeText(key.subarray(1, end)),
    rw: key[end + 1] === 1,
    name: decodeText(key.subarray(end + 2)),
  };
}

/** Rows of the live holds of a lock, by its id, in the order of their tokens. */
export function lockHoldRow(lockId: number, token: number): Uint8Array {
  return row("lockHold", number(lockId), number(token));
}

/** Rows of the waits for a lock, by its id, in the order of their positions: first come, first served. */
export function lockWaitRow(lockId: number, position: number): Uint8Array {
  return row("lockWait", number(lockId), number(position));
}

/** Rows of what runs out about locks, in the order of deadlines (cluster tick, ms); `about` tells which kind of thing. */
export function lockTimerRow(deadlineMs: number, about: number, lockId: number, thing: number): Uint8Array {
  return row("lockTimer", number(deadlineMs), Uint8Array.of(about), number(lockId), number(thing));
}

/** Rows of event logs by id (16 bytes). */
export function logRow(logId: Uint8Array): Uint8Array {
  return row("log", logId);
}

/** Rows of the ids of live logs by their names. */
export function logNameRow(name: string): Uint8Array {
  return row("logName", encodeText(name));
}

/** Rows of events, some of one append in each, by the number of their log and the sequence of the last one. */
export function eventRow(logNumber: number, lastSequence: number): Uint8Array {
  return row("event", number(logNumber), number(lastSequence));
}

/** Rows of what is remembered of keys of events: a key of its own, or the base of the keys of a batch. */
export function duplicateRow(logNumber: number, isBatch: boolean, key: string): Uint8Array {
  return row("duplicate", number(logNumber), Uint8Array.of(isBatch ? 1 : 0), encodeText(key));
}

/** First key of the rows of the keys of a log, and first key after them. */
export function duplicateRange(logNumber: number): { readonly from: Uint8Array; readonly to: Uint8Array } {
  return { from: row("duplicate", number(logNumber)), to: row("duplicate", number(logNumber + 1)) };
}

const TIMER_THING_OFFSET = 1 + 8;

/** Rows that order those by when they are to be looked at (cluster tick, ms). */
export function duplicateTimerRow(dueMs: number, duplicate: Uint8Array): Uint8Array {
  return row("duplicateTimer", number(dueMs), duplicate.subarray(1));
}

/** The key of the row that a timer is about. */
export function duplicateOfTimer(timer: Uint8Array): Uint8Array {
  return row("duplicate", timer.subarray(TIMER_THING_OFFSET));
}

/** Rows that order logs by when events of theirs are to be removed (cluster tick, ms). */
export function retentionRow(dueMs: number, logNumber: number): Uint8Array {
  return row("retention", number(dueMs), number(logNumber));
}

/** Rows of deleted logs that have left rows behind, by their numbers; they tell from where on. */
export function logErasureRow(logNumber: number): Uint8Array {
  return row("logErasure", number(logNumber));
}

const HOT_TABLES: ReadonlySet<number | undefined> = new Set([
  TABLES.user,
  TABLES.apiKey,
  TABLES.namespace,
  TABLES.settings,
]);

/** Whether the row is of a table that nearly every request reads and few write: worth keeping in memory. */
export function isHotRow(key: Uint8Array): boolean {
  return HOT_TABLES.has(key[0]);
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

/** The least byte string above the key. */
export function withNul(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}
