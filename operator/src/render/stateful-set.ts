/** The StatefulSet: OnDelete, so that a new template restarts nobody, and Parallel, so that nobody waits for a lower ordinal. */
import type { V1PersistentVolumeClaim, V1PodTemplateSpec, V1StatefulSet } from "@kubernetes/client-node";
import type { CoordinationCluster } from "../generated/coordination-cluster.ts";
import type { BackupPlan, RestorePlan } from "./backup.ts";
import { labelsOf, metadataOf, namesOf, selectorOf } from "./names.ts";
import { renderPodTemplate, templateHashOf, versionOf } from "./pod-template.ts";

/** What is not the specification's: how many pods there are to be, and what cannot be changed of a set that exists. */
export interface LiveSet {
  readonly replicas: number;
  /** Of the set that exists: they are immutable. Volumes grow one by one. */
  readonly volumeClaimTemplates?: V1PersistentVolumeClaim[];
  /** What `kubectl rollout restart` has noted on the set that exists. */
  readonly restartedAt?: string;
  /** What the cluster asks for, and the store that it names; absent while it asks for nothing, or the store is not there. */
  readonly backup?: BackupPlan;
  /** What the cluster is founded from; absent for an empty cluster, or while that is not there. */
  readonly restore?: RestorePlan;
}

/** The one thing in the pod template that others may write: it asks for what the operator does anyway, one by one. */
export const RESTARTED_AT = "kubectl.kubernetes.io/restartedAt";

/** On a set: the store that its members have, for when that object is gone or cannot be used. */
const BACKUP_STORE = "quoin.dev/backup-store";

/** On a set: the store and the snapshot that the cluster was founded from. */
const RESTORE_SOURCE = "quoin.dev/restore-source";

/** What the members of a set can be founded from. */
export type RestoreSource = Pick<RestorePlan, "store" | "snapshotId">;

/** @returns the store that a set of these annotations has; null if it has none */
export function notedStoreOf(annotations: Readonly<Record<string, string>>): BackupPlan["store"] | null {
  return notedIn(annotations, BACKUP_STORE);
}

/** @returns what the cluster of a set with these annotations is founded from; null if nothing is noted */
export function notedSourceOf(annotations: Readonly<Record<string, string>>): RestoreSource | null {
  return notedIn(annotations, RESTORE_SOURCE);
}

function notedIn<Note>(annotations: Readonly<Record<string, string>>, name: string): Note | null {
  try {
    return JSON.parse(annotations[name] ?? "null");
  } catch {
    // Somebody has changed it by hand: then the store's own object must be there.
    return null;
  }
}

/** Raises OverlayError. */
export function renderStatefulSet(cluster: CoordinationCluster, live: LiveSet): V1StatefulSet {
  const { backup = null, restore = null } = live;
  const template = restarted(renderPodTemplate(cluster, { backup, restore }), live.restartedAt);
  const names = namesOf(cluster);
  const annotations = {
    "quoin.dev/template-hash": templateHashOf(template),
    "quoin.dev/version": versionOf(cluster),
    "quoin.dev/repository": cluster.spec.image.repository ?? "",
    ...(backup === null ? {} : { [BACKUP_STORE]: JSON.stringify(backup.store) }),
    ...(restore === null ? {} : { [RESTORE_SOURCE]: JSON.stringify(sourceOf(restore)) }),
  };
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: metadataOf(cluster, names.set, { annotations }),
    spec: {
      replicas: live.replicas,
      serviceName: names.peers,
      podManagementPolicy: "Parallel",
      updateStrategy: { type: "OnDelete" },
      // The operator deletes claims, when no member needs them.
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      selector: { matchLabels: selectorOf(cluster) },
      template,
      volumeClaimTemplates: live.volumeClaimTemplates ?? [renderClaim(cluster)],
    },
  };
}

function sourceOf({ store, snapshotId }: RestorePlan): RestoreSource {
  return { store, snapshotId };
}

function restarted({ metadata, ...template }: V1PodTemplateSpec, at: string | undefined): V1PodTemplateSpec {
  const annotations = { ...(at === undefined ? {} : { [RESTARTED_AT]: at }), ...metadata?.annotations };
  return { metadata: { ...metadata, annotations }, ...template };
}

function renderClaim(cluster: CoordinationCluster): V1PersistentVolumeClaim {
  const { size, storageClassName } = cluster.spec.storage;
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data", labels: labelsOf(cluster) },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: size } },
      ...(storageClassName === undefined ? {} : { storageClassName }),
    },
  };
}
