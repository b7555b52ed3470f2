/**
 * The state of a request for a lock, stored under its request id. A retry continues where the request is and never gets
 * a second hold (S24). The row lives while the request waits or its hold is live, and one replay window longer.
 */

import { invariant } from "../../primitives/index.ts";
import type { ProposalOrigin } from "../../raft/index.ts";
import { attempt as attemptField, type LockName, lockName, RecordReader, RecordWriter } from "../core/index.ts";

export interface Acquisition {
  readonly lock: LockName;
  /** `cancelled`: the caller was gone; a retry starts again. */
  readonly status: "queued" | "granted" | "not-acquired" | "cancelled";
  /** Position of the wait while queued; token of the hold once granted; else 0. */
  readonly number: number;
  /** The newest attempt: only this one may be answered or cancelled. */
  readonly attempt: ProposalOrigin;
}

/** The first byte of a stored acquisition; no kind of answer has this number. */
const KIND = 23;
const STATUSES: readonly Acquisition["status"][] = ["queued", "granted", "not-acquired", "cancelled"];

export function encodeAcquisition({ lock, status, number, attempt }: Acquisition): Uint8Array {
  const writer = new RecordWriter().uint8(KIND);
  lockName.write(writer, lock);
  writer.uint8(STATUSES.indexOf(status)).uint53(number);
  attemptField.write(writer, attempt);
  return writer.finish();
}

/** Whether the stored bytes are an acquisition and not an answer. */
export function isAcquisition(bytes: Uint8Array): boolean {
  return bytes[0] === KIND;
}

export function decodeAcquisition(bytes: Uint8Array): Acquisition {
  const reader = new RecordReader(bytes);
  const kind = reader.uint8();
  invariant(kind === KIND, "acquisitions have their kind", () => String(kind));
  const lock = lockName.read(reader);
  const status = STATUSES[reader.uint8()];
  invariant(status !== undefined, "acquisitions have a known status");
  const acquisition = { lock, status, number: reader.uint53(), attempt: attemptField.read(reader) };
  reader.end();
  return acquisition;
}

export function isSameAttempt(one: ProposalOrigin, other: ProposalOrigin): boolean {
  return one.memberId === other.memberId && one.boot === other.boot && one.seq === other.seq;
}
