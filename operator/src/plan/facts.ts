/**
 * Facts that follow from the observation: which member is which, which are healthy, which are missing. All rules use
 * them.
 */
import type { ClaimView, Configuration, MemberReport, Observed, PodView, Slot } from "./observed.ts";
import { quorumOf } from "./quorum.ts";

/** A voter with an older contact does not count as healthy. Ten heartbeats are due in this time. */
const CONTACT_AGE_MS_MAX = 2_000;
const LAG_MS_MAX = 1_000;

export class Facts {
  readonly observed: Observed;
  /** Number of members in the specification. */
  readonly wanted: number;

  constructor(observed: Observed) {
    this.observed = observed;
    this.wanted = observed.cluster.spec.replicas;
  }

  nameOf(ordinal: number): string {
    return `${this.observed.cluster.metadata.name}-${ordinal}`;
  }

  claimNameOf(ordinal: number): string {
    return `data-${this.nameOf(ordinal)}`;
  }

  /** Name of the pod that reads or recovers the volume of a stopped member. */
  recoveryPodNameOf(ordinal: number): string {
    return `${this.nameOf(ordinal)}-recovery`;
  }

  /** -1 for a name that no pod of the cluster has: someone else added that member. */
  ordinalOf(slot: Slot): number {
    const prefix = `${this.observed.cluster.metadata.name}-`;
    const rest = slot.name.slice(prefix.length);
    return slot.name.startsWith(prefix) && /^(0|[1-9][0-9]{0,5})$/.test(rest) ? Number(rest) : -1;
  }

  podOf(ordinal: number): PodView | undefined {
    return this.observed.pods.find((pod) => pod.ordinal === ordinal);
  }

  claimOf(ordinal: number): ClaimView | undefined {
    return this.observed.claims.find((claim) => claim.ordinal === ordinal);
  }

  /** The report of the pod that exists now. */
  reportOf(ordinal: number): MemberReport | undefined {
    const report = this.observed.reports.get(ordinal);
    return report !== undefined && report.podUid === this.podOf(ordinal)?.uid ? report : undefined;
  }

  /**
   * Whether the pod has an old revision of the template. No pod is outdated while the set's controller lags, or others
   * have changed the template.
   */
  isOutdated(pod: PodView): boolean {
    const { set } = this.observed;
    return set?.caughtUp === true && !set.isOverwritten && pod.revision !== set.updateRevision;
  }

  isHealthy(slot: Slot): boolean {
    const ordinal = this.ordinalOf(slot);
    const report = this.reportOf(ordinal);
    return (
      this.podOf(ordinal)?.terminating === false &&
      report?.state === "RUNNING" &&
      report.clusterId === this.observed.identity?.clusterId &&
      report.memberId === slot.id &&
      report.incarnation === slot.incarnation &&
      slot.contactAgeMs <= CONTACT_AGE_MS_MAX &&
      slot.lagMs <= LAG_MS_MAX
    );
  }

  /** For how long the pod of a slot has been ready. */
  readyForMs(slot: Slot): number {
    const readySince = this.podOf(this.ordinalOf(slot))?.readySince ?? null;
    return readySince === null ? -1 : this.observed.now - readySince;
  }

  /** Whether fewer than a quorum of the known voters have been ready during all this time. */
  hasLackedReadyQuorumForMs(durationMs: number): boolean {
    const voters = votersOf(this.observed.configuration ?? this.observed.known);
    // A pod that is being recreated may soon be ready, so it does not count as unready.
    const hopeful = voters.filter((slot) => {
      const unreadySince = this.podOf(this.ordinalOf(slot))?.unreadySince ?? null;
      return unreadySince === null || this.observed.now - unreadySince < durationMs;
    });
    return voters.length > 0 && hopeful.length < quorumOf(voters.length);
  }
}

export function votersOf(configuration: Configuration | null): readonly Slot[] {
  return configuration?.members.filter((slot) => slot.voter) ?? [];
}

function learnersOf(configuration: Configuration): readonly Slot[] {
  return configuration.members.filter((slot) => !slot.voter);
}

/** The facts of a configuration that a quorum has just confirmed. Only these allow changes. */
export class Membership {
  readonly facts: Facts;
  readonly configuration: Configuration;
  readonly voters: readonly Slot[];
  readonly learners: readonly Slot[];
  readonly healthy: readonly Slot[];

  constructor(facts: Facts, configuration: Configuration) {
    this.facts = facts;
    this.configuration = configuration;
    this.voters = votersOf(configuration);
    this.learners = learnersOf(configuration);
    this.healthy = this.voters.filter((slot) => facts.isHealthy(slot));
  }

  get quorum(): number {
    return quorumOf(this.voters.length);
  }

  get isOdd(): boolean {
    return this.voters.length % 2 === 1;
  }

  isHealthy(slot: Slot): boolean {
    return this.healthy.includes(slot);
  }

  slotOf(ordinal: number): Slot | undefined {
    return this.configuration.members.find((slot) => this.facts.ordinalOf(slot) === ordinal);
  }

  /** Wanted ordinals without a slot, lowest first. */
  get missing(): readonly number[] {
    return ordinalsBelow(this.facts.wanted).filter((ordinal) => this.slotOf(ordinal) === undefined);
  }

  /** Wanted ordinals without a slot that votes. */
  get withoutVote(): readonly number[] {
    return ordinalsBelow(this.facts.wanted).filter((ordinal) => this.slotOf(ordinal)?.voter !== true);
  }

  /** The best of these candidates for the leadership: updated before outdated, then the one with the least lag. */
  bestSuccessor(candidates: readonly Slot[]): Slot | undefined {
    const outdated = (slot: Slot): number => {
      const pod = this.facts.podOf(this.facts.ordinalOf(slot));
      return pod === undefined || this.facts.isOutdated(pod) ? 1 : 0;
    };
    return candidates
      .filter((slot) => slot.id !== this.configuration.leaderId && this.isHealthy(slot))
      .toSorted((a, b) => outdated(a) - outdated(b) || a.lagMs - b.lagMs || a.id - b.id)[0];
  }
}

export function ordinalsBelow(count: number): number[] {
  return Array.from({ length: count }, (_, ordinal) => ordinal);
}
