/**
 * What a cluster finds that another CoordinationCluster of its name has left behind, as `kubectl delete --cascade=orphan`
 * does: objects without an owner, and members that run. They become its own, unless its specification cannot be theirs.
 */
import type { KubeObject, Reference } from "../kube/index.ts";
import type { CoordinationCluster, Refusal } from "../plan/index.ts";
import { metadataOf, namesOf } from "../render/index.ts";
import type { Reading } from "./reader.ts";
import { conflictOf } from "./support.ts";
import { preconditionOf, type Wish } from "./wish.ts";

/** @returns null for an object that has a controller, or that does not have the label of this cluster */
export function adoptionWish(cluster: CoordinationCluster, reference: Reference, live: KubeObject | null): Wish | null {
  const { ownerReferences = [], deletionTimestamp } = live?.metadata ?? {};
  const hasController = ownerReferences.some(({ controller }) => controller === true);
  if (live === null || hasController || deletionTimestamp !== undefined || conflictOf(cluster, reference, live)) {
    return null;
  }
  const owners = [...ownerReferences, ...(metadataOf(cluster, "").ownerReferences ?? [])];
  return { how: "own", reference, precondition: preconditionOf(live), owners };
}

/**
 * The API server lets no cluster change from certificates to plain text or back, for its members could not talk to each
 * other halfway. A new object of the name can ask for it all the same.
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
  const theirs = isEncrypted ? "with certificates" : "in plain text";
  const message =
    `spec.tls.mode is ${mode}, and the members of StatefulSet ${name}, which was there before, talk ${theirs}: ` +
    `make this CoordinationCluster again with the mode that they have, or stop them with kubectl delete statefulset ${name}`;
  return { reason: "TlsModeFixed", message, tended: false };
}
