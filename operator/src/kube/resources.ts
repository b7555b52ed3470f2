/** The kinds that the operator reads or writes, with their API paths. */

interface Resource {
  readonly apiVersion: string;
  readonly plural: string;
  /** Whether the kind is cluster-scoped. */
  readonly clusterScoped?: true;
}

const RESOURCES = {
  ConfigMap: { apiVersion: "v1", plural: "configmaps" },
  PersistentVolumeClaim: { apiVersion: "v1", plural: "persistentvolumeclaims" },
  Pod: { apiVersion: "v1", plural: "pods" },
  Secret: { apiVersion: "v1", plural: "secrets" },
  Service: { apiVersion: "v1", plural: "services" },
  ServiceAccount: { apiVersion: "v1", plural: "serviceaccounts" },
  StatefulSet: { apiVersion: "apps/v1", plural: "statefulsets" },
  PodDisruptionBudget: { apiVersion: "policy/v1", plural: "poddisruptionbudgets" },
  NetworkPolicy: { apiVersion: "networking.k8s.io/v1", plural: "networkpolicies" },
  Role: { apiVersion: "rbac.authorization.k8s.io/v1", plural: "roles" },
  RoleBinding: { apiVersion: "rbac.authorization.k8s.io/v1", plural: "rolebindings" },
  StorageClass: { apiVersion: "storage.k8s.io/v1", plural: "storageclasses", clusterScoped: true },
  Lease: { apiVersion: "coordination.k8s.io/v1", plural: "leases" },
  Event: { apiVersion: "events.k8s.io/v1", plural: "events" },
  CustomResourceDefinition: {
    apiVersion: "apiextensions.k8s.io/v1",
    plural: "customresourcedefinitions",
    clusterScoped: true,
  },
  CoordinationCluster: { apiVersion: "quoin.dev/v1alpha1", plural: "coordinationclusters" },
  CoordinationBackupStore: { apiVersion: "quoin.dev/v1alpha1", plural: "coordinationbackupstores" },
  CoordinationBackup: { apiVersion: "quoin.dev/v1alpha1", plural: "coordinationbackups" },
  CoordinationBackupSchedule: { apiVersion: "quoin.dev/v1alpha1", plural: "coordinationbackupschedules" },
  Certificate: { apiVersion: "cert-manager.io/v1", plural: "certificates" },
  PodMonitor: { apiVersion: "monitoring.coreos.com/v1", plural: "podmonitors" },
  PrometheusRule: { apiVersion: "monitoring.coreos.com/v1", plural: "prometheusrules" },
} as const satisfies Record<string, Resource>;

export type Kind = keyof typeof RESOURCES;

/** One object. The namespace is empty for cluster-scoped kinds. */
export interface Reference {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}

export function isKind(text: string): text is Kind {
  return Object.hasOwn(RESOURCES, text);
}

export function apiVersionOf(kind: Kind): string {
  return RESOURCES[kind].apiVersion;
}

/** @param namespace empty for all namespaces */
export function collectionPath(kind: Kind, namespace: string): string {
  const { apiVersion, plural, ...rest }: Resource = RESOURCES[kind];
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const isNamespaced = rest.clusterScoped === undefined && namespace !== "";
  return isNamespaced ? `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}` : `${root}/${plural}`;
}

export function objectPath({ kind, namespace, name }: Reference): string {
  return `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}`;
}
