/**
 * The StatefulSet: OnDelete, so that a new template restarts no member, and Parallel, so that no pod waits for a lower
 * ordinal.
 */
import type { V1PersistentVolumeClaim, V1PodTemplateSpec, V1StatefulSet } from "@kubernetes/client-node";
import type { CoordinationCluster } from "../generated/coordination-cluster.ts";
import type { BackupPlan, RestorePlan } from "./backup.ts";
import { labelsOf, metadataOf, namesOf, selectorOf } from "./names.ts";
import { renderPodTemplate, templateHashOf, versionOf } from "./pod-template.ts";

/** The part that does not come from the specification: the number of pods, and immutable fields of an existing set. */
export interface LiveSet {
  readonly replicas: number;
  /** Those of the existing set, because they are immutable. Volumes grow one by one. */
  readonly volumeClaimTemplates?: V1PersistentVolumeClaim[];
  /** The annotation that `kubectl rollout restart` has written on the existing set. */
  readonly restartedAt?: string;
  /** Backup settings and the store; absent if the cluster has none, or the store does not exist. */
  readonly backup?: BackupPlan;
  /** Source of the founding; absent for an empty cluster, or if the source does not exist. */
  readonly restore?: RestorePlan;
}

/**
 * The only part of the pod template that others may write: it requests what the operator does anyway, one member at a
 * time.
 */
export const RESTARTED_AT = "kubectl.kubernetes.io/restartedAt";

/** On a set: the store that its members have, in case the store object is gone or unusable. */
const BACKUP_STORE = "quoin.dev/backup-store";

/** On a set: the store and the snapshot that the cluster was founded from. */
const RESTORE_SOURCE = "quoin.dev/restore-source";

/** The source from which the members of a set can found the cluster. */
export type RestoreSource = Pick<RestorePlan, "store" | "snapshotId">;

/** @returns the store in the annotations of a set; null if there is none */
export function notedStoreOf(annotations: Readonly<Record<string, string>>): BackupPlan["store"] | null {
  return notedIn(annotations, BACKUP_STORE);
}

/** @returns the source of the founding in the annotations of a set; null if there is none */
export function notedSourceOf(annotations: Readonly<Record<string, string>>): RestoreSource | null {
  return notedIn(annotations, RESTORE_SOURCE);
}

function notedIn<Note>(annotations: Readonly<Record<string, string>>, name: string): Note | null {
  try {
    return JSON.parse(annotations[name] ?? "null");
  } catch {
    // Someone has changed it by hand: then the store object itself must exist.
    return null;
  }
}

/** @throws OverlayError */
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
      // The operator itself deletes claims that no member needs.
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
