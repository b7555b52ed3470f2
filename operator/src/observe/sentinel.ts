/**
 * The sentinel of the owner's Secret: a ConfigMap of the same name that belongs to it. The operator may not watch Secrets. It
 * watches ConfigMaps, and when the Secret is deleted, Kubernetes deletes the sentinel, too. So the loss is noticed in seconds,
 * without a right to list Secrets and without asking over and over.
 */
import type { V1ConfigMap } from "@kubernetes/client-node";
import type { Reads, Wire } from "../kube/index.ts";
import type { CoordinationCluster } from "../plan/index.ts";
import { labelsOf, namespaceOf, selectorOf } from "../render/index.ts";
import { ownerSecretName, type Reading } from "./reader.ts";
import { isAsWished, signed, type Wish } from "./wish.ts";

const ABOUT = "Kubernetes deletes this with the Secret of the same name, and so the operator notices that it is gone.";

/** @returns null if there is nothing to guard, if all is as it must be, or if the name is taken by an object of others */
export async function sentinelWish(
  reads: Reads,
  cluster: CoordinationCluster,
  { owner }: Reading,
): Promise<Wish | null> {
  const { uid = "", deletionTimestamp } = owner?.metadata ?? {};
  if (owner === null || deletionTimestamp !== undefined) {
    return null;
  }
  const [name, namespace] = [ownerSecretName(cluster), namespaceOf(cluster)];
  const reference = { kind: "ConfigMap", namespace, name } as const;
  const ownerReferences = [{ apiVersion: "v1", kind: "Secret", name, uid }];
  const metadata = { name, namespace, labels: labelsOf(cluster), ownerReferences };
  const sentinel = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { about: ABOUT } };
  const manifest = signed(sentinel);
  const live = await reads.get<Wire<V1ConfigMap>>(reference);
  const labels = live?.metadata?.labels ?? {};
  const isOurs = Object.entries(selectorOf(cluster)).every(([label, value]) => labels[label] === value);
  return (live !== null && !isOurs) || isAsWished(live, manifest)
    ? null
    : { how: "apply", reference, manifest, undoes: null };
}
