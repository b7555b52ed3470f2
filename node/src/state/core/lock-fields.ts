/** Names, modes and holds of locks, and attempts to get one: their fields in commands, rows and answers. */

import type { ProposalOrigin } from "../../raft/index.ts";
import { count, type Field, flag, name, oneOf, recordOf, text } from "./fields.ts";
import { REQUEST_ID_BYTES } from "./principal.ts";
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
  /** Cluster tick in milliseconds after which it may expire; 0 = it ends with its session. */
  readonly deadlineMs: number;
  /** The session that it ends with; absent = none. */
  readonly sessionId?: number;
}

const MODES: readonly LockMode[] = ["exclusive", "read", "write"];

export const lockMode = oneOf(MODES, "locks have a known mode");
/** The fields of a lock's name, for records that have them as their own. */
export const LOCK_NAME = { namespace: name, rw: flag, name: text } as const;
export const lockName = recordOf<LockName>(LOCK_NAME);
export const attempt = recordOf<ProposalOrigin>({ memberId: count, boot: count, seq: count });
export const holdField: Field<Hold> = {
  write: (writer, hold) => writeHoldFields(writer.uint53(hold.token), hold),
  read: (reader) => ({ token: reader.uint53(), ...readHoldFields(reader) }),
};

/** All fields of a hold except its token. */
export function writeHoldFields(writer: RecordWriter, hold: Hold): void {
  writer.text(hold.owner).text(hold.subject).fixed(hold.requestId, REQUEST_ID_BYTES);
  lockMode.write(writer, hold.mode);
  writer.uint53(hold.ttlSeconds).uint53(hold.acquiredAtMs).uint53(hold.deadlineMs);
}

export function readHoldFields(reader: RecordReader): Omit<Hold, "token"> {
  return {
    owner: reader.text(),
    subject: reader.text(),
    requestId: reader.fixed(REQUEST_ID_BYTES),
    mode: lockMode.read(reader),
    ttlSeconds: reader.uint53(),
    acquiredAtMs: reader.uint53(),
    deadlineMs: reader.uint53(),
  };
}
