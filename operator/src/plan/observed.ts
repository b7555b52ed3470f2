/**
 * What the operator has seen in one pass: all that a plan may depend on.
 *
 * Cluster, set, pods and claims are read from the API server in this very pass. Times are milliseconds; those that say
 * when something happened are on the clock of `now`.
 */
import type { CoordinationCluster } from "../generated/coordination-cluster.ts";

export interface Observed {
  readonly now: number;
  readonly cluster: CoordinationCluster;
  /** Why the specification cannot be followed; null if it can. */
  readonly refusal: Refusal | null;
  readonly identity: Identity | null;
  readonly set: SetView | null;
  readonly pods: readonly PodView[];
  readonly claims: readonly ClaimView[];
  /** Answers of this pass, by ordinal. */
  readonly reports: ReadonlyMap<number, MemberReport>;
  /** From the leader, confirmed by a quorum within this pass; null if there is none. */
  readonly configuration: Configuration | null;
  /** That of the highest index among the reports; what it says may be long past. */
  readonly known: Configuration | null;
  /** Since when nobody has confirmed a quorum; null while somebody does. */
  readonly leaderlessSince: number | null;
  /** What the disruption budget of the cluster demands; null if there is none. */
  readonly minAvailable: number | null;
  /** Rendered objects that differ from those that there are. */
  readonly drift: readonly Drift[];
  readonly attempts: Attempts;
}

export interface Refusal {
  readonly reason: "OverlayRejected" | "NameConflict";
  readonly message: string;
}

/** Who may found the cluster: the directory with this incarnation, of this pod. Written once, before the founding. */
export interface Identity {
  readonly clusterId: string;
  /** Name of the pod; `-` for one that was written anew for a cluster that exists. */
  readonly founder: string;
  readonly founderIncarnation: string;
}

export interface SetView {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly replicas: number;
  readonly updateRevision: string;
  /** Whether its controller has seen what was written last, so that `updateRevision` belongs to it. */
  readonly caughtUp: boolean;
  /** Index of the configuration that the operator noted last; null = none yet. */
  readonly configIndex: number | null;
  /** The settings that the operator wrote last, and the revision that this gave; null = none yet. */
  readonly settings: AppliedSettings | null;
}

export interface AppliedSettings {
  readonly values: ReadonlyMap<string, string>;
  readonly revision: number;
}

export interface PodView {
  readonly ordinal: number;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly revision: string;
  readonly version: string;
  /** Null while it is not ready. */
  readonly readySince: number | null;
  /** Null while it is ready. */
  readonly unreadySince: number | null;
  readonly terminating: boolean;
  readonly scheduled: boolean;
  /** Null while it has none. */
  readonly node: string | null;
  /** Since when the member's process runs; null while it waits or has ended. */
  readonly runningSince: number | null;
  /** Since when there has been none; null while it runs. */
  readonly notRunningSince: number | null;
  /** Whether the process that runs has passed the startup probe. */
  readonly started: boolean;
  /** Whether any process of this pod has. */
  readonly everStarted: boolean;
  /** What its labels say, and of which term that is. */
  readonly role: MemberRole | null;
  readonly term: number | null;
}

export type MemberRole = "leader" | "follower" | "learner" | "none";

export interface ClaimView {
  readonly ordinal: number;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The cluster whose data it has; null = not annotated. */
  readonly clusterId: string | null;
  readonly memberId: number | "none" | null;
  /** Annotated with this identity's cluster, or with none and made by this cluster's set. */
  readonly ours: boolean;
  /** Whether another CoordinationCluster owns it. */
  readonly foreign: boolean;
  /** Bytes. */
  readonly requested: number;
  /** Bytes; null while it has no volume. */
  readonly capacity: number | null;
  /** Whether its storage class lets it grow; null where that cannot be read. */
  readonly expandable: boolean | null;
  /** Since when its file system waits for a restart of the pod to grow. */
  readonly resizePendingSince: number | null;
  readonly terminating: boolean;
}

export interface MemberReport {
  /** The pod that answered. */
  readonly podUid: string;
  readonly state: MemberState;
  readonly stateForMs: number;
  readonly incarnation: string;
  readonly clusterId?: string;
  readonly memberId?: number;
  readonly version: string;
  readonly downgradeFloor: string;
  readonly configuration?: Configuration;
  readonly certificateSerial: string;
  readonly trustedCas: readonly string[];
  readonly settingsRevision: number;
}

export type MemberState =
  | "EMPTY"
  | "JOINING"
  | "RUNNING"
  | "MEMBER_DATA_LOST"
  | "MEMBER_REMOVED"
  | "MEMBER_DAMAGED"
  | "MEMBER_REFUSED"
  | "WRONG_CLUSTER";

export interface Configuration {
  readonly term: number;
  readonly index: number;
  readonly commitIndex: number;
  /** Whether a change of it is under way. */
  readonly changing: boolean;
  readonly leaderId: number;
  readonly members: readonly Slot[];
}

export interface Slot {
  readonly id: number;
  readonly name: string;
  readonly voter: boolean;
  /** Undefined while no process has claimed it. */
  readonly incarnation?: string;
  /** Age of the oldest committed entry that the member has not acknowledged. */
  readonly lagMs: number;
  readonly contactAgeMs: number;
  /** Whether the leader would promote it now. */
  readonly promotable: boolean;
}

export interface Drift {
  readonly kind: string;
  readonly name: string;
}

/** What the operator remembers of its own tries, in memory: losing it costs time, never safety. */
export interface Attempts {
  /** Transfers in a row that did not come about. */
  readonly failedTransfers: number;
  /** The pod whose eviction was refused last, and when. */
  readonly refusedEviction: { readonly podUid: string; readonly at: number } | null;
  /** The member that was made to hand over last, and when; null if none was since the last eviction. */
  readonly handover: { readonly memberId: number; readonly at: number } | null;
}
