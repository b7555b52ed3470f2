/**
 * The state of a request for a lock, stored under its request id. A retry continues where the request is and never gets
 * a second hold (S24). The row lives while the request waits or its hold is live, and one replay window longer.
 */

import type { ProposalOrigin } from "../../raft/index.ts";
import {
  attempt,
  count,
  decodeRow,
  encodeRow,
  formatted,
  type LockName,
  lockName,
  oneOf,
  recordOf,
} from "../core/index.ts";

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

const acquisitionFields = formatted(
  KIND,
  "acquisitions have their kind",
  recordOf<Acquisition>({
    lock: lockName,
    status: oneOf(STATUSES, "acquisitions have a known status"),
    number: count,
    attempt,
  }),
);

export function encodeAcquisition(acquisition: Acquisition): Uint8Array {
  return encodeRow(acquisitionFields, acquisition);
}

/** Whether the stored bytes are an acquisition and not an answer. */
export function isAcquisition(bytes: Uint8Array): boolean {
  return bytes[0] === KIND;
}

export function decodeAcquisition(bytes: Uint8Array): Acquisition {
  return decodeRow(acquisitionFields, bytes);
}

export function isSameAttempt(one: ProposalOrigin, other: ProposalOrigin): boolean {
  return one.memberId === other.memberId && one.boot === other.boot && one.seq === other.seq;
}
