/** Names, labels and ports that the objects of a cluster share. */
import type { V1ObjectMeta } from "@kubernetes/client-node";
import type { CoordinationCluster } from "../generated/coordination-cluster.ts";

export const PORTS = { grpc: 7400, http: 7401, peer: 7402, admin: 7403, health: 7404 } as const;
/**
 * Limit of the definition. Seeds and rights name all possible members, so that they do not depend on the number of
 * members.
 */
const MEMBERS_MAX = 7;
/** The only label in selectors; it never changes. */
export const CLUSTER_LABEL = "quoin.dev/cluster";
export const ROLE_LABEL = "quoin.dev/role";

export interface Names {
  readonly set: string;
  readonly peers: string;
  readonly client: string;
  readonly leader: string;
  readonly identity: string;
  readonly authorities: string;
  readonly tokens: string;
  readonly serverTls: string;
  readonly certificate: string;
}

export function namesOf({ metadata: { name } }: CoordinationCluster): Names {
  return {
    set: name,
    peers: `${name}-peers`,
    client: name,
    leader: `${name}-leader`,
    identity: `${name}-identity`,
    authorities: `${name}-ca`,
    tokens: `${name}-tokens`,
    serverTls: `${name}-server-tls`,
    certificate: `${name}-server`,
  };
}

export function namespaceOf({ metadata }: CoordinationCluster): string {
  return metadata.namespace ?? "default";
}

/** The domain of the members' own names; it works in every Kubernetes cluster, whatever the cluster's domain. */
export function peerDomainOf(cluster: CoordinationCluster): string {
  return `${namesOf(cluster).peers}.${namespaceOf(cluster)}.svc`;
}

export function memberNames({ metadata: { name } }: CoordinationCluster): string[] {
  return Array.from({ length: MEMBERS_MAX }, (_, ordinal) => `${name}-${ordinal}`);
}

export function selectorOf({ metadata: { name } }: CoordinationCluster): Record<string, string> {
  return { [CLUSTER_LABEL]: name };
}

export function labelsOf(cluster: CoordinationCluster): Record<string, string> {
  return {
    "app.kubernetes.io/name": "quoin",
    "app.kubernetes.io/instance": cluster.metadata.name,
    "app.kubernetes.io/managed-by": "quoin-operator",
    ...selectorOf(cluster),
  };
}

/** Metadata of an object that is deleted with its cluster. */
export function metadataOf(cluster: CoordinationCluster, name: string, extra: V1ObjectMeta = {}): V1ObjectMeta {
  const owner = {
    apiVersion: cluster.apiVersion,
    kind: cluster.kind,
    name: cluster.metadata.name,
    uid: cluster.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
  return {
    name,
    namespace: namespaceOf(cluster),
    ownerReferences: [owner],
    ...extra,
    labels: { ...extra.labels, ...labelsOf(cluster) },
  };
}
