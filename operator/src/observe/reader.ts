/** All objects of one cluster that a pass reads from the API server. */
import type { V1ConfigMap, V1PodDisruptionBudget, V1Secret, V1StorageClass } from "@kubernetes/client-node";
import { isKubeError, type Kind, type KubeObject, type Reads, type Wire } from "../kube/index.ts";
import type { CoordinationCluster } from "../plan/index.ts";
import { namesOf, namespaceOf, selectorOf } from "../render/index.ts";
import { type BackupStoreReading, readBackupStore } from "./backup-store.ts";
import type { Claim } from "./claim-view.ts";
import type { Pod } from "./pod-view.ts";
import { type RestoreReading, readRestoreSource } from "./restore-source.ts";
import type { StatefulSet } from "./set-view.ts";

/** Null for objects that do not exist. */
export interface Reading {
  readonly set: StatefulSet | null;
  /** Pods of the set, by ordinal. */
  readonly pods: ReadonlyMap<number, Pod>;
  /** By ordinal, whether or not the operator's set created them. */
  readonly claims: ReadonlyMap<number, Claim>;
  readonly identity: Wire<V1ConfigMap> | null;
  readonly tokens: Wire<V1Secret> | null;
  readonly owner: Wire<V1Secret> | null;
  readonly trust: Wire<V1ConfigMap> | null;
  readonly authority: Wire<V1Secret> | null;
  readonly server: Wire<V1Secret> | null;
  readonly budget: Wire<V1PodDisruptionBudget> | null;
  /** The store in the specification; null if it names none. */
  readonly backupStore: BackupStoreReading | null;
  /** The backup to found the cluster from; null for an empty cluster. */
  readonly restore: RestoreReading | null;
}

export function ownerSecretName({ metadata }: { readonly metadata: { readonly name: string } }): string {
  return `${metadata.name}-owner`;
}

/** @throws KubeError */
export async function readCluster(reads: Reads, cluster: CoordinationCluster): Promise<Reading> {
  const names = namesOf(cluster);
  const namespace = namespaceOf(cluster);
  const selector = selectorTextOf(cluster);
  const get = <Item extends KubeObject>(kind: Kind, name: string): Promise<Item | null> =>
    reads.get<Item>({ kind, namespace, name });
  const secret = (name: string): Promise<Wire<V1Secret> | null> => get("Secret", name);
  const isEncrypted = cluster.spec.tls.mode !== "Off";
  const [set, pods, claims, identity, tokens, owner, budget, trust, authority, server, backupStore, restore] =
    await Promise.all([
      get<StatefulSet>("StatefulSet", names.set),
      reads.list<Pod>("Pod", namespace, selector),
      reads.list<Claim>("PersistentVolumeClaim", namespace, selector),
      get<Wire<V1ConfigMap>>("ConfigMap", names.identity),
      secret(names.tokens),
      secret(ownerSecretName(cluster)),
      get<Wire<V1PodDisruptionBudget>>("PodDisruptionBudget", names.set),
      isEncrypted ? get<Wire<V1ConfigMap>>("ConfigMap", names.authorities) : null,
      cluster.spec.tls.mode === "Auto" ? secret(names.authorities) : null,
      isEncrypted ? secret(cluster.spec.tls.secretName ?? names.serverTls) : null,
      readBackupStore(reads, cluster),
      readRestoreSource(reads, cluster),
    ]);
  return {
    set,
    ...volumesOf(cluster, set, pods.items, claims.items),
    identity,
    tokens,
    owner,
    budget,
    trust,
    authority,
    server,
    backupStore,
    restore,
  };
}

/**
 * Reads the present claims of a cluster and pods of its set.
 * @throws KubeError
 */
export async function readVolumes(
  reads: Reads,
  cluster: CoordinationCluster,
  set: StatefulSet | null,
): Promise<Pick<Reading, "claims" | "pods">> {
  const namespace = namespaceOf(cluster);
  const selector = selectorTextOf(cluster);
  const [pods, claims] = await Promise.all([
    reads.list<Pod>("Pod", namespace, selector),
    reads.list<Claim>("PersistentVolumeClaim", namespace, selector),
  ]);
  return volumesOf(cluster, set, pods.items, claims.items);
}

function volumesOf(
  cluster: CoordinationCluster,
  set: StatefulSet | null,
  pods: readonly Pod[],
  claims: readonly Claim[],
): Pick<Reading, "claims" | "pods"> {
  const names = namesOf(cluster);
  const ofSet = pods.filter(({ metadata }) =>
    metadata?.ownerReferences?.some(({ controller, uid }) => controller === true && uid === set?.metadata?.uid),
  );
  return { pods: byOrdinal(ofSet, `${names.set}-`), claims: byOrdinal(claims, `data-${names.set}-`) };
}

function selectorTextOf(cluster: CoordinationCluster): string {
  return Object.entries(selectorOf(cluster))
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
}

/** Whether volumes of a storage class can grow; null if unknown. */
export async function readExpandable(reads: Reads, claim: Claim | undefined): Promise<boolean | null> {
  const name = claim?.spec?.storageClassName;
  if (name === undefined || name === "") {
    return null;
  }
  try {
    const found = await reads.get<Wire<V1StorageClass>>({ kind: "StorageClass", namespace: "", name });
    return found === null ? null : found.allowVolumeExpansion === true;
  } catch (error) {
    // An operator of some namespaces only may not read cluster-scoped objects.
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
