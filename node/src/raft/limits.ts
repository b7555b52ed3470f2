/** All limits of a consensus core. Every limit works at its smallest value. */

export interface CoreLimits {
  /** Election timeout, drawn at random from [min, max) ticks at every change of role or term (P36). */
  readonly electionTicksMin: number;
  readonly electionTicksMax: number;
  /** A leader sends heartbeats at this interval in ticks. */
  readonly heartbeatTicks: number;
  /** A leader that has not heard a quorum for more ticks than this refuses proposals and reads. */
  readonly noQuorumTicks: number;
  /**
   * A leader that has not heard a quorum for more ticks than this steps down. A follower trusts a silent leader as
   * long.
   */
  readonly contactTicks: number;
  /** A leader gives up a leadership transfer that is not complete after this many ticks. */
  readonly transferTicks: number;
  /**
   * A read that is not confirmed after more ticks than this is lost; the member requests it again at a new position.
   */
  readonly readTicks: number;
  /** Messages in flight to one peer, and bytes of entries in them. */
  readonly windowMessagesMax: number;
  readonly windowBytesMax: number;
  /** A leader considers the messages in a full window lost if it has not moved for this many ticks. */
  readonly stallTicks: number;
  /** Bytes of entries in one message; one larger entry goes alone. */
  readonly messageBytesMax: number;
  /**
   * Bytes of appended but uncommitted entries above which a leader refuses proposals; a larger one passes if it is
   * alone.
   */
  readonly uncommittedBytesMax: number;
  /** Committed but unapplied entries, by count and bytes, above which a leader refuses proposals. */
  readonly unappliedEntriesMax: number;
  readonly unappliedBytesMax: number;
  /** Bytes of unstable and unapplied entries above which a follower takes no more. */
  readonly followerBytesMax: number;
  /** Bytes of stable entries that stay in memory. */
  readonly tailBytesMax: number;
  /** Read positions that may wait for confirmation; one more than this loses all of them. */
  readonly readsMax: number;
  /** A leader promotes a learner only if it has at most this many committed entries left to apply. */
  readonly learnerLagEntriesMax: number;
  /** A leader transfers the leadership only to a member that is at most this far behind, in entries and bytes. */
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
