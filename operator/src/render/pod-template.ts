/**
 * The pod template of a member. It follows from the CoordinationCluster alone, not from the number of members: a new
 * operator must not restart any member. `spec.version` selects what newer members need.
 */
import { createHash } from "node:crypto";
import type {
  V1Container,
  V1EnvVar,
  V1PodSpec,
  V1PodTemplateSpec,
  V1Volume,
  V1VolumeMount,
} from "@kubernetes/client-node";
import type { CoordinationCluster } from "../generated/coordination-cluster.ts";
import { memoryLimitOf } from "../quantity/index.ts";
import { backupArguments, type MemberStores, restoreArguments, storeMounts, storeVolumes } from "./backup.ts";
import { CLUSTER_LABEL, labelsOf, memberNames, namesOf, PORTS, peerDomainOf } from "./names.ts";
import { GRACE_SECONDS, overlay } from "./overlay.ts";

const USER_ID = 10_001;
const DATA = "/data";
const IDENTITY = "/etc/quoin/identity";
const AUTHORITIES = "/etc/quoin/ca";
const SERVER_TLS = "/etc/quoin/tls";
const TOKENS = "/etc/quoin/tokens";
/** Members start within about two seconds, and each step of a roll waits for the next probe. */
const STARTUP_PERIOD_SECONDS = 1;
/** Services route to a pod for up to a second after it has become unready; longer on nodes that update less often. */
const LINGER_MS = 2_500;
const MEBIBYTE = 1024 ** 2;
const RESTART = "quoin.dev/restart";

/**
 * @param stores null for members that write no backups, and for those of a cluster that is not founded from a backup
 * @throws OverlayError if the overlay in the specification changes a part that a member depends on
 */
export function renderPodTemplate(cluster: CoordinationCluster, stores: MemberStores): V1PodTemplateSpec {
  const { podTemplate } = cluster.spec;
  const restart = cluster.metadata.annotations?.[RESTART];
  return {
    metadata: {
      labels: { ...podTemplate?.metadata?.labels, ...labelsOf(cluster) },
      annotations: {
        ...podTemplate?.metadata?.annotations,
        "quoin.dev/version": versionOf(cluster),
        ...(restart === undefined ? {} : { [RESTART]: restart }),
      },
    },
    spec: overlay(renderPod(cluster, stores), podTemplate?.spec ?? {}),
  };
}

/** The same text for the same template, whatever the order of its fields. */
export function templateHashOf(template: V1PodTemplateSpec): string {
  const sorted = JSON.stringify(template, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash("sha256").update(sorted).digest("hex").slice(0, 32);
}

export function versionOf({ metadata, spec }: CoordinationCluster): string {
  if (spec.version === undefined) {
    throw new Error(
      `${metadata.name} names no version: the operator must write it into the specification before it renders`,
    );
  }
  return spec.version;
}

function imageOf(cluster: CoordinationCluster): string {
  const { repository, tag, digest } = cluster.spec.image;
  if (repository === undefined) {
    throw new Error(
      `${cluster.metadata.name} names no image: the operator must write it into the specification before it renders`,
    );
  }
  return digest === undefined ? `${repository}:${tag ?? versionOf(cluster)}` : `${repository}@${digest}`;
}

function renderPod(cluster: CoordinationCluster, stores: MemberStores): V1PodSpec {
  const { image, scheduling, security, services } = cluster.spec;
  const ids = { runAsUser: USER_ID, runAsGroup: USER_ID, fsGroup: USER_ID, fsGroupChangePolicy: "OnRootMismatch" };
  return {
    serviceAccountName: cluster.metadata.name,
    // Members talk to the API server only to label the leader's pod.
    automountServiceAccountToken: services.leader.enabled,
    enableServiceLinks: false,
    restartPolicy: "Always",
    terminationGracePeriodSeconds: GRACE_SECONDS,
    securityContext: {
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
      ...(security.userIds === "Fixed" ? ids : {}),
    },
    ...(image.pullSecrets === undefined ? {} : { imagePullSecrets: image.pullSecrets }),
    ...renderSpread(cluster, scheduling.spread),
    containers: [renderMember(cluster, stores)],
    volumes: [...renderVolumes(cluster), ...storeVolumes(stores)],
  };
}

/** By node if possible, or always; by zone if possible. */
function renderSpread(cluster: CoordinationCluster, spread: "Preferred" | "Required" | "None"): Partial<V1PodSpec> {
  // The user's own affinity or spread constraints replace both.
  const own = cluster.spec.podTemplate?.spec ?? {};
  if (spread === "None" || "affinity" in own || "topologySpreadConstraints" in own) {
    return {};
  }
  const labelSelector = { matchLabels: { [CLUSTER_LABEL]: cluster.metadata.name } };
  const term = { labelSelector, topologyKey: "kubernetes.io/hostname" };
  const podAntiAffinity =
    spread === "Required"
      ? { requiredDuringSchedulingIgnoredDuringExecution: [term] }
      : { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }] };
  const byZone = {
    maxSkew: 1,
    topologyKey: "topology.kubernetes.io/zone",
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector,
  };
  return { affinity: { podAntiAffinity }, topologySpreadConstraints: [byZone] };
}

function renderMember(cluster: CoordinationCluster, stores: MemberStores): V1Container {
  const { backup, restore } = stores;
  const { image, resources, update } = cluster.spec;
  const check = (path: string) => ({ httpGet: { path, port: "health" } });
  return {
    name: "quoin",
    image: imageOf(cluster),
    imagePullPolicy: image.pullPolicy,
    command: ["quoin-node"],
    args: [
      ...renderArguments(cluster),
      ...(backup === null ? [] : backupArguments(backup)),
      ...(restore === null ? [] : restoreArguments(restore, backup)),
    ],
    env: renderEnvironment(cluster),
    ports: Object.entries(PORTS).map(([name, containerPort]) => ({ name, containerPort, protocol: "TCP" })),
    // Quantities may be numbers in the specification. Here they are text, as the API server returns them.
    resources: Object.fromEntries(
      Object.entries(resources).map(([kind, amounts]) => [
        kind,
        Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)])),
      ]),
    ),
    startupProbe: {
      ...check("/startupz"),
      periodSeconds: STARTUP_PERIOD_SECONDS,
      failureThreshold: Math.ceil(update.startupBudgetSeconds / STARTUP_PERIOD_SECONDS),
    },
    livenessProbe: { ...check("/livez"), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
    // Three failures of two seconds outlast an election.
    readinessProbe: { ...check("/readyz"), periodSeconds: 2, failureThreshold: 3 },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    volumeMounts: [...renderMounts(cluster), ...storeMounts(stores)],
  };
}

function renderArguments(cluster: CoordinationCluster): string[] {
  const self = "$(QUOIN_MEMBER_NAME).$(QUOIN_PEER_DOMAIN)";
  const tls = [
    `--tls-cert=${SERVER_TLS}/tls.crt`,
    `--tls-key=${SERVER_TLS}/tls.key`,
    `--peer-cert=${SERVER_TLS}/tls.crt`,
    `--peer-key=${SERVER_TLS}/tls.key`,
    `--peer-ca=${AUTHORITIES}/ca.crt`,
    "--peer-join-name=*.$(QUOIN_PEER_DOMAIN)",
  ];
  return [
    "--name=$(QUOIN_MEMBER_NAME)",
    `--cluster-name=${cluster.metadata.name}`,
    `--data-dir=${DATA}`,
    // The pod has the address families of its Kubernetes cluster: IPv4, IPv6, or both.
    ...Object.entries(PORTS).map(([name, port]) => `--${name}=*:${port}`),
    `--advertise-grpc=${self}:${PORTS.grpc}`,
    `--advertise-http=${self}:${PORTS.http}`,
    `--advertise-peer=${self}:${PORTS.peer}`,
    ...memberNames(cluster).map((name) => `--seed=${name}.$(QUOIN_PEER_DOMAIN):${PORTS.peer}`),
    `--join-token-file=${TOKENS}/join`,
    `--admin-token-file=${TOKENS}/admin`,
    `--founding-record=${IDENTITY}`,
    "--dial-hint=$(QUOIN_POD_IP)",
    `--linger-ms=${LINGER_MS}`,
    ...(cluster.spec.services.leader.enabled ? ["--label-pod-in=$(QUOIN_NAMESPACE)"] : []),
    ...(cluster.spec.tls.mode === "Off" ? [] : tls),
  ];
}

function renderEnvironment(cluster: CoordinationCluster): V1EnvVar[] {
  const from = (name: string, fieldPath: string): V1EnvVar => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const heap = heapMebibytesOf(cluster);
  return [
    from("QUOIN_MEMBER_NAME", "metadata.name"),
    from("QUOIN_NAMESPACE", "metadata.namespace"),
    { name: "QUOIN_PEER_DOMAIN", value: peerDomainOf(cluster) },
    // DNS does not know new pods yet: servers cache that a name does not exist.
    from("QUOIN_POD_IP", "status.podIP"),
    // The stores read and write in libuv's threads.
    { name: "UV_THREADPOOL_SIZE", value: "16" },
    ...(heap === undefined ? [] : [{ name: "NODE_OPTIONS", value: `--max-old-space-size=${heap}` }]),
    ...renderCorsOrigins(cluster),
    ...renderTracing(cluster),
  ];
}

/** A variable rather than a flag: members of former versions ignore it. */
function renderCorsOrigins({ spec }: CoordinationCluster): V1EnvVar[] {
  const { corsOrigins = [] } = spec.services;
  return corsOrigins.length === 0 ? [] : [{ name: "QUOIN_CORS_ORIGINS", value: corsOrigins.join() }];
}

/** Variables rather than flags: members of versions before tracing ignore them. */
function renderTracing({ spec }: CoordinationCluster): V1EnvVar[] {
  const { tracing } = spec;
  return tracing === undefined
    ? []
    : [
        { name: "OTEL_EXPORTER_OTLP_ENDPOINT", value: tracing.endpoint },
        { name: "OTEL_TRACES_SAMPLER", value: "parentbased_traceidratio" },
        { name: "OTEL_TRACES_SAMPLER_ARG", value: String(tracing.ratio) },
        { name: "QUOIN_TRACE_SLOW_MS", value: String(tracing.slowRequestMs) },
      ];
}

/** Half of the memory limit; the other half is for the stores' caches and for buffers. Undefined without a limit. */
function heapMebibytesOf({ spec }: CoordinationCluster): number | undefined {
  const bytes = memoryLimitOf(spec)?.bytes;
  return bytes === undefined ? undefined : Math.floor(bytes / 2 / MEBIBYTE);
}

function renderMounts({ spec }: CoordinationCluster): V1VolumeMount[] {
  const secret = (name: string, mountPath: string): V1VolumeMount => ({ name, mountPath, readOnly: true });
  return [
    { name: "data", mountPath: DATA },
    secret("identity", IDENTITY),
    ...(spec.tls.mode === "Off" ? [] : [secret("ca", AUTHORITIES), secret("server-tls", SERVER_TLS)]),
    secret("tokens", TOKENS),
    { name: "tmp", mountPath: "/tmp" },
  ];
}

/** Files rather than variables, so that changes reach a running member. */
function renderVolumes(cluster: CoordinationCluster): V1Volume[] {
  const names = namesOf(cluster);
  const { tls } = cluster.spec;
  const certificates: V1Volume[] = [
    { name: "ca", configMap: { name: names.authorities } },
    { name: "server-tls", secret: { secretName: tls.secretName ?? names.serverTls } },
  ];
  return [
    // The identity is created after the first pod.
    { name: "identity", configMap: { name: names.identity, optional: true } },
    ...(tls.mode === "Off" ? [] : certificates),
    { name: "tokens", secret: { secretName: names.tokens } },
    { name: "tmp", emptyDir: {} },
  ];
}
