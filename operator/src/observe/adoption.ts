/**
 * Adopts what another CoordinationCluster of the same name left behind, as after `kubectl delete --cascade=orphan`:
 * objects without an owner, and running members. The cluster adopts them unless its specification does not fit them.
 */
import type { KubeObject, Reference } from "../kube/index.ts";
import type { CoordinationCluster, Refusal } from "../plan/index.ts";
import { metadataOf, namesOf } from "../render/index.ts";
import { type DesiredWrite, preconditionOf } from "./desired-write.ts";
import { conflictOf } from "./owned-objects.ts";
import type { Reading } from "./reader.ts";

/** @returns null for an object that has a controller or lacks the label of this cluster */
export function adoptionWrite(
  cluster: CoordinationCluster,
  reference: Reference,
  live: KubeObject | null,
): DesiredWrite | null {
  const { ownerReferences = [], deletionTimestamp } = live?.metadata ?? {};
  const hasController = ownerReferences.some(({ controller }) => controller === true);
  if (live === null || hasController || deletionTimestamp !== undefined || conflictOf(cluster, reference, live)) {
    return null;
  }
  const owners = [...ownerReferences, ...(metadataOf(cluster, "").ownerReferences ?? [])];
  return { how: "own", reference, precondition: preconditionOf(live), owners };
}

/**
 * The API server lets no cluster change between certificates and plain text, because halfway its members could not talk
 * to each other. A new object of the same name can still ask for that change, so this refuses it.
 */
export function encryptionRefusal(cluster: CoordinationCluster, { set }: Reading): Refusal | null {
  const isAdopted = set?.metadata?.ownerReferences?.some(({ uid }) => uid === cluster.metadata.uid) === true;
  const member = set?.spec?.template.spec?.containers.find(({ name }) => name === "quoin");
  if (isAdopted || member?.args === undefined) {
    return null;
  }
  const { mode } = cluster.spec.tls;
  const isEncrypted = member.args.some((flag) => flag.startsWith("--tls-cert="));
  if (isEncrypted === (mode !== "Off")) {
    return null;
  }
  const name = namesOf(cluster).set;
  const theirs = isEncrypted ? "with certificates" : "without encryption";
  const message =
    `spec.tls.mode is ${mode}, and the members of StatefulSet ${name}, which existed before, run ${theirs}: ` +
    `create this CoordinationCluster again with a matching mode, or stop them with kubectl delete statefulset ${name}`;
  return { reason: "TlsModeFixed", message, keepsReconciling: false };
}
