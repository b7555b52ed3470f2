/** Names, labels and ports that the objects of a cluster share. */
import type { V1ObjectMeta } from "@kubernetes/client-node";
import type { CoordinationCluster } from "../generated/coordination-cluster.ts";

export const PORTS = { grpc: 7400, http: 7401, peer: 7402, admin: 7403, health: 7404 } as const;
/** The definition allows no more. Seeds and rights name all of them, so that they do not depend on how many are wanted. */
const MEMBERS_MAX = 7;
/** The only label that selectors use: it never changes. */
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

/** The domain of a member's own name; complete in every cluster, whatever its domain. */
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

/** Of an object that goes with its cluster. */
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
