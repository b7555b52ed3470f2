/**
 * The sentinel of the owner's Secret: a ConfigMap of the same name, owned by the Secret. The operator may not watch
 * Secrets, but it watches ConfigMaps. If the Secret is deleted, Kubernetes deletes the sentinel, too. So the operator
 * notices the loss within seconds, without a right to list Secrets and without polling.
 */
import type { V1ConfigMap } from "@kubernetes/client-node";
import type { Reads, Wire } from "../kube/index.ts";
import type { CoordinationCluster } from "../plan/index.ts";
import { labelsOf, namespaceOf, selectorOf } from "../render/index.ts";
import { type DesiredWrite, matchesManifest, signed } from "./desired-write.ts";
import { ownerSecretName, type Reading } from "./reader.ts";

const ABOUT =
  "Kubernetes deletes this ConfigMap with the Secret of the same name. So the operator notices that the Secret is gone.";

/** @returns null if there is no Secret, if the sentinel is right, or if a foreign object has its name */
export async function sentinelWrite(
  reads: Reads,
  cluster: CoordinationCluster,
  { owner }: Reading,
): Promise<DesiredWrite | null> {
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
  return (live !== null && !isOurs) || matchesManifest(live, manifest)
    ? null
    : { how: "apply", reference, manifest, undoes: null };
}
