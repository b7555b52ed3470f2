/** Names, claims and holds of locks, and attempts to get one: their fields in commands, rows and answers. */

import { invariant } from "../../primitives/index.ts";
import type { ProposalOrigin } from "../../raft/index.ts";
import { count, type Field, flag, name, oneOf, recordOf, text } from "./fields.ts";
import { REQUEST_ID_BYTES } from "./principal.ts";
import type { RecordReader, RecordWriter } from "./record.ts";

/** The mode of a hold: each kind of lock has its own. `read` and `write` are for read-write locks, `permits` for semaphores. */
export type LockMode = "exclusive" | "read" | "write" | "permits";

/** What a request claims of a lock, and what its hold then has of it. */
export interface Claim {
  readonly mode: LockMode;
  /** Permits of a semaphore, at least 1; only with the mode `permits`. A request that renews a hold may lack the field. */
  readonly permits?: number;
  /** What the holder of an exclusive lock shows to others, at least 1 byte; no such field if it shows nothing. */
  readonly value?: Uint8Array;
  /** The session that the hold ends with, instead of after a time of its own; absent = none. */
  readonly sessionId?: number;
}

/** Which lock. */
export interface LockName {
  readonly namespace: string;
  /** Whether it is a read-write lock. Exclusive locks and semaphores share their names. */
  readonly rw: boolean;
  readonly name: string;
}

/** A live hold. */
export interface Hold extends Claim {
  readonly token: number;
  readonly owner: string;
  readonly subject: string;
  /** Id of the request that got the hold; its stored answer lives as long as the hold. */
  readonly requestId: Uint8Array;
  readonly ttlSeconds: number;
  /** Wall clock of the grant in milliseconds. */
  readonly acquiredAtMs: number;
  /** Cluster tick in milliseconds after which it may expire; 0 = it ends with its session. */
  readonly deadlineMs: number;
}

const MODES: readonly LockMode[] = ["exclusive", "read", "write", "permits"];
/** The byte of a claim: the number of its mode, and a bit for each further field that it has. */
const MODE_BITS = 0x0f;
const HAS_PERMITS = 0x10;
const HAS_VALUE = 0x20;
const HAS_SESSION = 0x40;

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
  writeClaim(writer, hold);
  writer.uint53(hold.ttlSeconds).uint53(hold.acquiredAtMs).uint53(hold.deadlineMs);
}

export function readHoldFields(reader: RecordReader): Omit<Hold, "token"> {
  return {
    owner: reader.text(),
    subject: reader.text(),
    requestId: reader.fixed(REQUEST_ID_BYTES),
    ...readClaim(reader),
    ttlSeconds: reader.uint53(),
    acquiredAtMs: reader.uint53(),
    deadlineMs: reader.uint53(),
  };
}

/** Whether the mode is one of read-write locks. */
export function isReadWrite({ mode }: Pick<Claim, "mode">): boolean {
  return mode === "read" || mode === "write";
}

/** The claim in something that has one. */
export function claimOf({ mode, permits, value, sessionId }: Claim): Claim {
  return {
    mode,
    ...(permits !== undefined && { permits }),
    ...(value !== undefined && { value }),
    ...(sessionId !== undefined && { sessionId }),
  };
}

/** A claim without further fields is one byte, its mode. */
export function writeClaim(writer: RecordWriter, { mode, permits, value, sessionId }: Claim): void {
  const has =
    (permits === undefined ? 0 : HAS_PERMITS) |
    (value === undefined ? 0 : HAS_VALUE) |
    (sessionId === undefined ? 0 : HAS_SESSION);
  writer.uint8(MODES.indexOf(mode) | has);
  if (permits !== undefined) {
    writer.uint53(permits);
  }
  if (value !== undefined) {
    writer.bytes(value);
  }
  if (sessionId !== undefined) {
    writer.uint53(sessionId);
  }
}

export function readClaim(reader: RecordReader): Claim {
  const byte = reader.uint8();
  const mode = MODES[byte & MODE_BITS];
  const isKnown = mode !== undefined && (byte & ~(MODE_BITS | HAS_PERMITS | HAS_VALUE | HAS_SESSION)) === 0;
  invariant(isKnown, "claims have a known mode and known fields", () => String(byte));
  return {
    mode,
    ...((byte & HAS_PERMITS) !== 0 && { permits: reader.uint53() }),
    ...((byte & HAS_VALUE) !== 0 && { value: reader.bytes() }),
    ...((byte & HAS_SESSION) !== 0 && { sessionId: reader.uint53() }),
  };
}
