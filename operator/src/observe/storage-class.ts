/** Checks whether the storage class in a specification can still become that of the volumes. */
import { type CoordinationCluster, hasVolume, type Refusal } from "../plan/index.ts";
import { namesOf } from "../render/index.ts";
import { isBound } from "./claim-view.ts";
import type { Reading } from "./reader.ts";
import { setViewOf } from "./set-view.ts";

/** @returns whether a volume of this cluster may hold data */
export function holdsVolume({ claims, pods }: Pick<Reading, "claims" | "pods">): boolean {
  return hasVolume(
    [...claims].map(([ordinal, claim]) => ({
      ordinal,
      bound: isBound(claim),
      terminating: claim.metadata?.deletionTimestamp !== undefined,
    })),
    [...pods].map(([ordinal, { spec }]) => ({ ordinal, scheduled: spec?.nodeName !== undefined })),
  );
}

/**
 * The API server refuses most such changes by the status. This check finds those that came while a volume was being
 * bound.
 */
export function storageClassRefusal(cluster: CoordinationCluster, reading: Reading): Refusal | null {
  const wanted = cluster.spec.storage.storageClassName;
  if (reading.set === null || (!holdsVolume(reading) && reading.identity === null)) {
    return null;
  }
  const present = setViewOf(reading.set).storageClassName;
  const bound = [...reading.claims].filter(([, claim]) => isBound(claim));
  const isOfAll = bound.length > 0 && bound.every(([, { spec }]) => spec?.storageClassName === wanted);
  if (present === (wanted ?? null) || isOfAll) {
    return null;
  }
  const [[ordinal, claim] = []] = bound;
  const held = claim?.spec?.storageClassName ?? present;
  const why =
    ordinal === undefined
      ? `the cluster already has an identity, ConfigMap ${namesOf(cluster).identity}`
      : `claim data-${namesOf(cluster).set}-${ordinal} has a volume`;
  const back = held === null ? "remove it" : `set it back to ${held}`;
  return {
    reason: "StorageClassFixed",
    message: `spec.storage.storageClassName cannot be changed any more, because ${why}: ${back}`,
    keepsReconciling: true,
  };
}
