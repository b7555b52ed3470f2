/**
 * Keys of the rows of the replicated state: one letter for the table, then the identity of the row.
 *
 * Namespaces contain no NUL byte, so a NUL ends them and the user's key may contain any byte. Numbers are eight bytes,
 * big-endian, so rows sort by them.
 */

import { hashOf, type Keyed } from "../../bytes/index.ts";
import { invariant } from "../../primitives/index.ts";
import { decodeText, RecordWriter } from "./record.ts";
import type { KeyRange } from "./store.ts";

const TABLES = {
  eventKey: 0x44, // D
  event: 0x45, // E
  logErasure: 0x46, // F
  replayGeneration: 0x47, // G
  historyShare: 0x48, // H
  accountIndex: 0x49, // I
  apiKeyByUser: 0x4b, // K
  log: 0x4c, // L
  logName: 0x4e, // N
  sessionObject: 0x4f, // O
  formerCluster: 0x50, // P
  quota: 0x51, // Q
  retention: 0x52, // R
  settings: 0x53, // S
  eventKeyTimer: 0x54, // T
  usage: 0x55, // U
  verification: 0x56, // V
  namespaceErasure: 0x58, // X
  sessionTimer: 0x59, // Y
  sessionLife: 0x5a, // Z
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
  namespaceUsage: 0x6f, // o
  pageTokenKey: 0x70, // p
  apiKeyPrefix: 0x71, // q
  replay: 0x72, // r
  signingKey: 0x73, // s
  session: 0x74, // t
  user: 0x75, // u
  memoryPage: 0x76, // v
  history: 0x77, // w
  expiry: 0x78, // x
} as const;

type Table = keyof typeof TABLES;

/** All tables by name, with the first byte of their row keys. */
export const STATE_TABLES: ReadonlyMap<string, number> = new Map(Object.entries(TABLES));

const NO_BYTES = new Uint8Array(0);

/** Begins the key of a row of the table. */
function row(table: Table): RecordWriter {
  return new RecordWriter().uint8(TABLES[table]);
}

/** Applied index and term, clocks, revision, counters. */
export const PROGRESS_ROW = row("progress").finish();
/** Roles, directory of members, cluster id and version. */
export const CONFIGURATION_ROW = row("configuration").finish();
/** Which part of the history of changes is kept. */
export const HISTORY_BOUNDS_ROW = row("historyBounds").finish();
/** The settings of administrators, and how often they changed. */
export const SETTINGS_ROW = row("settings").finish();
/** How many users there are. */
export const USER_COUNT_ROW = row("accountIndex").uint8(0).finish();
/** The secret that authenticates page tokens. */
export const PAGE_TOKEN_KEY_ROW = row("pageTokenKey").finish();

/** The key with its hash, for code that reads and writes the row. */
export function hashed(key: Uint8Array): Keyed {
  return { key, hash: hashOf(key) };
}

/** More namespaces, users and API keys than are in use at a time. Above it, the cache of a table starts again. */
const KNOWN_KEYS_MAX = 10_000;

/** A cache of row keys that nearly every request reads, by their text. */
class KnownKeys {
  readonly #table: Table;
  readonly #keys = new Map<string, Keyed>();

  constructor(table: Table) {
    this.#table = table;
  }

  of(text: string): Keyed {
    return this.#keys.get(text) ?? this.#make(text);
  }

  #make(text: string): Keyed {
    // A copy with its own memory: a cut of a slab would keep the whole slab.
    const made = hashed(row(this.#table).plainText(text).finish().slice());
    if (this.#keys.size >= KNOWN_KEYS_MAX) {
      this.#keys.clear();
    }
    this.#keys.set(text, made);
    return made;
  }
}

const namespaceKeys = new KnownKeys("namespace");
const userKeys = new KnownKeys("user");
const apiKeyKeys = new KnownKeys("apiKey");

/** The key of `namespaceRow`, for a read. */
export function namespaceKey(namespace: string): Keyed {
  return namespaceKeys.of(namespace);
}

/** The key of `userRow`, for a read. */
export function userKey(userId: string): Keyed {
  return userKeys.of(userId);
}

/** The key of `apiKeyRow`, for a read. */
export function apiKeyKey(apiKeyId: string): Keyed {
  return apiKeyKeys.of(apiKeyId);
}

export function namespaceRow(namespace: string): Uint8Array {
  return row("namespace").plainText(namespace).finish();
}

export function keyRow(namespace: string, key: Uint8Array): Uint8Array {
  return row("key").plainText(namespace).uint8(0).plainBytes(key).finish();
}

/** Length of the part of a key row before the user's key. */
export function keyRowPrefixLength(namespace: string): number {
  return keyRow(namespace, NO_BYTES).length;
}

/** Rows of the keys that expire, in the order of their deadlines (cluster tick, ms). */
export function expiryRow(deadlineMs: number, namespace: string, key: Uint8Array): Uint8Array {
  return row("expiry").uint53(deadlineMs).plainText(namespace).uint8(0).plainBytes(key).finish();
}

/** Rows of answers by generation, subject and request id (16 bytes). */
export function answerRow(generation: number, subject: string, requestId: Uint8Array): Uint8Array {
  return row("replay").uint53(generation).plainText(subject).uint8(0).plainBytes(requestId).finish();
}

/** Length of the part of these keys before subject and request id; the generation follows the first byte. */
export const ANSWER_KEY_HEAD_BYTES = 1 + 8;

/** The rows of answers of the generations from first to last; null = to the end of the table. */
export function answerRange(first: number, last: number | null): KeyRange {
  return {
    from: row("replay").uint53(first).finish(),
    to:
      last === null
        ? tableRange("replay").to
        : row("replay")
            .uint53(last + 1)
            .finish(),
  };
}

/** Rows of the totals of the generations of answers. */
export function answerGenerationRow(generation: number): Uint8Array {
  return row("replayGeneration").uint53(generation).finish();
}

/** Rows of changes by revision. */
export function historyRow(revision: number): Uint8Array {
  return row("history").uint53(revision).finish();
}

/** Rows of what the history has of each namespace, by its name. */
export function historyShareRow(namespace: string): Uint8Array {
  return row("historyShare").plainText(namespace).finish();
}

export function userRow(userId: string): Uint8Array {
  return row("user").plainText(userId).finish();
}

export function emailRow(email: string): Uint8Array {
  return row("email").plainText(email).finish();
}

export function apiKeyRow(apiKeyId: string): Uint8Array {
  return row("apiKey").plainText(apiKeyId).finish();
}

export function apiKeyPrefixRow(prefix: string): Uint8Array {
  return row("apiKeyPrefix").plainText(prefix).finish();
}

/** Rows of a user's API keys, in the order of their creation (wall clock, ms). */
export function apiKeyByUserRow(userId: string, createdAtMs: number, apiKeyId: string): Uint8Array {
  return row("apiKeyByUser").plainText(userId).uint8(0).uint53(createdAtMs).plainText(apiKeyId).finish();
}

/** Prefix of the rows of a user's API keys. */
export function apiKeyByUserPrefix(userId: string): Uint8Array {
  return row("apiKeyByUser").plainText(userId).uint8(0).finish();
}

/** Rows of the active users of the role owner. */
export function activeOwnerRow(userId: string): Uint8Array {
  return row("accountIndex").uint8(1).plainText(userId).finish();
}

/** Prefix of the rows of the active owners. */
export const ACTIVE_OWNER_PREFIX = row("accountIndex").uint8(1).finish();

/** Rows of users who have not verified this address, while another user has it. */
export function addressClaimRow(email: string, userId: string): Uint8Array {
  return row("accountIndex").uint8(2).plainText(email).uint8(0).plainText(userId).finish();
}

/** Prefix of these rows of one address. */
export function addressClaimPrefix(email: string): Uint8Array {
  return row("accountIndex").uint8(2).plainText(email).uint8(0).finish();
}

/** How many users have this namespace; absent = not counted yet. */
export function namespaceUsersRow(namespace: string): Uint8Array {
  return row("accountIndex").uint8(3).plainText(namespace).finish();
}

/** Rows of open verifications, at most one for each user. */
export function verificationRow(userId: string): Uint8Array {
  return row("verification").plainText(userId).finish();
}

/** The times before which usage rows were dropped. */
export const USAGE_DROPPED_ROW = row("usage").uint8(5).finish();
/** Parts of the usage table: totals, and usage of principals. */
const USAGE_PARTS = { hour: { total: 1, principal: 2 }, day: { total: 3, principal: 4 } } as const;

/** Prefix of usage rows whose buckets begin at this wall clock in milliseconds. */
export function usageTableRow(granularity: "hour" | "day", isTotal: boolean, startMs: number): Uint8Array {
  const part = USAGE_PARTS[granularity][isTotal ? "total" : "principal"];
  return row("usage").uint8(part).uint53(startMs).finish();
}

/** Rows of usage by hour or day: of a principal, as `subject NUL API key id`; null = the total. */
export function usageRow(granularity: "hour" | "day", startMs: number, principal: string | null): Uint8Array {
  const part = USAGE_PARTS[granularity][principal === null ? "total" : "principal"];
  return row("usage")
    .uint8(part)
    .uint53(startMs)
    .plainText(principal ?? "")
    .finish();
}

export function signingKeyRow(kid: string): Uint8Array {
  return row("signingKey").plainText(kid).finish();
}

/** Rows of memory regions by namespace and id (16 bytes). */
export function memoryRegionRow(namespace: string, regionId: Uint8Array): Uint8Array {
  return row("memoryRegion").plainText(namespace).uint8(0).plainBytes(regionId).finish();
}

/** Rows of the usage of each namespace, for its quotas. */
export function namespaceUsageRow(namespace: string): Uint8Array {
  return row("namespaceUsage").plainText(namespace).finish();
}

/** Rows of the clusters whose state this one took over, by id. */
export function formerClusterRow(clusterId: string): Uint8Array {
  return row("formerCluster").plainText(clusterId).finish();
}

/** How many limits single namespaces have. */
export const QUOTA_COUNT_ROW = row("quota").finish();

/** Rows of the limits of one namespace, whose name is not empty. */
export function quotaRow(namespace: string): Uint8Array {
  return row("quota").plainText(namespace).finish();
}

/** Rows of the segments of a region, in order. The revision of its allocation identifies the region. */
export function memorySegmentRow(createRevision: number, segment: number): Uint8Array {
  return row("memorySegment").uint53(createRevision).uint53(segment).finish();
}

/** Rows of the pages stored under a revision, in their order within the region. */
export function memoryPageRow(storeRevision: number, page: number): Uint8Array {
  return row("memoryPage").uint53(storeRevision).uint53(page).finish();
}

/** Rows of the segments whose pages must be erased, by the revision in the pages' keys. */
export function memoryErasureRow(storeRevision: number, segment: number): Uint8Array {
  return row("memoryErasure").uint53(storeRevision).uint53(segment).finish();
}

/** Row of a lock; the names of exclusive and read-write locks are separate. */
export function lockRow(namespace: string, rw: boolean, name: string): Uint8Array {
  return row("lock")
    .plainText(namespace)
    .uint8(0)
    .uint8(rw ? 1 : 0)
    .plainText(name)
    .finish();
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
  return row("lockHold").uint53(lockId).uint53(token).finish();
}

/** Rows of the waits for a lock, by its id, in the order of their positions: first come, first served. */
export function lockWaitRow(lockId: number, position: number): Uint8Array {
  return row("lockWait").uint53(lockId).uint53(position).finish();
}

/** Rows of lock timers, in the order of deadlines (cluster tick, ms); `about` is the kind of the timer. */
export function lockTimerRow(deadlineMs: number, about: number, lockId: number, thing: number): Uint8Array {
  return row("lockTimer").uint53(deadlineMs).uint8(about).uint53(lockId).uint53(thing).finish();
}

/** Rows of sessions by namespace and id. */
export function sessionRow(namespace: string, sessionId: number): Uint8Array {
  return row("session").plainText(namespace).uint8(0).uint53(sessionId).finish();
}

/** Prefix of the rows of the sessions of a namespace. */
export function sessionPrefix(namespace: string): Uint8Array {
  return row("session").plainText(namespace).uint8(0).finish();
}

/** Rows of what changes of a session: its deadline, and how much belongs to it. */
export function sessionLifeRow(sessionId: number): Uint8Array {
  return row("sessionLife").uint53(sessionId).finish();
}

/** Rows of what belongs to a session: keys by their bytes, holds by the row of their lock and their token. */
export function sessionObjectRow(sessionId: number, about: number, thing: Uint8Array): Uint8Array {
  return row("sessionObject").uint53(sessionId).uint8(about).plainBytes(thing).finish();
}

/** Length of the part of these keys before the thing, and the offset of what it is about. */
export const SESSION_OBJECT_HEAD_BYTES = 1 + 8 + 1;

/** Prefix of the rows of what belongs to a session. */
export function sessionObjectPrefix(sessionId: number): Uint8Array {
  return row("sessionObject").uint53(sessionId).finish();
}

/** Rows of sessions in the order of their deadlines (cluster tick, ms). */
export function sessionTimerRow(deadlineMs: number, sessionId: number): Uint8Array {
  return row("sessionTimer").uint53(deadlineMs).uint53(sessionId).finish();
}

/** Rows of event logs by id (16 bytes). */
export function logRow(logId: Uint8Array): Uint8Array {
  return row("log").plainBytes(logId).finish();
}

/** Rows of the ids of live logs by namespace and name. */
export function logNameRow(namespace: string, name: string): Uint8Array {
  return row("logName").plainText(namespace).uint8(0).plainText(name).finish();
}

/** Prefix of the rows of the log names of a namespace. */
export function logNamePrefix(namespace: string): Uint8Array {
  return row("logName").plainText(namespace).uint8(0).finish();
}

/** The row of a place from `logNameCursor`. */
export function logNameRowAt(cursor: Uint8Array): Uint8Array {
  return row("logName").plainBytes(cursor).finish();
}

/** The place of a row in the order of namespaces and names. */
export function logNameCursor(key: Uint8Array): Uint8Array {
  return key.subarray(1);
}

/** The namespace of a place in that order. */
export function namespaceOfCursor(cursor: Uint8Array): string {
  return decodeText(cursor.subarray(0, cursor.indexOf(0)));
}

/**
 * Rows of events, each with some events of one append, by the number of their log and the sequence of the last event.
 */
export function eventRow(logNumber: number, lastSequence: number): Uint8Array {
  return row("event").uint53(logNumber).uint53(lastSequence).finish();
}

const EVENT_KEY_SCOPES = { single: 0, batch: 1, shared: 2 } as const;

/** Rows of remembered event keys: of a single key, or of the base of the keys of a batch. */
export function eventKeyRow(logNumber: number, scope: "single" | "batch", key: string): Uint8Array {
  return row("eventKey").uint53(logNumber).uint8(EVENT_KEY_SCOPES[scope]).plainText(key).finish();
}

/** Rows of single keys that read like keys of a batch, by base and shelf; those of a base are adjacent. */
export function sharedKeyRow(logNumber: number, base: string, group: number): Uint8Array {
  // Keys contain no NUL, so no base with this suffix is a prefix of another.
  return row("eventKey")
    .uint53(logNumber)
    .uint8(EVENT_KEY_SCOPES.shared)
    .plainText(base)
    .uint8(0)
    .uint53(group)
    .finish();
}

/** First key of the rows of the keys of a log, and first key after them. */
export function eventKeyRange(logNumber: number): KeyRange {
  return {
    from: row("eventKey").uint53(logNumber).finish(),
    to: row("eventKey")
      .uint53(logNumber + 1)
      .finish(),
  };
}

const TIMER_THING_OFFSET = 1 + 8;

/** Rows that order remembered keys by when to check them (cluster tick, ms). */
export function eventKeyTimerRow(dueMs: number, duplicate: Uint8Array): Uint8Array {
  return row("eventKeyTimer").uint53(dueMs).plainBytes(duplicate.subarray(1)).finish();
}

/** The row key of a timer. */
export function eventKeyOfTimer(timer: Uint8Array): Uint8Array {
  return row("eventKey").plainBytes(timer.subarray(TIMER_THING_OFFSET)).finish();
}

/** Rows that order logs by when to remove some of their events (cluster tick, ms). */
export function retentionRow(dueMs: number, logNumber: number): Uint8Array {
  return row("retention").uint53(dueMs).uint53(logNumber).finish();
}

/** Rows of deleted logs that have left rows, by their numbers; the value shows where those begin. */
export function logErasureRow(logNumber: number): Uint8Array {
  return row("logErasure").uint53(logNumber).finish();
}

/** Rows of the namespaces that are being deleted, by name; the value shows how far the deletion is. */
export function namespaceErasureRow(namespace: string): Uint8Array {
  return row("namespaceErasure").plainText(namespace).finish();
}

/** Whether nearly every request reads the row's table and few write it: worth caching. */
export function isHotRow(key: Uint8Array): boolean {
  const table = key[0];
  return table === TABLES.user || table === TABLES.apiKey || table === TABLES.namespace || table === TABLES.settings;
}

/** Whether each renewal of a session reads the row: worth caching. */
export function isSessionRow(key: Uint8Array): boolean {
  const table = key[0];
  return table === TABLES.session || table === TABLES.sessionLife;
}

/** First key of the table and first key after it. */
export function tableRange(table: Table): KeyRange {
  const from = new Uint8Array([TABLES[table]]);
  return { from, to: new Uint8Array([TABLES[table] + 1]) };
}

/**
 * First key with the prefix and first key after them. The end is the prefix up to its last byte below 0xFF, incremented
 * (S16); there is one because no table has the byte 0xFF.
 */
export function prefixRange(prefix: Uint8Array): KeyRange {
  let at = prefix.length - 1;
  while (prefix[at] === 0xff) {
    at--;
  }
  const to = prefix.slice(0, at + 1);
  const last = to[at];
  invariant(last !== undefined, "prefixes of rows begin with their table");
  to[at] = last + 1;
  return { from: prefix, to };
}
