/**
 * What the operator has seen in one pass: all that a plan may depend on.
 *
 * Cluster, set, pods and claims are read from the API server in this very pass. Times are milliseconds; those that say
 * when something happened are on the clock of `now`.
 */
import type { CoordinationCluster } from "../generated/coordination-cluster.ts";
import type { RecoveryView } from "./recovery.ts";

export interface Observed {
  readonly now: number;
  /** With the specification that is followed: the one that was accepted last, while the present one is refused. */
  readonly cluster: CoordinationCluster;
  /** Why the present specification cannot be followed; null if it can. */
  readonly refusal: Refusal | null;
  readonly identity: Identity | null;
  readonly set: SetView | null;
  readonly pods: readonly PodView[];
  readonly claims: readonly ClaimView[];
  /** What keeps Kubernetes from making pods that the set asks for, one entry an ordinal, the lowest first. */
  readonly obstacles: readonly Obstacle[];
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
  /** Whether the owner's Secret was made again, and the members do not know it yet. */
  readonly ownerPending: boolean;
  readonly recovery: RecoveryView;
  /** Null for a cluster that is founded empty. */
  readonly restore: RestoreView | null;
  readonly attempts: Attempts;
}

/** What the cluster is founded from. */
export interface RestoreView {
  /** Why it cannot be used; null if it can. */
  readonly problem: { readonly reason: string; readonly message: string } | null;
  /** Whether the set's members found a cluster from it, and never an empty one. */
  readonly isInForce: boolean;
}

/** Kubernetes does not make a pod or a volume, or finds no node for a pod. */
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
  /** Whether there is a specification to follow meanwhile. Without one, nothing but pods that do not run is touched. */
  readonly tended: boolean;
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
  /** Whether others have changed what the operator wrote, so that new pods would not be as they are asked for. */
  readonly isOverwritten: boolean;
  /** Of the volumes that it asks for, which cannot be changed in it; null = the default class. */
  readonly storageClassName: string | null;
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
  /** Since when there has been none; null while it runs. */
  readonly notRunningSince: number | null;
  /** Whether the process that runs has passed the startup probe. */
  readonly started: boolean;
  /** Whether any process of this pod has. */
  readonly everStarted: boolean;
  /** Whether its process cannot be started, and the kubelet pauses before the next try. */
  readonly stuck: boolean;
  /** How often the kubelet has started its process again. */
  readonly restarts: number;
  /** How its process ended last; null if it has not. */
  readonly lastExit: ProcessExit | null;
  /** The same; null if it ended as it was asked to. */
  readonly failedExit: ProcessExit | null;
  /** What its labels say, and of which term that is. */
  readonly role: MemberRole | null;
  readonly term: number | null;
}

export interface ProcessExit {
  /** Of Kubernetes, such as OOMKilled, Error or Completed. */
  readonly reason: string;
  readonly exitCode: number;
  readonly at: number;
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
  /** Whether a set of this cluster that is gone has made it, and no volume came for it: nothing is in it. */
  readonly leftover: boolean;
  /** Whether another CoordinationCluster owns it. */
  readonly foreign: boolean;
  /** Whether it has a volume, or one is named for it: what is in it is kept. */
  readonly bound: boolean;
  /** Null while it waits for a default class. */
  readonly storageClassName: string | null;
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
  /** What is wrong with it, or what it is doing, for people; the last one is about its state. */
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

export interface RestoreAttempt {
  readonly podUid: string;
  readonly at: number;
  /** Why it did not succeed; null while it goes on. */
  readonly failure: string | null;
}

/** What the operator remembers of its own tries, in memory: losing it costs time, never safety. */
export interface Attempts {
  /** Transfers in a row that did not come about. */
  readonly failedTransfers: number;
  /** The pod whose eviction was refused last, and when. */
  readonly refusedEviction: { readonly podUid: string; readonly at: number } | null;
  /** The member that was made to hand over last, and when; null if none was since the last eviction. */
  readonly handover: { readonly memberId: number; readonly at: number } | null;
  /** When a pod was last asked to found the cluster from a backup, which takes long. */
  readonly restore?: RestoreAttempt;
}
