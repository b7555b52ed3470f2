/**
 * Everything that the operator has observed in one pass. A plan depends on nothing else.
 *
 * Cluster, set, pods and claims are read from the API server in this pass. Times are milliseconds; points in time use
 * the clock of `now`.
 */
import type { CoordinationCluster } from "../generated/coordination-cluster.ts";
import type { RecoveryView } from "./recovery.ts";

export interface Observed {
  readonly now: number;
  /** With the specification to follow: while the present one is refused, the last accepted one. */
  readonly cluster: CoordinationCluster;
  /** Why the present specification cannot be followed; null if it can. */
  readonly refusal: Refusal | null;
  readonly identity: Identity | null;
  readonly set: SetView | null;
  readonly pods: readonly PodView[];
  readonly claims: readonly ClaimView[];
  /** Why Kubernetes does not create pods of the set; at most one for each ordinal, lowest first. */
  readonly obstacles: readonly Obstacle[];
  /** Answers in this pass, by ordinal. */
  readonly reports: ReadonlyMap<number, MemberReport>;
  /** From the leader, confirmed by a quorum in this pass; null if there is none. */
  readonly configuration: Configuration | null;
  /** The configuration with the highest index in the reports; it may be out of date. */
  readonly known: Configuration | null;
  /** Since when no leader has confirmed a quorum; null while one does. */
  readonly leaderlessSince: number | null;
  /** Minimum of the cluster's disruption budget; null if there is no budget. */
  readonly minAvailable: number | null;
  /** Rendered objects that differ from the existing ones. */
  readonly drift: readonly Drift[];
  /** Whether the owner's Secret was created again, and the members do not know its content yet. */
  readonly ownerPending: boolean;
  readonly recovery: RecoveryView;
  /** Null for a cluster that is founded empty. */
  readonly restore: RestoreView | null;
  readonly attempts: Attempts;
}

/** The source of a cluster that is founded from a backup. */
export interface RestoreView {
  /** Why the source cannot be used; null if it can. */
  readonly problem: { readonly reason: string; readonly message: string } | null;
  /** Whether the members of the set can only found a cluster from this source, never an empty one. */
  readonly isInForce: boolean;
}

/** A pod or volume that Kubernetes does not create, or a pod without a node. */
export interface Obstacle {
  readonly ordinal: number;
  readonly reason: ObstacleReason;
  /** The cause in the words of the API server, the provisioner or the scheduler. */
  readonly cause: string;
}

export type ObstacleReason = "PodNotCreated" | "VolumeNotCreated" | "PodNotScheduled";

export interface Refusal {
  readonly reason: "OverlayRejected" | "TemplateNotTried" | "NameConflict" | "StorageClassFixed" | "TlsModeFixed";
  readonly message: string;
  /**
   * Whether there is an accepted specification to follow meanwhile. Without one, the plan only touches pods that do not
   * run.
   */
  readonly keepsReconciling: boolean;
}

/** The directory that may found the cluster: this incarnation, in this pod. Written once, before the founding. */
export interface Identity {
  readonly clusterId: string;
  /** Name of the pod; `-` in an identity that was written again for an existing cluster. */
  readonly founder: string;
  readonly founderIncarnation: string;
}

export interface SetView {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly replicas: number;
  readonly updateRevision: string;
  /** Whether the set's controller has seen the last write, so that `updateRevision` belongs to it. */
  readonly caughtUp: boolean;
  /** Whether others have changed the operator's fields, so that new pods would not match the specification. */
  readonly isOverwritten: boolean;
  /** Storage class of the requested volumes, immutable in the set; null = the default class. */
  readonly storageClassName: string | null;
  /** Index of the last configuration that the operator noted; null = none yet. */
  readonly configIndex: number | null;
  /** The settings that the operator last wrote, and the resulting revision; null = none yet. */
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
  readonly created: number;
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
  /** Since when no process runs; null while one does. */
  readonly notRunningSince: number | null;
  /** Whether the running process has passed the startup probe. */
  readonly started: boolean;
  /** Whether any process of this pod has passed it. */
  readonly everStarted: boolean;
  /** Whether the process cannot be started, and the kubelet pauses before the next try. */
  readonly stuck: boolean;
  /** How often the kubelet has restarted the process. */
  readonly restarts: number;
  /** How the process last ended; null if it has not. */
  readonly lastExit: ProcessExit | null;
  /** Same as `lastExit`; null if the process ended on request. */
  readonly failedExit: ProcessExit | null;
  /** Role in the pod's labels, and its term. */
  readonly role: MemberRole | null;
  readonly term: number | null;
}

export interface ProcessExit {
  /** Kubernetes' reason, such as OOMKilled, Error or Completed. */
  readonly reason: string;
  readonly exitCode: number;
  readonly at: number;
}

export type MemberRole = "leader" | "follower" | "learner" | "none";

export interface ClaimView {
  readonly ordinal: number;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The cluster to which its data belongs; null = not annotated. */
  readonly clusterId: string | null;
  readonly memberId: number | "none" | null;
  /** Whether it is annotated with this cluster, or not annotated but created by this cluster's set. */
  readonly ours: boolean;
  /** Whether a deleted set of this cluster created it, and it has no volume: it is empty. */
  readonly leftover: boolean;
  /**
   * When a claim without a volume was created, if the set before the present one may have created it: in the same
   * second as the present set, or earlier. Null if the present set has created the claim, or if it has a volume.
   */
  readonly unsureSince: number | null;
  /** Whether another CoordinationCluster owns it. */
  readonly foreign: boolean;
  /** Whether it has a volume or names one: its data must be kept. */
  readonly bound: boolean;
  /** Null while it waits for a default class. */
  readonly storageClassName: string | null;
  /** Bytes. */
  readonly requested: number;
  /** Bytes; null while it has no volume. */
  readonly capacity: number | null;
  /** Whether its storage class lets it grow; null if that cannot be read. */
  readonly expandable: boolean | null;
  /** Since when its file system waits for a restart of the pod to grow. */
  readonly resizePendingSince: number | null;
  readonly terminating: boolean;
}

export interface MemberReport {
  /** UID of the pod that answered. */
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
  /** Problems and activities of the member, for people; the last one is about its state. */
  readonly alarms: readonly string[];
  /** The backup from which its process has founded the cluster, for people; empty if it has not. */
  readonly foundedFrom: string;
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
  /** Whether a configuration change is in progress. */
  readonly changing: boolean;
  readonly leaderId: number;
  readonly members: readonly Slot[];
}

export interface Slot {
  readonly id: number;
  readonly name: string;
  readonly voter: boolean;
  /** Undefined while no process has claimed the slot. */
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

export interface RestoreAttempt {
  readonly podUid: string;
  readonly at: number;
  /** Why it failed; null while it continues. */
  readonly failure: string | null;
}

/** What the operator remembers of its own attempts, in memory. Losing it costs time, never safety. */
export interface Attempts {
  /** Number of failed transfers in a row. */
  readonly failedTransfers: number;
  /** The pod whose eviction was last refused, and when. */
  readonly refusedEviction: { readonly podUid: string; readonly at: number } | null;
  /** The member that last handed over its leadership, and when; null if none has since the last eviction. */
  readonly handover: { readonly memberId: number; readonly at: number } | null;
  /** When a pod last got the request to found the cluster from a backup, which takes long. */
  readonly restore?: RestoreAttempt;
}
