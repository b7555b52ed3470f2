/**
 * Specifications that the definition takes and that it refuses, as new objects or as changes of others. The schema and the
 * rules are tried with them without an API server, and by a real one, whose words may differ where no rule has a message.
 */

export interface AcceptedRequest {
  readonly what: string;
  readonly spec: object;
  /** Of the object that is there already; absent where there is none. */
  readonly from?: object;
}

export interface RefusedRequest extends AcceptedRequest {
  /** What the refusal names. */
  readonly field: string;
  /** Begins the message of the rule that refuses it; absent where it is the schema. */
  readonly message?: string;
}

/** Names of objects that the rules refuse, each with how their message begins, and some near them that they take. */
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
  { what: "the same size in other words", spec: { storage: { size: "8192Mi" } }, from: {} },
  { what: "another mode of certificates", spec: { tls: { mode: "Secret", secretName: "mine" } }, from: {} },
  { what: "resources as numbers", spec: { resources: { limits: { cpu: 2, memory: "1.5Gi" } } } },
];

/** Refused by the types, bounds and patterns of the schema. */
const REFUSED_BY_SCHEMA: readonly RefusedRequest[] = [
  { what: "two members", field: "spec.replicas", spec: { replicas: 2 } },
  { what: "four members", field: "spec.replicas", spec: { replicas: 4 } },
  { what: "a version with a letter before it", field: "spec.version", spec: { version: "v1.4.0" } },
  { what: "a version of two parts", field: "spec.version", spec: { version: "1.4" } },
  { what: "a version that cannot be a tag", field: "spec.version", spec: { version: "1.4.0+build" } },
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
    what: "an interval without a unit",
    field: "spec.monitoring.podMonitor.interval",
    spec: { monitoring: { podMonitor: { interval: "15" } } },
  },
  { what: "an unknown field", field: "spec.replica", spec: { replica: 3 } },
];

/** Refused by the rules in CEL, by which they are called. */
const REFUSED_BY_RULES: readonly RefusedRequest[] = [
  {
    what: "V1: two minor versions at once",
    field: "spec.version",
    message: "spec.version may move",
    spec: { version: "1.6.0" },
    from: { version: "1.4.0" },
  },
  {
    what: "V1: two minor versions back",
    field: "spec.version",
    message: "spec.version may move",
    spec: { version: "1.2.9" },
    from: { version: "1.4.0" },
  },
  {
    what: "V1: another major version",
    field: "spec.version",
    message: "spec.version may move",
    spec: { version: "2.4.0" },
    from: { version: "1.4.0" },
  },
  {
    what: "S1: a volume below 4Gi",
    field: "spec.storage.size",
    message: "spec.storage.size must be",
    spec: { storage: { size: "4095Mi" } },
  },
  {
    what: "S1: a size that is none",
    field: "spec.storage.size",
    message: "spec.storage.size must be",
    spec: { storage: { size: "big" } },
  },
  {
    what: "S2: a smaller volume",
    field: "spec.storage.size",
    message: "spec.storage.size may only",
    spec: { storage: { size: "8Gi" } },
    from: { storage: { size: "9Gi" } },
  },
  {
    what: "S3: a first storage class",
    field: "spec.storage.storageClassName",
    message: "spec.storage.storageClassName cannot",
    spec: { storage: { storageClassName: "fast" } },
    from: {},
  },
  {
    what: "S3: no storage class any more",
    field: "spec.storage.storageClassName",
    message: "spec.storage.storageClassName cannot",
    spec: {},
    from: { storage: { storageClassName: "fast" } },
  },
  {
    what: "S3: another storage class",
    field: "spec.storage.storageClassName",
    message: "spec.storage.storageClassName cannot",
    spec: { storage: { storageClassName: "slow" } },
    from: { storage: { storageClassName: "fast" } },
  },
  {
    what: "T1: CertManager without an issuer",
    field: "spec.tls.issuerRef",
    message: "spec.tls.issuerRef must",
    spec: { tls: { mode: "CertManager" } },
  },
  {
    what: "T1: an issuer for nothing",
    field: "spec.tls.issuerRef",
    message: "spec.tls.issuerRef must",
    spec: { tls: { issuerRef: { name: "internal" } } },
  },
  {
    what: "T2: Secret without a name",
    field: "spec.tls.secretName",
    message: "spec.tls.secretName must",
    spec: { tls: { mode: "Secret" } },
  },
  {
    what: "T2: a secret for nothing",
    field: "spec.tls.secretName",
    message: "spec.tls.secretName must",
    spec: { tls: { mode: "Off", secretName: "mine" } },
  },
  {
    what: "T3: plain text from now on",
    field: "spec.tls.mode",
    message: "spec.tls.mode cannot",
    spec: { tls: { mode: "Off" } },
    from: {},
  },
  {
    what: "T3: certificates from now on",
    field: "spec.tls.mode",
    message: "spec.tls.mode cannot",
    spec: {},
    from: { tls: { mode: "Off" } },
  },
  {
    what: "T4: renewal before the beginning",
    field: "spec.tls.renewBeforeDays",
    message: "spec.tls.renewBeforeDays must",
    spec: { tls: { certificateDays: 30 } },
  },
  {
    what: "L1: a label of ours",
    field: "spec.podTemplate.metadata.labels",
    message: "spec.podTemplate.metadata.labels must",
    spec: { podTemplate: { metadata: { labels: { "quoin.dev/role": "leader" } } } },
  },
  {
    what: "L1: a common label that selects",
    field: "spec.podTemplate.metadata.labels",
    message: "spec.podTemplate.metadata.labels must",
    spec: { podTemplate: { metadata: { labels: { "app.kubernetes.io/instance": "other" } } } },
  },
  {
    what: "L1: an annotation of ours",
    field: "spec.podTemplate.metadata.annotations",
    message: "spec.podTemplate.metadata.annotations must",
    spec: { podTemplate: { metadata: { annotations: { "quoin.dev/term": "1" } } } },
  },
];

export const REFUSED: readonly RefusedRequest[] = [...REFUSED_BY_SCHEMA, ...REFUSED_BY_RULES];
