/** A plan: the upkeep, which every pass does, and the one step of the membership lane, or the hold that stops it. */
import type { Drift, MemberRole, MemberState, ObstacleReason } from "./observed.ts";
import type { RecoveryNote, RecoveryStage } from "./recovery.ts";

export interface Plan {
  /** Idempotent. The order matters only for labels, which are written in this order. */
  readonly upkeep: readonly Upkeep[];
  readonly step: Step | null;
  /** What the plan waits for. It can appear with a step if that step does not resolve it. */
  readonly blocker: Blocker | null;
  readonly requeueMs: number;
}

/** Names of the rules, as reasons of events and conditions. */
export type Rule =
  | "Adopt"
  | "ChangeStorageClass"
  | "RecoverQuorum"
  | "RecycleFormer"
  | "RecreateBroken"
  | "Found"
  | "GrowSet"
  | "Freeze"
  | "CancelSlot"
  | "ReplaceLost"
  | "RecycleVolume"
  | "ShrinkSet"
  | "DropClaim"
  | "Promote"
  | "AddSlot"
  | "ScaleDown"
  | "AwaitLearner"
  | "AwaitPod"
  | "Roll"
  | "ResizeRestart"
  | "Template"
  | "Upkeep"
  | "Observe";

export interface Step {
  readonly rule: Rule;
  /** The object of the step: a pod, a claim, or the cluster. */
  readonly target: string;
  /** A sentence for people. */
  readonly message: string;
  readonly action: Action;
}

/** Each action names the version that it is based on, so that it fails if that has changed. */
export type Action =
  | { readonly kind: "create-set"; readonly replicas: number }
  /** Only while no volume of the cluster is bound, which is checked again before the write. */
  | { readonly kind: "delete-set"; readonly uid: string; readonly resourceVersion: string }
  | { readonly kind: "scale-set"; readonly replicas: number; readonly resourceVersion: string }
  /** Without a cluster id, a new one is generated. */
  | {
      readonly kind: "create-identity";
      readonly clusterId?: string;
      readonly founder: string;
      readonly founderIncarnation: string;
    }
  | {
      readonly kind: "bootstrap";
      readonly ordinal: number;
      readonly podUid: string;
      readonly clusterId: string;
      readonly incarnation: string;
    }
  | { readonly kind: "add-slot"; readonly name: string; readonly ifConfigIndex: number }
  | { readonly kind: "promote"; readonly ids: readonly number[]; readonly ifConfigIndex: number }
  | { readonly kind: "remove"; readonly ids: readonly number[]; readonly ifConfigIndex: number }
  | { readonly kind: "transfer"; readonly targetId: number; readonly ifTerm: number }
  /** Notes the recovery with the id of a new cluster, which is generated. */
  | { readonly kind: "begin-recovery"; readonly note: Omit<RecoveryNote, "clusterId"> }
  | { readonly kind: "note-recovery"; readonly note: RecoveryNote }
  /** From then on, the identity names the new cluster. */
  | { readonly kind: "commit-recovery"; readonly note: RecoveryNote }
  /** Removes the annotation that requests the recovery, and notes the result. */
  | { readonly kind: "end-recovery"; readonly note: RecoveryNote }
  | {
      readonly kind: "create-recovery-pod";
      readonly ordinal: number;
      readonly stage: RecoveryStage;
      /** Id of the new cluster. */
      readonly attempt: string;
      /** Last index of the log on the volume; the recovery must find it there. */
      readonly lastIndex?: number;
    }
  | ({ readonly kind: "delete-recovery-pod" } & ObjectOfOrdinal)
  | ({ readonly kind: "hand-over-claim"; readonly clusterId: string; readonly memberId: number } & ObjectOfOrdinal)
  | ({ readonly kind: "evict" } & ObjectOfOrdinal)
  | ({ readonly kind: "delete-pod" } & ObjectOfOrdinal)
  | ({ readonly kind: "delete-claim" } & ObjectOfOrdinal);

export interface ObjectOfOrdinal {
  readonly ordinal: number;
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface Blocker {
  readonly gate: Rule;
  readonly reason: BlockerReason;
  readonly target: string;
  /** With the next useful command, if there is one. */
  readonly message: string;
}

/** An action that the API server or a member refuses. It is shown until it succeeds, or until no plan contains it. */
export interface Failure extends Blocker {
  readonly reason: "StepFailed" | "UpkeepFailed" | "PassFailed";
  /** Kind of the action, such as `evict`. */
  readonly action: string;
  /** Time of the first failure; the action has not succeeded since. */
  readonly since: number;
}

export type BlockerReason =
  | ObstacleReason
  | "CatchingUp"
  | "ClaimTerminating"
  | "ConfigurationChanging"
  | "DisruptionBudget"
  | "DowngradeBelowFloor"
  | "HandedOver"
  | "IdentityConflict"
  | "ManualUpdate"
  | "MemberDataLost"
  | "MemberRefused"
  | "MemberUnhealthy"
  | "NewTemplateFails"
  | "NoLeader"
  | "NoTransferTarget"
  | "PassFailed"
  | "QuorumLost"
  | "RecoveringVolume"
  | "RecoveryFails"
  | "RestoreFails"
  | "RestoreNotReady"
  | "Restoring"
  | "RevisionNotObserved"
  | "StaleVolume"
  | "StaleVolumes"
  | "StoppingMembers"
  | "SurveyingVolumes"
  | "StepFailed"
  | "UpkeepFailed"
  | "VersionSkew"
  | "WaitingForClaim"
  | "WaitingForFounder"
  | "WaitingForPod";

export type Upkeep =
  | { readonly kind: "apply"; readonly object: Drift }
  | { readonly kind: "budget"; readonly minAvailable: number | null }
  | ({ readonly kind: "label-pod"; readonly role: MemberRole; readonly term: number } & ObjectOfOrdinal)
  | { readonly kind: "note-config-index"; readonly index: number; readonly resourceVersion: string }
  | ({
      readonly kind: "annotate-claim";
      readonly clusterId: string;
      readonly memberId: number | "none";
    } & ObjectOfOrdinal)
  | ({ readonly kind: "grow-claim"; readonly size: string } & ObjectOfOrdinal)
  /** Writes the content of the owner's Secret to the members. */
  | { readonly kind: "reset-owner" }
  | {
      readonly kind: "put-settings";
      readonly values: ReadonlyMap<string, string>;
      readonly ifSettingsRevision: number;
    };

/** A loss of the quorum, and its cause. */
export interface QuorumLoss {
  readonly reason: "MajorityDataLost" | "AllDataLost" | "MajorityUnreachable" | "NoLeaderElected" | "RecoveryUnderWay";
  readonly message: string;
}

/** States in which a process has an empty directory. */
export const EMPTY_STATES: ReadonlySet<MemberState> = new Set(["EMPTY", "MEMBER_DATA_LOST"]);
