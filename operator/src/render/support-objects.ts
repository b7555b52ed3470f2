/** The owned objects other than pods: Services, disruption budget, rights, network policy, and monitoring. */
import type {
  V1ObjectMeta,
  V1PodDisruptionBudget,
  V1Role,
  V1RoleBinding,
  V1Service,
  V1ServiceAccount,
} from "@kubernetes/client-node";
import type { ClientServiceSpec, CoordinationCluster, LeaderServiceSpec } from "../generated/coordination-cluster.ts";
import { memberNames, metadataOf, namesOf, PORTS, ROLE_LABEL, selectorOf } from "./names.ts";

/** The wire format; the client's own type renames `from`. */
export interface NetworkPolicy {
  readonly apiVersion: "networking.k8s.io/v1";
  readonly kind: "NetworkPolicy";
  readonly metadata: V1ObjectMeta;
  readonly spec: object;
}

type PortName = keyof typeof PORTS;

function servicePorts(...names: PortName[]) {
  return names.map((name) => ({ name, port: PORTS[name], targetPort: name, protocol: "TCP" }));
}

/** Names for single members, also for unready ones: they must find each other to become ready. */
export function renderPeerService(cluster: CoordinationCluster): V1Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(cluster, namesOf(cluster).peers),
    spec: {
      clusterIP: "None",
      publishNotReadyAddresses: true,
      selector: selectorOf(cluster),
      ports: servicePorts("grpc", "http", "peer", "admin", "health"),
    },
  };
}

export function renderClientService(cluster: CoordinationCluster): V1Service {
  return renderService(cluster, namesOf(cluster).client, cluster.spec.services.client, {});
}

/** Null if it is disabled. */
export function renderLeaderService(cluster: CoordinationCluster): V1Service | null {
  const { leader } = cluster.spec.services;
  return leader.enabled ? renderService(cluster, namesOf(cluster).leader, leader, { [ROLE_LABEL]: "leader" }) : null;
}

function renderService(
  cluster: CoordinationCluster,
  name: string,
  { type, annotations, labels, loadBalancerClass, ipFamilyPolicy }: ClientServiceSpec | LeaderServiceSpec,
  further: Record<string, string>,
): V1Service {
  const extra = { ...(annotations && { annotations }), ...(labels && { labels }) };
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(cluster, name, extra),
    spec: {
      type,
      selector: { ...selectorOf(cluster), ...further },
      ports: servicePorts("grpc", "http"),
      ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }),
      ...(ipFamilyPolicy === undefined ? {} : { ipFamilyPolicy }),
    },
  };
}

/** A pod that is not ready may always be evicted: it does not count for the quorum. */
export function renderBudget(cluster: CoordinationCluster, minAvailable: number): V1PodDisruptionBudget {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: metadataOf(cluster, cluster.metadata.name),
    spec: {
      minAvailable,
      selector: { matchLabels: selectorOf(cluster) },
      // Also allows the eviction of running but unready pods, as long as enough others are ready.
      unhealthyPodEvictionPolicy: "IfHealthyBudget",
    },
  };
}

/** Members may read and label the pods of their own cluster, and no others. */
export function renderRights(cluster: CoordinationCluster): [V1ServiceAccount, V1Role, V1RoleBinding] {
  const { name } = cluster.metadata;
  const metadata = metadataOf(cluster, name);
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata, automountServiceAccountToken: false },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata,
      rules: [{ apiGroups: [""], resources: ["pods"], resourceNames: memberNames(cluster), verbs: ["get", "patch"] }],
    },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace: metadata.namespace ?? "default" }],
    },
  ];
}

/** Null if it is disabled. */
export function renderNetworkPolicy(cluster: CoordinationCluster, operatorNamespace: string): NetworkPolicy | null {
  const { enabled, clients } = cluster.spec.networkPolicy;
  if (!enabled) {
    return null;
  }
  const ports = (...names: PortName[]) => names.map((name) => ({ port: PORTS[name], protocol: "TCP" }));
  const own = { podSelector: { matchLabels: selectorOf(cluster) } };
  const operator = {
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": operatorNamespace } },
  };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: metadataOf(cluster, cluster.metadata.name),
    spec: {
      podSelector: { matchLabels: selectorOf(cluster) },
      policyTypes: ["Ingress"],
      ingress: [
        { ports: ports("grpc", "http"), ...(clients === undefined ? {} : { from: [...clients, own, operator] }) },
        { ports: ports("peer"), from: [own] },
        { ports: ports("admin"), from: [own, operator] },
        { ports: ports("health") },
      ],
    },
  };
}
