/** The membership as the leader knows it, confirmed by a round to a majority. */

import type { ArchiverAssignment } from "../../peers/index.ts";
import type { CoordinationError } from "../../state/index.ts";

export type { ArchiveReport } from "../../peers/index.ts";

/** What the leader knows about one member, itself included. */
export interface MemberHealth {
  readonly id: number;
  /** Age of the oldest committed entry that it has not acknowledged, in milliseconds; 0 = there is none. */
  readonly lagMs: number;
  /** Time since its last message, in milliseconds. */
  readonly contactAgeMs: number;
  /** Whether it is a learner that could be promoted now. */
  readonly promotable: boolean;
}

export interface MembershipView {
  readonly leaderId: number;
  readonly term: number;
  readonly commitIndex: number;
  /** Whether a change of the configuration is under way. */
  readonly changing: boolean;
  readonly health: readonly MemberHealth[];
  /** Which member archives; undefined unless the caller asked for it and the leader knows about archives. */
  readonly archive?: ArchiverAssignment | undefined;
}

/** Receives the view, or the error. */
export type MembershipViewDone = (error: CoordinationError | null, view: MembershipView | null) => void;

/** Receives the new leader after a transfer, or the error. */
export type TransferDone = (
  error: CoordinationError | null,
  leader: { readonly id: number; readonly term: number } | null,
) => void;
