/** Everything that one pass reads from the API server about one cluster. */
import type { V1ConfigMap, V1PodDisruptionBudget, V1Secret, V1StorageClass } from "@kubernetes/client-node";
import { isKubeError, type Kind, type KubeClient, type KubeObject, type Wire } from "../kube/index.ts";
import type { CoordinationCluster } from "../plan/index.ts";
import { namesOf, namespaceOf, selectorOf } from "../render/index.ts";
import type { Claim } from "./claim-view.ts";
import type { Pod } from "./pod-view.ts";
import type { StatefulSet } from "./set-view.ts";

/** Null where nothing is there. */
export interface Reading {
  readonly set: StatefulSet | null;
  /** Of the set, by ordinal. */
  readonly pods: ReadonlyMap<number, Pod>;
  /** By ordinal, whoever made them. */
  readonly claims: ReadonlyMap<number, Claim>;
  readonly identity: Wire<V1ConfigMap> | null;
  readonly tokens: Wire<V1Secret> | null;
  readonly owner: Wire<V1Secret> | null;
  readonly trust: Wire<V1ConfigMap> | null;
  readonly authority: Wire<V1Secret> | null;
  readonly server: Wire<V1Secret> | null;
  readonly budget: Wire<V1PodDisruptionBudget> | null;
}

export function ownerSecretName({ metadata }: CoordinationCluster): string {
  return `${metadata.name}-owner`;
}

/** Raises KubeError. */
export async function readCluster(client: KubeClient, cluster: CoordinationCluster): Promise<Reading> {
  const names = namesOf(cluster);
  const namespace = namespaceOf(cluster);
  const selector = Object.entries(selectorOf(cluster))
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
  const get = <Item extends KubeObject>(kind: Kind, name: string): Promise<Item | null> =>
    client.get<Item>({ kind, namespace, name });
  const secret = (name: string): Promise<Wire<V1Secret> | null> => get("Secret", name);
  const isEncrypted = cluster.spec.tls.mode !== "Off";
  const [set, pods, claims, identity, tokens, owner, budget, trust, authority, server] = await Promise.all([
    get<StatefulSet>("StatefulSet", names.set),
    client.list<Pod>("Pod", namespace, selector),
    client.list<Claim>("PersistentVolumeClaim", namespace, selector),
    get<Wire<V1ConfigMap>>("ConfigMap", names.identity),
    secret(names.tokens),
    secret(ownerSecretName(cluster)),
    get<Wire<V1PodDisruptionBudget>>("PodDisruptionBudget", names.set),
    isEncrypted ? get<Wire<V1ConfigMap>>("ConfigMap", names.authorities) : null,
    cluster.spec.tls.mode === "Auto" ? secret(names.authorities) : null,
    isEncrypted ? secret(cluster.spec.tls.secretName ?? names.serverTls) : null,
  ]);
  const ofSet = pods.items.filter(({ metadata }) =>
    metadata?.ownerReferences?.some(({ controller, uid }) => controller === true && uid === set?.metadata?.uid),
  );
  return {
    set,
    pods: byOrdinal(ofSet, `${names.set}-`),
    claims: byOrdinal(claims.items, `data-${names.set}-`),
    ...{ identity, tokens, owner, budget, trust, authority, server },
  };
}

/** Whether volumes of a storage class can grow; null where that cannot be known. */
export async function readExpandable(client: KubeClient, claim: Claim | undefined): Promise<boolean | null> {
  const name = claim?.spec?.storageClassName;
  if (name === undefined || name === "") {
    return null;
  }
  try {
    const found = await client.get<Wire<V1StorageClass>>({ kind: "StorageClass", namespace: "", name });
    return found === null ? null : found.allowVolumeExpansion === true;
  } catch (error) {
    // An operator of some namespaces only may not read what belongs to none.
    if (isKubeError(error, "forbidden")) {
      return null;
    }
    throw error;
  }
}

function byOrdinal<Item extends KubeObject>(items: readonly Item[], prefix: string): Map<number, Item> {
  const found = new Map<number, Item>();
  for (const item of items) {
    const name = item.metadata?.name ?? "";
    const rest = name.slice(prefix.length);
    if (name.startsWith(prefix) && /^(0|[1-9][0-9]{0,5})$/.test(rest)) {
      found.set(Number(rest), item);
    }
  }
  return found;
}
