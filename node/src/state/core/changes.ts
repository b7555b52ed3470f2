/**
 * Changes for watchers: of keys, and of the beginnings and ends of lock holds; and their form in the history.
 *
 * A change carries everything that watchers ever get of it, so it can be sent long afterwards, when its object has
 * changed again. Fields that follow from the revision or from the previous value are not written.
 */

import { invariant } from "../../primitives/index.ts";
import { readOwned, writeOwned } from "./fields.ts";
import { type Claim, isReadWrite, type LockName, readClaim, writeClaim } from "./lock-fields.ts";
import type { StoredKey } from "./objects.ts";
import type { RecordReader, RecordWriter } from "./record.ts";

/** One change of a key. */
export interface KeyChange {
  readonly about: "key";
  readonly kind: "put" | "delete" | "expire";
  readonly namespace: string;
  /** The key after the change. If it was removed: its last value, the revision of the removal, and no deadline. */
  readonly current: StoredKey;
  /** The key before; null if it did not exist. */
  readonly previous: StoredKey | null;
}

/** Why a hold began or ended; `normal` = its holder requested it. */
export type HoldReason = "normal" | "expired" | "forced" | "downgraded" | "upgraded" | "updated";

/** A hold that began (also in a new mode, or with a new value) or ended. */
export interface LockChange extends LockName, Claim {
  readonly about: "lock";
  readonly kind: "acquired" | "released";
  readonly owner: string;
  readonly token: number;
  readonly reason: HoldReason;
}

/** A change that watchers get. */
export type WatchedChange = KeyChange | LockChange;

/** The position of each is its number in rows. */
const KINDS = ["put", "delete", "expire", "acquired", "released"] as const satisfies readonly WatchedChange["kind"][];
const REASONS: readonly HoldReason[] = ["normal", "expired", "forced", "downgraded", "upgraded", "updated"];

/** What watchers get of a key that was removed at the revision. */
export function endOf({ sessionId: _, ...stored }: StoredKey, revision: number): StoredKey {
  return { ...stored, modRevision: revision, deadlineMs: 0 };
}

export function writeChange(writer: RecordWriter, change: WatchedChange): void {
  writer.uint8(KINDS.indexOf(change.kind)).text(change.namespace);
  if (change.about === "key") {
    writeKeyChange(writer, change);
  } else {
    writeLockChange(writer, change);
  }
}

/** @param revision at which the change was made. */
export function readChange(reader: RecordReader, revision: number): WatchedChange {
  const kindNumber = reader.uint8();
  const kind = KINDS[kindNumber];
  invariant(kind !== undefined, "changes have a known kind", () => String(kindNumber));
  const namespace = reader.text();
  return kind === "acquired" || kind === "released"
    ? readLockChange(reader, kind, namespace)
    : readKeyChange(reader, kind, namespace, revision);
}

/** The namespace of the change whose bytes begin here. */
export function readNamespace(reader: RecordReader): string {
  reader.uint8();
  return reader.name();
}

/** Writes the value of a removed key only once. */
function writeKeyChange(writer: RecordWriter, { kind, current, previous }: KeyChange): void {
  writer.bytes(current.key).boolean(previous !== null);
  if (previous !== null) {
    writer.reserve(previous.value.length + current.value.length);
    writer.uint53(previous.createRevision).uint53(previous.modRevision).uint53(previous.version);
    writeOwned(writer, previous.deadlineMs, previous);
    writer.bytes(previous.value);
  }
  if (kind === "put") {
    writeOwned(writer, current.deadlineMs, current);
    writer.bytes(current.value);
  }
}

function readKeyChange(reader: RecordReader, kind: KeyChange["kind"], namespace: string, revision: number): KeyChange {
  const key = reader.bytes();
  const previous = reader.boolean() ? readPrevious(key, reader) : null;
  if (kind === "put") {
    const life = readLife(reader);
    const value = reader.bytes();
    const createRevision = previous?.createRevision ?? revision;
    const version = (previous?.version ?? 0) + 1;
    const current = { key, value, createRevision, modRevision: revision, version, ...life };
    return { about: "key", kind, namespace, current, previous };
  }
  invariant(previous !== null, "what ends was there before");
  return { about: "key", kind, namespace, current: endOf(previous, revision), previous };
}

function readPrevious(key: Uint8Array, reader: RecordReader): StoredKey {
  const createRevision = reader.uint53();
  const modRevision = reader.uint53();
  const version = reader.uint53();
  const life = readLife(reader);
  return { key, value: reader.bytes(), createRevision, modRevision, version, ...life };
}

/** How long a key lives. */
function readLife(reader: RecordReader): Pick<StoredKey, "deadlineMs" | "sessionId"> {
  const life: { deadlineMs: number; sessionId?: number } = { deadlineMs: 0 };
  life.deadlineMs = readOwned(reader, life);
  return life;
}

/** The mode also shows the kind of lock. */
function writeLockChange(writer: RecordWriter, change: LockChange): void {
  const { name, owner, token, reason } = change;
  writer.text(name).text(owner);
  writeClaim(writer, change);
  writer.uint53(token).uint8(REASONS.indexOf(reason));
}

function readLockChange(reader: RecordReader, kind: LockChange["kind"], namespace: string): LockChange {
  const name = reader.text();
  const owner = reader.text();
  const claim = readClaim(reader);
  const token = reader.uint53();
  const reasonNumber = reader.uint8();
  const reason = REASONS[reasonNumber];
  invariant(reason !== undefined, "holds begin and end for a known reason", () => String(reasonNumber));
  return { about: "lock", kind, namespace, rw: isReadWrite(claim), name, owner, ...claim, token, reason };
}
