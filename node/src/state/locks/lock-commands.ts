/**
 * Commands about locks, and their encoding. Both kinds use the same commands: an exclusive lock has the only mode
 * `exclusive`, a read-write lock has the modes `read` and `write`. The names of the two kinds are separate.
 */

import { invariant } from "../../primitives/index.ts";
import type { ProposalOrigin } from "../../raft/index.ts";
import {
  type LockMode,
  type LockName,
  REQUEST_ID_BYTES,
  type RecordReader,
  type RecordWriter,
  readLockMode,
  readLockName,
  readOrigin,
  writeLockMode,
  writeLockName,
  writeOrigin,
} from "../core/index.ts";

export interface CreateLock extends LockName {
  readonly kind: "create-lock";
  /** Life of a hold that does not request its own, in seconds. */
  readonly ttlSeconds: number;
  /** Seconds after an expired or forced hold in which no caller gets the lock exclusively. */
  readonly lockDelaySeconds: number;
}

export interface AcquireLock {
  readonly kind: "acquire-lock";
  readonly namespace: string;
  readonly name: string;
  /** Also shows the kind of lock. */
  readonly mode: LockMode;
  /** Life of the hold in seconds from its grant; 0 = the default of the lock. */
  readonly ttlSeconds: number;
  /** Label of the holder; "" = the subject, or with a token: the label of the hold. */
  readonly owner: string;
  /** Cluster ticks that it may wait, in milliseconds; 0 = it does not wait. */
  readonly waitMs: number;
  /** Token of the hold to renew, downgrade or upgrade; 0 = a new hold. */
  readonly fencingToken: number;
}

export interface ReleaseLock extends LockName {
  readonly kind: "release-lock";
  /** Mode of the hold; null = any. */
  readonly mode: LockMode | null;
  readonly owner: string;
  /** Token of the hold; 0 = the one of this subject, owner and mode. */
  readonly fencingToken: number;
}

export interface ForceReleaseLock extends LockName {
  readonly kind: "force-release-lock";
  /** Token of the hold; 0 = all holds. */
  readonly fencingToken: number;
  /** Why; the log entry records it, without any effect. */
  readonly reason: string;
}

/** What can run out: a hold, by its token; a wait, by its position; the delay of a lock, which has no number. */
export interface LockTimer {
  readonly about: "hold" | "wait" | "delay";
  readonly lock: LockName;
  readonly number: number;
}

/** Names timers that may have run out; apply decides (S22). */
export interface ExpireLocks {
  readonly kind: "expire-locks";
  readonly timers: readonly LockTimer[];
}

/** The caller of this attempt is gone: undoes the acquisition unless a newer attempt has come (S25). */
export interface CancelAcquisition {
  readonly kind: "cancel-acquisition";
  readonly subject: string;
  /** 16 bytes. */
  readonly requestId: Uint8Array;
  readonly attempt: ProposalOrigin;
}

export type LockClientOperation = CreateLock | AcquireLock | ReleaseLock | ForceReleaseLock;
export type LockClusterOperation = ExpireLocks | CancelAcquisition;

const ABOUTS: readonly LockTimer["about"][] = ["hold", "wait", "delay"];

/** The code of a timer's kind, in commands and in the keys of rows. */
export function codeOfTimer(about: LockTimer["about"]): number {
  return ABOUTS.indexOf(about);
}

/** The kind of timer with this code. */
export function timerOfCode(code: number): LockTimer["about"] {
  const about = ABOUTS[code];
  invariant(about !== undefined, "timers are about something known", () => String(code));
  return about;
}

export function writeLockOperation(writer: RecordWriter, operation: LockClientOperation | LockClusterOperation): void {
  switch (operation.kind) {
    case "create-lock":
      writeLockName(writer, operation);
      writer.uint53(operation.ttlSeconds).uint53(operation.lockDelaySeconds);
      return;
    case "acquire-lock":
      writer.text(operation.namespace).text(operation.name);
      writeLockMode(writer, operation.mode);
      writer.uint53(operation.ttlSeconds).text(operation.owner);
      writer.uint53(operation.waitMs).uint53(operation.fencingToken);
      return;
    case "release-lock":
      writeLockName(writer, operation);
      writer.boolean(operation.mode !== null);
      writeLockMode(writer, operation.mode ?? "exclusive");
      writer.text(operation.owner).uint53(operation.fencingToken);
      return;
    case "force-release-lock":
      writeLockName(writer, operation);
      writer.uint53(operation.fencingToken).text(operation.reason);
      return;
    case "expire-locks":
      writer.uint32(operation.timers.length);
      for (const { about, lock, number } of operation.timers) {
        writer.uint8(codeOfTimer(about));
        writeLockName(writer, lock);
        writer.uint53(number);
      }
      return;
    case "cancel-acquisition":
      writer.text(operation.subject).fixed(operation.requestId, REQUEST_ID_BYTES);
      writeOrigin(writer, operation.attempt);
      return;
  }
}

export function readCreateLock(reader: RecordReader): CreateLock {
  const lock = readLockName(reader);
  return { kind: "create-lock", ...lock, ttlSeconds: reader.uint53(), lockDelaySeconds: reader.uint53() };
}

export function readAcquireLock(reader: RecordReader): AcquireLock {
  return {
    kind: "acquire-lock",
    namespace: reader.name(),
    name: reader.text(),
    mode: readLockMode(reader),
    ttlSeconds: reader.uint53(),
    owner: reader.text(),
    waitMs: reader.uint53(),
    fencingToken: reader.uint53(),
  };
}

export function readReleaseLock(reader: RecordReader): ReleaseLock {
  const lock = readLockName(reader);
  const hasMode = reader.boolean();
  const mode = readLockMode(reader);
  invariant(hasMode || mode === "exclusive", "fields that are absent are empty");
  const rest = { owner: reader.text(), fencingToken: reader.uint53() };
  return { kind: "release-lock", ...lock, mode: hasMode ? mode : null, ...rest };
}

export function readForceReleaseLock(reader: RecordReader): ForceReleaseLock {
  const lock = readLockName(reader);
  return { kind: "force-release-lock", ...lock, fencingToken: reader.uint53(), reason: reader.text() };
}

export function readExpireLocks(reader: RecordReader): ExpireLocks {
  const timers: LockTimer[] = [];
  for (let left = reader.uint32(); left > 0; left--) {
    timers.push({ about: timerOfCode(reader.uint8()), lock: readLockName(reader), number: reader.uint53() });
  }
  return { kind: "expire-locks", timers };
}

export function readCancelAcquisition(reader: RecordReader): CancelAcquisition {
  const subject = reader.text();
  return {
    kind: "cancel-acquisition",
    subject,
    requestId: reader.fixed(REQUEST_ID_BYTES),
    attempt: readOrigin(reader),
  };
}
