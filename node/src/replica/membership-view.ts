/** The membership as its leader knows it, after a round to a majority. */

import type { ArchiveDuty } from "../peers/index.ts";
import type { CoordinationError } from "../state/index.ts";

export type { ArchiveReport } from "../peers/index.ts";

/** What the leader knows of one member that it talks to, itself included. */
export interface MemberHealth {
  readonly id: number;
  /** Age of the oldest committed entry that it has not acknowledged, in milliseconds; 0 = there is none. */
  readonly lagMs: number;
  /** How long ago it was heard, in milliseconds. */
  readonly contactAgeMs: number;
  /** Whether it is a learner that would be promoted now. */
  readonly promotable: boolean;
}

export interface MembershipView {
  readonly leaderId: number;
  readonly term: number;
  readonly commitIndex: number;
  /** Whether a change of the configuration is under way. */
  readonly changing: boolean;
  readonly health: readonly MemberHealth[];
  /** Which member archives; undefined unless it was asked for, and while the leader does not know about archives. */
  readonly archive?: ArchiveDuty | undefined;
}

/** Takes the view, or why it cannot be had. */
export type MembershipViewDone = (error: CoordinationError | null, view: MembershipView | null) => void;

/** Who leads now that a transfer is done, or why it is not. */
export type TransferDone = (
  error: CoordinationError | null,
  leader: { readonly id: number; readonly term: number } | null,
) => void;
