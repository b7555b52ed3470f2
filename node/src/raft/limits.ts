/** Everything that bounds a consensus core. Every limit works at its smallest value. */

export interface CoreLimits {
  /** Election timeout, drawn anew from [min, max) ticks at every change of role or term (P36). */
  readonly electionTicksMin: number;
  readonly electionTicksMax: number;
  /** A leader sends heartbeats every so many ticks. */
  readonly heartbeatTicks: number;
  /** A leader that has not heard a quorum for more ticks refuses proposals and reads. */
  readonly noQuorumTicks: number;
  /** A leader that has not heard a quorum for more ticks steps down; so long a follower trusts a leader it heard. */
  readonly contactTicks: number;
  /** A transfer of leadership that has not happened after so many ticks is given up. */
  readonly transferTicks: number;
  /** A read that was not confirmed after more ticks is lost, and asked anew under a new position. */
  readonly readTicks: number;
  /** Messages, and bytes of entries in them, under way to one peer. */
  readonly windowMessagesMax: number;
  readonly windowBytesMax: number;
  /** A window that has not moved for so many ticks is taken as lost. */
  readonly stallTicks: number;
  /** Bytes of entries in one message; one larger entry goes alone. */
  readonly messageBytesMax: number;
  /** Bytes of entries appended but not committed, above which proposals are refused; a larger one alone passes. */
  readonly uncommittedBytesMax: number;
  /** Committed but unapplied entries, by count and bytes, above which proposals are refused. */
  readonly unappliedEntriesMax: number;
  readonly unappliedBytesMax: number;
  /** Bytes of unstable and unapplied entries above which a follower takes no more. */
  readonly followerBytesMax: number;
  /** Bytes of stable entries that stay in memory. */
  readonly tailBytesMax: number;
  /** Read positions that wait for confirmation; one more loses all of them. */
  readonly readsMax: number;
  /** How many committed entries a learner may still have to apply to be promoted. */
  readonly learnerLagEntriesMax: number;
  /** How far a member may be behind, in entries and bytes, to be handed the leadership. */
  readonly transferLagEntriesMax: number;
  readonly transferLagBytesMax: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_CORE_LIMITS: CoreLimits = {
  electionTicksMin: 20,
  electionTicksMax: 40,
  heartbeatTicks: 2,
  noQuorumTicks: 10,
  contactTicks: 20,
  transferTicks: 20,
  readTicks: 10,
  windowMessagesMax: 256,
  windowBytesMax: 8 * MIB,
  stallTicks: 20,
  messageBytesMax: MIB,
  uncommittedBytesMax: 64 * MIB,
  unappliedEntriesMax: 5_000,
  unappliedBytesMax: 64 * MIB,
  followerBytesMax: 128 * MIB,
  tailBytesMax: 16 * MIB,
  readsMax: 10_000,
  learnerLagEntriesMax: 1_000,
  transferLagEntriesMax: 5_000,
  transferLagBytesMax: 8 * MIB,
};
