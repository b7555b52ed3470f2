/**
 * The rules of single fields. Each function checks one field of a request and returns it in the form that commands and
 * queries use.
 *
 * A size above its limit is refused as TOO_LARGE, any other violation as BAD_FIELD. Every refusal names the field as in
 * the protobuf definition, the rule and its limit. None repeats the value, which may be a secret. Rules that depend on
 * the state of the cluster are not checked here.
 */

import { type Guard as GuardMessage, ReadConsistency, RWMode, unknownName } from "@quoin/proto";
import { beginningOf } from "../../primitives/index.ts";
import {
  badRequestField,
  CoordinationError,
  DEFAULT_NAMESPACE,
  encodeText,
  type Guard,
  isKnownSetting,
  NAMESPACE_PATTERN,
  SETTING_NAMES,
  SLOTS_MAX,
} from "../../state/index.ts";

/** Bytes of a key, in UTF-8. */
const KEY_BYTES_MAX = 1024;
/** Bytes of a value. */
const VALUE_BYTES_MAX = 1024 * 1024;
/** Maximum time to live of a key in seconds: one year of 365 days. */
const TTL_SECONDS_MAX = 31_536_000;
/** Bytes of the name of a lock, the label of its holder, or a reason, in UTF-8. */
const LABEL_BYTES_MAX = 256;
/** Maximum time to live of a hold in seconds: a day. */
const HOLD_SECONDS_MAX = 86_400;
const LOCK_DELAY_SECONDS_MAX = 60;
/** Permits of a semaphore. */
const PERMITS_MAX = 10_000;
/** Bytes of the value of a hold: every answer and every event of the lock has it. */
const HOLD_VALUE_BYTES_MAX = 1024;
/**
 * Two hours. No call lasts longer than one hour, so with this limit the call's deadline always ends before the wait.
 */
const WAIT_MS_MAX = 7_200_000;
/** Maximum and default number of entries in a page of a listing. */
const PAGE_SIZE_MAX = 1000;
const PAGE_SIZE_DEFAULT = 100;
/** Streams in a page: another member sends it over the connection of its heartbeats. */
const STREAMS_PAGE_MAX = 100;
/** Waits of one lock in a listing of locks. */
const LISTED_WAITS_MAX = 100;
/** Bytes of keys and values in a page of a listing: what one slice of a few milliseconds can read and encode. */
export const LISTING_BYTES_MAX = 256 * 1024;
/** Bytes of events in a page: far below the 4 MiB of a message that clients allow by default. */
export const PAGE_BYTES_MAX = 1024 * 1024;

/** Interval of a watch's progress messages in milliseconds: minimum, maximum and default. */
const PROGRESS_INTERVAL_MS_MIN = 100;
const PROGRESS_INTERVAL_MS_MAX = 60_000;
const PROGRESS_INTERVAL_MS_DEFAULT = 1_000;

/** How far back the counters of a member go, in seconds. */
const WINDOW_SECONDS_MAX = 900;
/** Maximum number of settings that one call changes. */
const SETTINGS_MAX = 100;

const NAMESPACE_CHARACTERS_MAX = 63;
const NAMESPACE_PREFIX_PATTERN = /^[a-z0-9][a-z0-9._-]{0,62}$/;
const MEMBER_NAME_CHARACTERS_MAX = 63;
const MEMBER_NAME_PATTERN = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/;
const MEMBER_ID_PATTERN = /^[1-9][0-9]*$/;
const INCARNATION_PATTERN = /^[0-9a-f]{32}$/;

/** Returns the bytes. Throws TOO_LARGE if there are more than `max`. */
export function requireSize(field: string, bytes: Uint8Array, max: number): Uint8Array {
  if (bytes.length > max) {
    throw new CoordinationError("TOO_LARGE", `field ${field} has ${bytes.length} bytes; at most ${max} are allowed`, {
      details: new Map([
        ["field", field],
        ["limit", String(max)],
      ]),
    });
  }
  return bytes;
}

/** The name of a namespace. */
export function namespaceField(namespace: string, field = "namespace"): string {
  if (!NAMESPACE_PATTERN.test(namespace)) {
    const rule = `must have 1 to ${NAMESPACE_CHARACTERS_MAX} characters: a-z and 0-9, and between them also . _ -`;
    throw badRequestField(field, rule, NAMESPACE_CHARACTERS_MAX);
  }
  return namespace;
}

/** The name of a namespace that may be deleted: any but the one that every cluster begins with. */
export function deletedNamespaceField(namespace: string): string {
  if (namespace === DEFAULT_NAMESPACE) {
    throw badRequestField("namespace", `cannot be "${DEFAULT_NAMESPACE}", which every cluster has`);
  }
  return namespaceField(namespace);
}

/** A prefix of names of namespaces; empty = all. */
export function namespacePrefixField(prefix: string): string {
  if (prefix !== "" && !NAMESPACE_PREFIX_PATTERN.test(prefix)) {
    const rule = `must have at most ${NAMESPACE_CHARACTERS_MAX} characters a-z, 0-9, and after the first one also . _ -`;
    throw badRequestField("prefix", rule, NAMESPACE_CHARACTERS_MAX);
  }
  return prefix;
}

/** The UTF-8 bytes of a key, 1 to KEY_BYTES_MAX. */
export function keyField(key: string): Uint8Array {
  if (key === "") {
    throw badRequestField("key", `must have 1 to ${KEY_BYTES_MAX} bytes`, KEY_BYTES_MAX);
  }
  return requireSize("key", encodeText(key), KEY_BYTES_MAX);
}

/** The UTF-8 bytes of a prefix of keys; empty = every key. */
export function prefixField(prefix: string, field = "prefix"): Uint8Array {
  return requireSize(field, encodeText(prefix), KEY_BYTES_MAX);
}

/** The value of a key, up to VALUE_BYTES_MAX bytes. An empty value is valid (S14). */
export function valueField(field: string, value: Uint8Array): Uint8Array {
  return requireSize(field, value, VALUE_BYTES_MAX);
}

/** Time to live of a key in seconds, 1 to TTL_SECONDS_MAX; 0 = it does not expire. */
export function ttlField(ttlSeconds: bigint): number {
  if (ttlSeconds < 0n || ttlSeconds > TTL_SECONDS_MAX) {
    const rule = `must be 0 (no expiry) or 1 to ${TTL_SECONDS_MAX}`;
    throw badRequestField("ttl_seconds", rule, TTL_SECONDS_MAX);
  }
  return Number(ttlSeconds);
}

/**
 * The expected revision of a key, 0 = it must not exist, undefined = any. The decoder has checked that it is safe
 * (S17).
 */
export function expectedModRevisionField(revision: bigint | undefined): number | undefined {
  if (revision === undefined) {
    return undefined;
  }
  if (revision < 0n) {
    throw badRequestField(
      "expected_mod_revision",
      "must be 0 (the key must not exist) or a revision, which is above 0",
    );
  }
  return Number(revision);
}

/** The first revision that a watch reports, 0 = the next one. The decoder has checked that it is safe (S17). */
export function startRevisionField(revision: bigint): number {
  if (revision < 0n) {
    throw badRequestField("start_revision", "must be 0 (from now on) or a revision, which is above 0");
  }
  return Number(revision);
}

/** The revision below which history is dropped. The decoder has checked that it is safe (S17). */
export function compactRevisionField(revision: bigint): number {
  if (revision < 1n) {
    throw badRequestField("revision", "must be a revision, which is above 0");
  }
  return Number(revision);
}

/**
 * Settings by name. The state machine checks names and values. Unknown names are refused here too: only here, the
 * refusal may name the nearest one, because members of two releases must store the same answer.
 */
export function settingsField(values: ReadonlyMap<string, string>): { name: string; value: string }[] {
  if (values.size > SETTINGS_MAX) {
    throw badRequestField("values", `must hold at most ${SETTINGS_MAX} settings`, SETTINGS_MAX);
  }
  const unknown = values.keys().find((name) => !isKnownSetting(name));
  if (unknown !== undefined) {
    throw badRequestField(`values[${beginningOf(unknown)}]`, unknownName(unknown, "the cluster", SETTING_NAMES));
  }
  return Array.from(values, ([name, value]) => ({ name, value }));
}

/** Interval of a watch's progress messages in milliseconds. */
export function progressIntervalField(intervalMs: bigint): number {
  if (intervalMs === 0n) {
    return PROGRESS_INTERVAL_MS_DEFAULT;
  }
  if (intervalMs < PROGRESS_INTERVAL_MS_MIN || intervalMs > PROGRESS_INTERVAL_MS_MAX) {
    const rule = `must be 0 (the default, ${PROGRESS_INTERVAL_MS_DEFAULT}) or ${PROGRESS_INTERVAL_MS_MIN} to ${PROGRESS_INTERVAL_MS_MAX}`;
    throw badRequestField("progress_interval_ms", rule);
  }
  return Number(intervalMs);
}

/** Maximum number of entries in a page. */
export function pageSizeField(pageSize: number, field = "page_size"): number {
  if (pageSize < 0 || pageSize > PAGE_SIZE_MAX) {
    const rule = `must be 0 (the default, ${PAGE_SIZE_DEFAULT}) or 1 to ${PAGE_SIZE_MAX}`;
    throw badRequestField(field, rule, PAGE_SIZE_MAX);
  }
  return pageSize === 0 ? PAGE_SIZE_DEFAULT : pageSize;
}

/** Maximum number of streams in a page. */
export function streamPageSizeField(pageSize: number): number {
  if (pageSize < 0 || pageSize > STREAMS_PAGE_MAX) {
    throw badRequestField(
      "page_size",
      `must be 0 (the default, ${STREAMS_PAGE_MAX}) or 1 to ${STREAMS_PAGE_MAX}`,
      STREAMS_PAGE_MAX,
    );
  }
  return pageSize === 0 ? STREAMS_PAGE_MAX : pageSize;
}

/** Maximum number of waits of each lock in a listing. */
export function waitsMaxField(waitsMax: number): number {
  if (waitsMax < 0 || waitsMax > LISTED_WAITS_MAX) {
    throw badRequestField("waits_max", `must be 0 to ${LISTED_WAITS_MAX}`, LISTED_WAITS_MAX);
  }
  return waitsMax;
}

/** The freshness of a read. An unknown number is refused: a guess could return older data than the caller wants. */
export function consistencyField(consistency: ReadConsistency): ReadConsistency {
  if (consistency !== ReadConsistency.LINEARIZABLE && consistency !== ReadConsistency.SERIALIZABLE) {
    throw badRequestField("consistency", "must be LINEARIZABLE (0) or SERIALIZABLE (1)");
  }
  return consistency;
}

/** The name of a lock, 1 to LABEL_BYTES_MAX bytes in UTF-8. */
export function lockNameField(field: string, name: string): string {
  if (name === "") {
    throw badRequestField(field, `must have 1 to ${LABEL_BYTES_MAX} bytes`, LABEL_BYTES_MAX);
  }
  return labelField(field, name);
}

/** The UTF-8 bytes of a prefix of lock names; empty = every lock. */
export function lockPrefixField(prefix: string): Uint8Array {
  return requireSize("name_prefix", encodeText(prefix), LABEL_BYTES_MAX);
}

/** A text that only the caller interprets, up to LABEL_BYTES_MAX bytes in UTF-8. */
export function labelField(field: string, text: string): string {
  requireSize(field, encodeText(text), LABEL_BYTES_MAX);
  return text;
}

/** Time to live of a hold in seconds, 1 to HOLD_SECONDS_MAX; for 0 it returns `whenZero`. */
export function holdTtlField(ttlSeconds: bigint, whenZero: number): number {
  if (ttlSeconds < 0n || ttlSeconds > HOLD_SECONDS_MAX) {
    throw badRequestField("ttl_seconds", `must be 0 (the default) or 1 to ${HOLD_SECONDS_MAX}`, HOLD_SECONDS_MAX);
  }
  return ttlSeconds === 0n ? whenZero : Number(ttlSeconds);
}

/** Seconds after an expired or forced hold in which the lock is not granted exclusively. */
export function lockDelayField(lockDelaySeconds: bigint): number {
  if (lockDelaySeconds < 0n || lockDelaySeconds > LOCK_DELAY_SECONDS_MAX) {
    throw badRequestField("lock_delay_seconds", `must be 0 to ${LOCK_DELAY_SECONDS_MAX}`, LOCK_DELAY_SECONDS_MAX);
  }
  return Number(lockDelaySeconds);
}

/** The number of permits of a semaphore, or of a new hold: 1 to PERMITS_MAX. */
export function permitsField(permits: number): number {
  if (permits < 1 || permits > PERMITS_MAX) {
    throw badRequestField("permits", `must be 1 to ${PERMITS_MAX}`, PERMITS_MAX);
  }
  return permits;
}

/** The permits that a request claims, as the field of an operation; no field for a renewal that names none. */
export function claimedPermitsField(permits: number, fencingToken: bigint): { readonly permits?: number } {
  return permits === 0 && fencingToken !== 0n ? {} : { permits: permitsField(permits) };
}

/** The value of a hold, up to HOLD_VALUE_BYTES_MAX bytes; empty = none. */
export function holdValueField(value: Uint8Array): Uint8Array {
  return requireSize("value", value, HOLD_VALUE_BYTES_MAX);
}

/** The value that a request claims, as the field of an operation; no field without one. */
export function claimedValueField(value: Uint8Array): { readonly value?: Uint8Array } {
  return value.length === 0 ? {} : { value: holdValueField(value) };
}

/** Milliseconds that a request may wait for a lock, at most WAIT_MS_MAX; no call lasts longer. */
export function waitField(waitMs: bigint): number {
  if (waitMs < 0n) {
    throw badRequestField("wait_ms", "must be 0 (do not wait) or above");
  }
  return Math.min(Number(waitMs), WAIT_MS_MAX);
}

/** The token of a hold; 0 = none. */
export function fencingTokenField(token: bigint): number {
  if (token < 0n) {
    throw badRequestField("fencing_token", "must be 0 (none) or the token of a hold, which is above 0");
  }
  return Number(token);
}

/** The mode of a new hold of a read-write lock. */
export function modeField(mode: RWMode): "read" | "write" {
  const known = optionalModeField(mode);
  if (known === null) {
    throw badRequestField("mode", "must be READ (1) or WRITE (2)");
  }
  return known;
}

/** The mode of an existing hold of a read-write lock; null = either. */
export function optionalModeField(mode: RWMode): "read" | "write" | null {
  switch (mode) {
    case RWMode.RW_MODE_UNSPECIFIED:
      return null;
    case RWMode.READ:
      return "read";
    case RWMode.WRITE:
      return "write";
    default:
      throw badRequestField("mode", "must be READ (1) or WRITE (2)");
  }
}

/** The hold that must be live for a write, as the field of an operation; no field if the write needs none. */
export function guardField(guard: GuardMessage | undefined): { readonly guard?: Guard } {
  return guard === undefined ? {} : { guard: holdField("guard.", guard) };
}

/** The session that a key or a hold ends with, as a property that is absent without one. */
export function ownSessionField(sessionId: bigint): { readonly sessionId?: number } {
  if (sessionId < 0n) {
    throw badRequestField("session_id", "must be 0 (none) or the id of a session, which is above 0");
  }
  return sessionId === 0n ? {} : { sessionId: Number(sessionId) };
}

/** The id of a session. */
export function sessionIdField(sessionId: bigint, field = "session_id"): number {
  if (sessionId < 1n) {
    throw badRequestField(field, "must be the id of a session, which is above 0");
  }
  return Number(sessionId);
}

/** A hold that must be live, or a session. */
export function holdField(path: string, { lockName, fencingToken, rw, sessionId }: GuardMessage): Guard {
  if (sessionId !== undefined) {
    if (lockName !== "" || fencingToken !== 0n || rw) {
      throw badRequestField(`${path}session_id`, "must be absent in a guard that names a lock, its token or its kind");
    }
    return { lockName: "", fencingToken: sessionIdField(sessionId, `${path}session_id`), rw: false };
  }
  return {
    lockName: lockNameField(`${path}lock_name`, lockName),
    fencingToken: heldTokenField(path, fencingToken),
    rw,
  };
}

/** The token of a hold. */
export function heldTokenField(path: string, token: bigint): number {
  if (token < 1n) {
    throw badRequestField(`${path}fencing_token`, "must be the token of a hold, which is above 0");
  }
  return Number(token);
}

/** The 16 bytes of the id of a data directory, from the digits that GetStatus returns. */
export function incarnationField(incarnation: string): Uint8Array {
  if (!INCARNATION_PATTERN.test(incarnation)) {
    throw badRequestField("incarnation", "must be 32 hexadecimal digits in lower case, as returned by GetStatus");
  }
  return Uint8Array.fromHex(incarnation);
}

/** The name of a member: a DNS label or name, because it may become part of a host name. */
export function memberNameField(name: string): string {
  if (!MEMBER_NAME_PATTERN.test(name)) {
    const rule = `must have 1 to ${MEMBER_NAME_CHARACTERS_MAX} characters: a-z and 0-9, and between them also . -`;
    throw badRequestField("name", rule, MEMBER_NAME_CHARACTERS_MAX);
  }
  return name;
}

/** How far back counters go, in seconds. */
export function windowSecondsField(windowSeconds: number): number {
  if (windowSeconds < 0 || windowSeconds > WINDOW_SECONDS_MAX) {
    throw badRequestField(
      "window_seconds",
      `must be 0 (the default) or 1 to ${WINDOW_SECONDS_MAX}`,
      WINDOW_SECONDS_MAX,
    );
  }
  return windowSeconds === 0 ? WINDOW_SECONDS_MAX : windowSeconds;
}

/** The ids of 1 to SLOTS_MAX members, without duplicates. */
export function memberIdsField(ids: readonly string[]): number[] {
  if (ids.length === 0 || ids.length > SLOTS_MAX) {
    throw badRequestField("ids", `must name 1 to ${SLOTS_MAX} members`, SLOTS_MAX);
  }
  const numbers = ids.map((id) => memberIdField("ids", id));
  if (new Set(numbers).size !== numbers.length) {
    throw badRequestField("ids", "must name no member twice");
  }
  return numbers;
}

/** The id of the new leader; 0 = the voter whose log is closest to the leader's. */
export function targetIdField(targetId: string): number {
  return targetId === "" ? 0 : memberIdField("target_id", targetId);
}

/** The number that a condition compares; 0 = unconditional. The decoder has checked that it is safe (S17). */
export function conditionField(field: string, number: bigint): number {
  if (number < 0n) {
    throw badRequestField(field, "must be 0 (unconditional) or above");
  }
  return Number(number);
}

/** The id of a member. */
export function memberIdField(field: string, text: string): number {
  const id = Number(text);
  if (!MEMBER_ID_PATTERN.test(text) || !Number.isSafeInteger(id)) {
    throw badRequestField(
      field,
      "must be the id of a member: a decimal number from 1 to 2^53 - 1, as ListMembers returns it",
    );
  }
  return id;
}
