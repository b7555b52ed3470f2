/** Names, modes and holds of locks, and attempts to get one: their fields in commands, rows and answers. */

import { invariant } from "../../primitives/index.ts";
import type { ProposalOrigin } from "../../raft/index.ts";
import { type Field, flag, name, recordOf, text } from "./fields.ts";
import type { RecordReader, RecordWriter } from "./record.ts";

/** The mode of a hold. `exclusive` is for exclusive locks only, the others for read-write locks only. */
export type LockMode = "exclusive" | "read" | "write";

/** Which lock. */
export interface LockName {
  readonly namespace: string;
  /** Whether it is a read-write lock. */
  readonly rw: boolean;
  readonly name: string;
}

/** A live hold. */
export interface Hold {
  readonly token: number;
  readonly owner: string;
  readonly subject: string;
  /** Id of the request that got the hold; its stored answer lives as long as the hold. */
  readonly requestId: Uint8Array;
  readonly mode: LockMode;
  readonly ttlSeconds: number;
  /** Wall clock of the grant in milliseconds. */
  readonly acquiredAtMs: number;
  /** Cluster tick in milliseconds after which it may expire. */
  readonly deadlineMs: number;
}

export const REQUEST_ID_BYTES = 16;
const MODES: readonly LockMode[] = ["exclusive", "read", "write"];

export function writeLockMode(writer: RecordWriter, mode: LockMode): void {
  writer.uint8(MODES.indexOf(mode));
}

export function readLockMode(reader: RecordReader): LockMode {
  const code = reader.uint8();
  const mode = MODES[code];
  invariant(mode !== undefined, "locks have a known mode", () => String(code));
  return mode;
}

export function writeLockName(writer: RecordWriter, { namespace, rw, name }: LockName): void {
  writer.text(namespace).boolean(rw).text(name);
}

export function readLockName(reader: RecordReader): LockName {
  return { namespace: reader.name(), rw: reader.boolean(), name: reader.text() };
}

export function writeOrigin(writer: RecordWriter, { memberId, boot, seq }: ProposalOrigin): void {
  writer.uint53(memberId).uint53(boot).uint53(seq);
}

export function readOrigin(reader: RecordReader): ProposalOrigin {
  return { memberId: reader.uint53(), boot: reader.uint53(), seq: reader.uint53() };
}

/** All fields of a hold except its token. */
export function writeHoldFields(writer: RecordWriter, hold: Hold): void {
  writer.text(hold.owner).text(hold.subject).fixed(hold.requestId, REQUEST_ID_BYTES);
  writeLockMode(writer, hold.mode);
  writer.uint53(hold.ttlSeconds).uint53(hold.acquiredAtMs).uint53(hold.deadlineMs);
}

export function readHoldFields(reader: RecordReader): Omit<Hold, "token"> {
  return {
    owner: reader.text(),
    subject: reader.text(),
    requestId: reader.fixed(REQUEST_ID_BYTES),
    mode: readLockMode(reader),
    ttlSeconds: reader.uint53(),
    acquiredAtMs: reader.uint53(),
    deadlineMs: reader.uint53(),
  };
}

export const lockMode: Field<LockMode> = { write: writeLockMode, read: readLockMode };
export const attempt: Field<ProposalOrigin> = { write: writeOrigin, read: readOrigin };
/** The fields of a lock's name, for records that have them as their own. */
export const LOCK_NAME = { namespace: name, rw: flag, name: text } as const;
export const lockName: Field<LockName> = recordOf<LockName>(LOCK_NAME);
export const holdField: Field<Hold> = {
  write: (writer, hold) => writeHoldFields(writer.uint53(hold.token), hold),
  read: (reader) => ({ token: reader.uint53(), ...readHoldFields(reader) }),
};
