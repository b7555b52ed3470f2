/** A claim as the planner sees it. */
import type { V1PersistentVolumeClaim } from "@kubernetes/client-node";
import type { Wire } from "../kube/index.ts";
import type { ClaimView, CoordinationCluster, Identity } from "../plan/index.ts";
import { parseQuantity } from "../quantity/index.ts";
import { CLUSTER_ID, MEMBER_ID } from "./annotations.ts";
import { numberOf, timeOf } from "./pod-view.ts";

export type Claim = Wire<V1PersistentVolumeClaim>;

export interface ClaimSurroundings {
  readonly cluster: CoordinationCluster;
  readonly identity: Identity | null;
  /** When the present set was created; null without one. */
  readonly setCreated: number | null;
  /** Whether the storage class lets volumes grow; null if that cannot be read. */
  readonly expandable: boolean | null;
}

export function claimViewOf(claim: Claim, ordinal: number, surroundings: ClaimSurroundings): ClaimView {
  const { metadata = {}, spec, status } = claim;
  const { cluster, identity, setCreated, expandable } = surroundings;
  const clusterId = metadata.annotations?.[CLUSTER_ID] ?? null;
  const memberId = metadata.annotations?.[MEMBER_ID];
  const owners = (metadata.ownerReferences ?? []).filter(({ kind }) => kind === cluster.kind);
  const foreign = owners.some(({ uid }) => uid !== cluster.metadata.uid);
  const resize = status?.conditions?.find(({ type }) => type === "FileSystemResizePending");
  const capacity = status?.capacity?.storage;
  const created = timeOf(metadata.creationTimestamp) ?? 0;
  const clusterCreated = timeOf(cluster.metadata.creationTimestamp) ?? Number.POSITIVE_INFINITY;
  const isUnused = !foreign && clusterId === null && !isBound(claim);
  return {
    ordinal,
    uid: metadata.uid ?? "",
    resourceVersion: metadata.resourceVersion ?? "",
    clusterId,
    memberId: memberId === "none" ? "none" : numberOf(memberId),
    // Without an annotation, only claims younger than the set were created by it.
    ours:
      !foreign &&
      (clusterId === null ? setCreated !== null && created >= setCreated : clusterId === identity?.clusterId),
    // After the cluster was created, only its sets create claims with its labels.
    leftover: isUnused && setCreated === null && created > clusterCreated,
    // The API server tells times in whole seconds.
    unsureSince: isUnused && setCreated !== null && created <= setCreated && created >= clusterCreated ? created : null,
    foreign,
    bound: isBound(claim),
    storageClassName: spec?.storageClassName ?? null,
    requested: parseQuantity(spec?.resources?.requests?.storage ?? "") ?? 0,
    capacity: capacity === undefined ? null : (parseQuantity(capacity) ?? null),
    expandable,
    resizePendingSince: resize?.status === "True" ? (timeOf(resize.lastTransitionTime) ?? null) : null,
    terminating: metadata.deletionTimestamp !== undefined,
  };
}

/** A claim names its volume before its phase is Bound. A claim that has lost its volume was bound, too. */
export function isBound({ spec, status }: Claim): boolean {
  return spec?.volumeName !== undefined || (status?.phase !== undefined && status.phase !== "Pending");
}
