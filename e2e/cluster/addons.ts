/** Cluster add-ons besides Kubernetes itself: DNS for Services, and volumes. */

import { join } from "node:path";
import { run } from "../../testing/index.ts";
import type { Binaries } from "./binaries.ts";
import type { ClusterImages } from "./images.ts";
import { type ProcessPlan, startProcess } from "./processes.ts";
import { CLUSTER_DOMAIN, DNS_ADDRESS, type Site } from "./site.ts";
import { PROVISIONER, VOLUME_CLASS } from "./volumes.ts";

const DNS = "coredns";
const DNS_NAMESPACE = "kube-system";
/** One of them survives the loss of a node. */
const DNS_REPLICAS = 2;
const DNS_PORT = 1053;
/** How long servers and clients cache answers. In these clusters pods come and go within seconds. */
const DNS_SECONDS = 2;
const NOBODY_USER_ID = 65532;

/** Only names of the cluster have an answer. */
const COREFILE = `.:${DNS_PORT} {
  errors
  health :8080
  ready :8181
  cache ${DNS_SECONDS}
  kubernetes ${CLUSTER_DOMAIN} in-addr.arpa ip6.arpa {
    pods insecure
    ttl ${DNS_SECONDS}
  }
}
`;

/** Starts the add-ons; they become ready some time later. */
export async function startAddons(site: Site, binaries: Binaries, images: ClusterImages): Promise<void> {
  const kubectl = join(binaries.kube, "kubectl");
  const objects = [...dnsObjects(images.coredns.image), storageClass()];
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  await run(kubectl, ["--kubeconfig", site.path("control", "admin.kubeconfig"), "apply", "--filename", "-"], {
    input: list,
  });
  startProcess(site, provisionerPlan(site));
}

function provisionerPlan(site: Site): ProcessPlan {
  const program = join(import.meta.dirname, "volume-provisioner.ts");
  return { name: "volume-provisioner", command: [process.execPath, program, site.name] };
}

/** The default storage class. It creates volumes on the node of their first pod. */
function storageClass(): object {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: VOLUME_CLASS, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: PROVISIONER,
    volumeBindingMode: "WaitForFirstConsumer",
    reclaimPolicy: "Delete",
    allowVolumeExpansion: true,
  };
}

function dnsObjects(image: string): object[] {
  const metadata = { name: DNS, namespace: DNS_NAMESPACE };
  const resources = ["endpoints", "services", "pods", "namespaces"];
  const rules = [
    { apiGroups: [""], resources, verbs: ["list", "watch"] },
    { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
  ];
  const role = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: DNS };
  const ports = ["UDP", "TCP"].map((protocol) => ({
    name: `dns-${protocol.toLowerCase()}`,
    protocol,
    port: 53,
    targetPort: DNS_PORT,
  }));
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: DNS }, rules },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: DNS },
      roleRef: role,
      subjects: [{ kind: "ServiceAccount", ...metadata }],
    },
    { apiVersion: "v1", kind: "ConfigMap", metadata, data: { Corefile: COREFILE } },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { clusterIP: DNS_ADDRESS, selector: { app: DNS }, ports },
    },
    dnsDeployment(image),
  ];
}

function dnsDeployment(image: string): object {
  const labels = { app: DNS };
  const spread = {
    maxSkew: 1,
    topologyKey: "kubernetes.io/hostname",
    whenUnsatisfiable: "DoNotSchedule",
    labelSelector: { matchLabels: labels },
  };
  const container = {
    name: DNS,
    image,
    args: ["-conf", "/etc/coredns/Corefile"],
    readinessProbe: { httpGet: { path: "/ready", port: 8181 }, periodSeconds: 2 },
    livenessProbe: { httpGet: { path: "/health", port: 8080 } },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
    volumeMounts: [{ name: "config", mountPath: "/etc/coredns" }],
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: DNS, namespace: DNS_NAMESPACE },
    spec: {
      replicas: DNS_REPLICAS,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: DNS,
          priorityClassName: "system-cluster-critical",
          dnsPolicy: "Default",
          securityContext: {
            runAsNonRoot: true,
            runAsUser: NOBODY_USER_ID,
            seccompProfile: { type: "RuntimeDefault" },
          },
          topologySpreadConstraints: [spread],
          containers: [container],
          volumes: [{ name: "config", configMap: { name: DNS } }],
        },
      },
    },
  };
}
