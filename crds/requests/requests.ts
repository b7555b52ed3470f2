/**
 * Sample specifications that the definition must admit or refuse, as creations or as updates. Specs try them without an
 * API server and with a real one. Where no rule gives the message, the words of the real one may differ.
 */

export interface AcceptedRequest {
  readonly what: string;
  readonly spec: object;
  /** Specification of the existing object; absent for a creation. */
  readonly from?: object;
  /** Status of the existing object; absent if the operator has written none yet. */
  readonly status?: object;
}

export interface RefusedRequest extends AcceptedRequest {
  /** The field that the refusal names. */
  readonly field: string;
  /** Beginning of the message of the rule that refuses the object; absent if the schema refuses it. */
  readonly message?: string;
}

/** Object names that the rules refuse, with the beginning of the message, and similar names that they admit. */
export const NAMES = {
  refused: [
    { names: ["1st", "a-", "A", "a.b", "a".repeat(41)], message: "metadata.name must be 1 to 40" },
    {
      names: ["-peers", "-leader", "-identity", "-ca", "-tokens", "-owner", "-server-tls"].map((end) => `demo${end}`),
      message: "metadata.name must not end",
    },
  ],
  accepted: ["a", "a-1", "a".repeat(40), "peers"],
} as const;

export const PRODUCTION = {
  replicas: 5,
  version: "1.4.0",
  image: { repository: "registry.example/quoin", pullSecrets: [{ name: "registry" }] },
  storage: { size: "50Gi", storageClassName: "fast", whenDeleted: "Retain", whenScaled: "Delete" },
  resources: { requests: { cpu: "1", memory: "2Gi" }, limits: { memory: "4Gi" } },
  scheduling: { spread: "Required" },
  podTemplate: {
    metadata: { annotations: { team: "platform" } },
    spec: { priorityClassName: "high", tolerations: [{ key: "coordination", operator: "Exists" }] },
  },
  tls: {
    mode: "CertManager",
    issuerRef: { name: "internal", kind: "ClusterIssuer" },
    extraDnsNames: ["quoin.example.com"],
  },
  access: { ownerSecretRef: { name: "prod-admin" } },
  settings: {
    duplicateWindowSeconds: 3600,
    rateLimits: { grpc: { requests: 60_000, windowSeconds: 60, burst: 2000 } },
  },
  services: { client: { type: "LoadBalancer", annotations: { "example.com/internal": "true" } } },
  networkPolicy: { enabled: true, clients: [{ namespaceSelector: {} }] },
  monitoring: { podMonitor: { enabled: true, interval: "15s" }, rules: { enabled: true } },
};

export const ACCEPTED: readonly AcceptedRequest[] = [
  { what: "the smallest object", spec: { replicas: 3 } },
  { what: "an object of production", spec: PRODUCTION },
  { what: "the same again", spec: PRODUCTION, from: PRODUCTION },
  { what: "each number of members", spec: { replicas: 7 }, from: { replicas: 1 } },
  { what: "the next minor version", spec: { version: "1.5.2" }, from: { version: "1.4.0" } },
  { what: "the minor version before", spec: { version: "1.3.0" }, from: { version: "1.4.0" } },
  { what: "a first version", spec: { version: "3.0.0-rc.1" }, from: {} },
  { what: "a larger volume", spec: { storage: { size: "0.5Ti" } }, from: { storage: { size: "511Gi" } } },
  {
    what: "another storage class, before the operator has looked",
    spec: { storage: { storageClassName: "fast" } },
    from: { storage: { storageClassName: "fsat" } },
  },
  {
    what: "another storage class, while no volume is bound",
    spec: { storage: { storageClassName: "fast" } },
    from: { storage: { storageClassName: "fsat" } },
    status: { volumesBound: false },
  },
  {
    what: "the storage class that the volumes have",
    spec: { storage: { storageClassName: "fast" } },
    from: {},
    status: { volumesBound: true, storageClassName: "fast" },
  },
  {
    what: "a backup to found the cluster from",
    spec: { restoreFrom: { storeName: "store", backupName: "nightly", toTime: "2026-01-31T12:00:00Z" } },
  },
  {
    what: "another backup, before the cluster is founded",
    spec: { restoreFrom: { storeName: "store", toRevision: 7 } },
    from: { restoreFrom: { storeName: "stroe" } },
    status: { voters: 0 },
  },
  {
    what: "no other backup, when it is founded",
    spec: { replicas: 5, restoreFrom: { storeName: "store" } },
    from: { restoreFrom: { storeName: "store" } },
    status: { voters: 3 },
  },
  { what: "the same size in other words", spec: { storage: { size: "8192Mi" } }, from: {} },
  { what: "another mode of certificates", spec: { tls: { mode: "Secret", secretName: "mine" } }, from: {} },
  { what: "the least memory", spec: { resources: { limits: { memory: 1024 ** 3 } } } },
  { what: "no limit of memory", spec: { resources: { limits: { cpu: "4" } } } },
  { what: "a registry with a port", spec: { image: { repository: "registry.example:5000/quoin" } } },
  {
    what: "pods with more than a member needs",
    spec: {
      podTemplate: {
        spec: {
          nodeSelector: { disk: "fast" },
          terminationGracePeriodSeconds: 40,
          hostNetwork: false,
          initContainers: [{ name: "prepare", image: "busybox", command: ["true"] }],
          containers: [
            {
              name: "quoin",
              env: [{ name: "TZ", value: "UTC" }],
              volumeMounts: [{ name: "mail", mountPath: "/etc/mail", readOnly: true }],
              resources: { limits: { cpu: 4 } },
            },
            { name: "sidecar", image: "sidecar:1", args: ["--all"], ports: [{ name: "web", containerPort: 8080 }] },
          ],
          volumes: [{ name: "mail", secret: { secretName: "mail" } }],
        },
      },
    },
  },
  {
    what: "origins of pages",
    spec: { services: { corsOrigins: ["https://console.example.com", "http://localhost:3000", "http://[::1]:8080"] } },
  },
  { what: "resources as numbers", spec: { resources: { limits: { cpu: 2, memory: "1.5Gi" } } } },
];

/** Refused by the types, bounds and patterns of the schema. */
const REFUSED_BY_SCHEMA: readonly RefusedRequest[] = [
  { what: "two members", field: "spec.replicas", spec: { replicas: 2 } },
  { what: "four members", field: "spec.replicas", spec: { replicas: 4 } },
  { what: "a version with a letter before it", field: "spec.version", spec: { version: "v1.4.0" } },
  { what: "a version of two parts", field: "spec.version", spec: { version: "1.4" } },
  { what: "a version that cannot be a tag", field: "spec.version", spec: { version: "1.4.0+build" } },
  {
    what: "a repository with a tag",
    field: "spec.image.repository",
    message: "spec.image.repository must not name a tag",
    spec: { image: { repository: "registry.example:5000/quoin:1.4.0" } },
  },
  { what: "a digest of another kind", field: "spec.image.digest", spec: { image: { digest: "md5:0" } } },
  {
    what: "nine pull secrets",
    field: "spec.image.pullSecrets",
    spec: { image: { pullSecrets: Array.from("abcdefghi", (name) => ({ name })) } },
  },
  { what: "another way of pulling", field: "spec.image.pullPolicy", spec: { image: { pullPolicy: "Sometimes" } } },
  { what: "another end of volumes", field: "spec.storage.whenDeleted", spec: { storage: { whenDeleted: "Recycle" } } },
  {
    what: "a limit that is no quantity",
    field: "spec.resources.limits.memory",
    spec: { resources: { limits: { memory: "much" } } },
  },
  {
    what: "an issuer without a name",
    field: "spec.tls.issuerRef.name",
    spec: { tls: { mode: "CertManager", issuerRef: {} } },
  },
  {
    what: "an owner without an e-mail address",
    field: "spec.access.ownerEmail",
    spec: { access: { ownerEmail: "root" } },
  },
  {
    what: "a window of no length",
    field: "spec.settings.rateLimits.http.windowSeconds",
    spec: { settings: { rateLimits: { http: { windowSeconds: 0 } } } },
  },
  {
    what: "a token that lasts for ever",
    field: "spec.settings.tokenSeconds",
    spec: { settings: { tokenSeconds: 0 } },
  },
  { what: "a soak that goes back in time", field: "spec.update.soakSeconds", spec: { update: { soakSeconds: -1 } } },
  {
    what: "a Service of another type",
    field: "spec.services.client.type",
    spec: { services: { client: { type: "ExternalName" } } },
  },
  {
    what: "an origin with a path",
    field: "spec.services.corsOrigins",
    spec: { services: { corsOrigins: ["https://console.example.com/"] } },
  },
  {
    what: "an interval without a unit",
    field: "spec.monitoring.podMonitor.interval",
    spec: { monitoring: { podMonitor: { interval: "15" } } },
  },
  { what: "an unknown field", field: "spec.replica", spec: { replica: 3 } },
];

/** An overlay of the container of the member. */
function member(fields: object): object {
  return { containers: [{ name: "quoin", ...fields }] };
}

/** Refused by the CEL rules. */
const REFUSED_BY_RULES: readonly RefusedRequest[] = [
  {
    what: "two minor versions at once",
    field: "spec.version",
    message: "spec.version may move",
    spec: { version: "1.6.0" },
    from: { version: "1.4.0" },
  },
  {
    what: "two minor versions back",
    field: "spec.version",
    message: "spec.version may move",
    spec: { version: "1.2.9" },
    from: { version: "1.4.0" },
  },
  {
    what: "another major version",
    field: "spec.version",
    message: "spec.version may move",
    spec: { version: "2.4.0" },
    from: { version: "1.4.0" },
  },
  {
    what: "a volume below 4Gi",
    field: "spec.storage.size",
    message: "spec.storage.size must be",
    spec: { storage: { size: "4095Mi" } },
  },
  {
    what: "a size that is none",
    field: "spec.storage.size",
    message: "spec.storage.size must be",
    spec: { storage: { size: "big" } },
  },
  {
    what: "too little memory",
    field: "spec.resources.limits",
    message: "spec.resources.limits.memory must be at least 1Gi",
    spec: { resources: { limits: { memory: "128Mi" } } },
  },
  {
    what: "too little memory, as a number",
    field: "spec.resources.limits",
    message: "spec.resources.limits.memory must be at least 1Gi",
    spec: { resources: { limits: { memory: 1024 ** 3 - 1 } } },
  },
  {
    what: "a smaller volume",
    field: "spec.storage.size",
    message: "spec.storage.size may only",
    spec: { storage: { size: "8Gi" } },
    from: { storage: { size: "9Gi" } },
  },
  {
    what: "another backup for a cluster that is founded",
    field: "spec.restoreFrom",
    message: "spec.restoreFrom cannot",
    spec: { restoreFrom: { storeName: "other" } },
    from: { restoreFrom: { storeName: "store" } },
    status: { voters: 1 },
  },
  {
    what: "a backup for a cluster that is founded",
    field: "spec.restoreFrom",
    message: "spec.restoreFrom cannot",
    spec: { restoreFrom: { storeName: "store" } },
    from: {},
    status: { voters: 3 },
  },
  {
    what: "a revision and a time",
    field: "spec.restoreFrom.toRevision",
    message: "spec.restoreFrom.toRevision and spec.restoreFrom.toTime exclude",
    spec: { restoreFrom: { storeName: "store", toRevision: 7, toTime: "2026-01-31T12:00:00Z" } },
  },
  {
    what: "a first storage class",
    field: "spec.storage.storageClassName",
    message: "spec.storage.storageClassName cannot",
    spec: { storage: { storageClassName: "fast" } },
    from: {},
    status: { volumesBound: true, storageClassName: "standard" },
  },
  {
    what: "no storage class any more",
    field: "spec.storage.storageClassName",
    message: "spec.storage.storageClassName cannot",
    spec: {},
    from: { storage: { storageClassName: "fast" } },
    status: { volumesBound: true, storageClassName: "fast" },
  },
  {
    what: "another storage class",
    field: "spec.storage.storageClassName",
    message: "spec.storage.storageClassName cannot",
    spec: { storage: { storageClassName: "slow" } },
    from: { storage: { storageClassName: "fast" } },
    status: { volumesBound: true, storageClassName: "fast" },
  },
  {
    what: "CertManager without an issuer",
    field: "spec.tls.issuerRef",
    message: "spec.tls.issuerRef must",
    spec: { tls: { mode: "CertManager" } },
  },
  {
    what: "an issuer for nothing",
    field: "spec.tls.issuerRef",
    message: "spec.tls.issuerRef must",
    spec: { tls: { issuerRef: { name: "internal" } } },
  },
  {
    what: "Secret without a name",
    field: "spec.tls.secretName",
    message: "spec.tls.secretName must",
    spec: { tls: { mode: "Secret" } },
  },
  {
    what: "a secret for nothing",
    field: "spec.tls.secretName",
    message: "spec.tls.secretName must",
    spec: { tls: { mode: "Off", secretName: "mine" } },
  },
  {
    what: "plain text from now on",
    field: "spec.tls.mode",
    message: "spec.tls.mode cannot",
    spec: { tls: { mode: "Off" } },
    from: {},
  },
  {
    what: "certificates from now on",
    field: "spec.tls.mode",
    message: "spec.tls.mode cannot",
    spec: {},
    from: { tls: { mode: "Off" } },
  },
  {
    what: "an origin that no browser names so",
    field: "spec.services.corsOrigins",
    message: "spec.services.corsOrigins must",
    spec: { services: { corsOrigins: ["https://console.example.com:443"] } },
  },
  {
    what: "renewal before the beginning",
    field: "spec.tls.renewBeforeDays",
    message: "spec.tls.renewBeforeDays must",
    spec: { tls: { certificateDays: 30 } },
  },
  {
    what: "a label of ours",
    field: "spec.podTemplate.metadata.labels",
    message: "spec.podTemplate.metadata.labels must",
    spec: { podTemplate: { metadata: { labels: { "quoin.dev/role": "leader" } } } },
  },
  {
    what: "a common label that selects",
    field: "spec.podTemplate.metadata.labels",
    message: "spec.podTemplate.metadata.labels must",
    spec: { podTemplate: { metadata: { labels: { "app.kubernetes.io/instance": "other" } } } },
  },
  {
    what: "an annotation of ours",
    field: "spec.podTemplate.metadata.annotations",
    message: "spec.podTemplate.metadata.annotations must",
    spec: { podTemplate: { metadata: { annotations: { "quoin.dev/term": "1" } } } },
  },
  {
    what: "another account",
    field: "spec.podTemplate.spec.serviceAccountName",
    message: "spec.podTemplate.spec.serviceAccountName",
    spec: { podTemplate: { spec: { serviceAccountName: "admin" } } },
  },
  {
    what: "another account by its old name",
    field: "spec.podTemplate.spec.serviceAccount",
    message: "spec.podTemplate.spec.serviceAccount",
    spec: { podTemplate: { spec: { serviceAccount: "admin" } } },
  },
  {
    what: "another restart policy",
    field: "spec.podTemplate.spec.restartPolicy",
    message: "spec.podTemplate.spec.restartPolicy",
    spec: { podTemplate: { spec: { restartPolicy: "Never" } } },
  },
  {
    what: "a token of the account",
    field: "spec.podTemplate.spec.automountServiceAccountToken",
    message: "spec.podTemplate.spec.automountServiceAccountToken",
    spec: { podTemplate: { spec: { automountServiceAccountToken: true } } },
  },
  {
    what: "another host name",
    field: "spec.podTemplate.spec.hostname",
    message: "spec.podTemplate.spec.hostname",
    spec: { podTemplate: { spec: { hostname: "demo" } } },
  },
  {
    what: "another subdomain",
    field: "spec.podTemplate.spec.subdomain",
    message: "spec.podTemplate.spec.subdomain",
    spec: { podTemplate: { spec: { subdomain: "demo" } } },
  },
  {
    what: "the network of the node",
    field: "spec.podTemplate.spec.hostNetwork",
    message: "spec.podTemplate.spec.hostNetwork",
    spec: { podTemplate: { spec: { hostNetwork: true } } },
  },
  {
    what: "too little time to end",
    field: "spec.podTemplate.spec.terminationGracePeriodSeconds",
    message: "spec.podTemplate.spec.terminationGracePeriodSeconds",
    spec: { podTemplate: { spec: { terminationGracePeriodSeconds: 39 } } },
  },
  {
    what: "a volume of the member",
    field: "spec.podTemplate.spec.volumes[].name",
    message: "spec.podTemplate.spec.volumes[].name",
    spec: { podTemplate: { spec: { volumes: [{ name: "tokens", emptyDir: {} }] } } },
  },
  {
    what: "an init container named as the member",
    field: "spec.podTemplate.spec.initContainers[].name",
    message: "spec.podTemplate.spec.initContainers[].name",
    spec: { podTemplate: { spec: { initContainers: [{ name: "quoin", image: "busybox" }] } } },
  },
  {
    what: "another image",
    field: "spec.podTemplate.spec.containers[].image",
    message: "spec.podTemplate.spec.containers[].image",
    spec: { podTemplate: { spec: member({ image: "other" }) } },
  },
  {
    what: "another command",
    field: "spec.podTemplate.spec.containers[].command",
    message: "spec.podTemplate.spec.containers[].command",
    spec: { podTemplate: { spec: member({ command: ["sh"] }) } },
  },
  {
    what: "other arguments",
    field: "spec.podTemplate.spec.containers[].args",
    message: "spec.podTemplate.spec.containers[].args",
    spec: { podTemplate: { spec: member({ args: ["--help"] }) } },
  },
  {
    what: "another startup probe",
    field: "spec.podTemplate.spec.containers[].startupProbe",
    message: "spec.podTemplate.spec.containers[].startupProbe",
    spec: { podTemplate: { spec: member({ startupProbe: {} }) } },
  },
  {
    what: "another liveness probe",
    field: "spec.podTemplate.spec.containers[].livenessProbe",
    message: "spec.podTemplate.spec.containers[].livenessProbe",
    spec: { podTemplate: { spec: member({ livenessProbe: {} }) } },
  },
  {
    what: "another readiness probe",
    field: "spec.podTemplate.spec.containers[].readinessProbe",
    message: "spec.podTemplate.spec.containers[].readinessProbe",
    spec: { podTemplate: { spec: member({ readinessProbe: {} }) } },
  },
  {
    what: "hooks of the member",
    field: "spec.podTemplate.spec.containers[].lifecycle",
    message: "spec.podTemplate.spec.containers[].lifecycle",
    spec: { podTemplate: { spec: member({ lifecycle: {} }) } },
  },
  {
    what: "ports of the member",
    field: "spec.podTemplate.spec.containers[].ports",
    message: "spec.podTemplate.spec.containers[].ports",
    spec: { podTemplate: { spec: member({ ports: [] }) } },
  },
  {
    what: "a sidecar on a port of the member",
    field: "spec.podTemplate.spec.containers[].ports",
    message: "spec.podTemplate.spec.containers[].ports",
    spec: { podTemplate: { spec: { containers: [{ name: "sidecar", ports: [{ containerPort: 7403 }] }] } } },
  },
  {
    what: "an environment variable of the member",
    field: "spec.podTemplate.spec.containers[].env",
    message: "spec.podTemplate.spec.containers[].env",
    spec: { podTemplate: { spec: member({ env: [{ name: "QUOIN_POD_IP", value: "::1" }] }) } },
  },
  {
    what: "options of Node, with a memory limit",
    field: "spec.podTemplate",
    message: "must not set NODE_OPTIONS while there is a memory limit",
    spec: { podTemplate: { spec: member({ env: [{ name: "NODE_OPTIONS", value: "--trace-gc" }] }) } },
  },
  {
    what: "too little memory in the overlay",
    field: "spec.podTemplate.spec.containers[].resources",
    message: "spec.podTemplate.spec.containers[].resources.limits.memory",
    spec: { podTemplate: { spec: member({ resources: { limits: { memory: "512Mi" } } }) } },
  },
  {
    what: "a mount of the member",
    field: "spec.podTemplate.spec.containers[].volumeMounts",
    message: "spec.podTemplate.spec.containers[].volumeMounts",
    spec: { podTemplate: { spec: member({ volumeMounts: [{ name: "x", mountPath: "/data" }] }) } },
  },
];

export const REFUSED: readonly RefusedRequest[] = [...REFUSED_BY_SCHEMA, ...REFUSED_BY_RULES];
