/** Sample backup objects that the definitions must admit or refuse, as creations or as updates. */

export interface BackupRequest {
  readonly what: string;
  readonly plural: "coordinationbackupstores" | "coordinationbackups" | "coordinationbackupschedules";
  readonly spec: object;
  /** Specification of the existing object; absent for a creation. */
  readonly from?: object;
  readonly name?: string;
}

export interface RefusedBackupRequest extends BackupRequest {
  /** Names the field. If a CEL rule refuses the object, this is the beginning of its message. */
  readonly message: string;
}

const STORE = "coordinationbackupstores";
const BACKUP = "coordinationbackups";
const SCHEDULE = "coordinationbackupschedules";
const bucket = (s3: object): object => ({ s3: { bucket: "backups", ...s3 } });
const nightly = (further: object): object => ({ clusterName: "demo", schedule: "0 3 * * *", ...further });

export const ACCEPTED_BACKUPS: readonly BackupRequest[] = [
  { what: "a directory", plural: STORE, spec: { directory: { claimName: "backups" } } },
  { what: "a directory on a volume", plural: STORE, spec: { directory: { claimName: "backups", path: "quoin/a" } } },
  { what: "a bucket", plural: STORE, spec: bucket({}) },
  {
    what: "a store with all that it may have",
    plural: STORE,
    spec: {
      ...bucket({
        prefix: "quoin/prod",
        endpoint: "https://[fd00::1]:9000",
        region: "eu-1",
        pathStyle: true,
        caSecretRef: { name: "minio-ca" },
        credentialsSecretRef: { name: "minio" },
      }),
      encryption: { keysSecretRef: { name: "keys" } },
      retention: { count: 7, maxAgeDays: 30 },
    },
  },
  {
    what: "another endpoint, other keys and another retention of the same bucket",
    plural: STORE,
    spec: {
      ...bucket({ endpoint: "http://new.example:9000" }),
      encryption: { keysSecretRef: { name: "new" } },
      retention: { count: 1 },
    },
    from: { ...bucket({ endpoint: "http://old.example" }), retention: { maxAgeDays: 1 } },
  },
  { what: "a backup", plural: BACKUP, spec: { clusterName: "demo" } },
  {
    what: "the same backup again",
    plural: BACKUP,
    spec: { clusterName: "demo", allowLeaderless: false },
    from: { clusterName: "demo" },
  },
  { what: "a schedule", plural: SCHEDULE, spec: nightly({}), name: "a".repeat(63) },
  {
    what: "another schedule of another cluster",
    plural: SCHEDULE,
    spec: {
      clusterName: "other",
      schedule: "*/5  0-6 1,15 JAN MON#2",
      timeZone: "America/Argentina/Buenos_Aires",
      suspend: true,
      successfulHistoryLimit: 0,
    },
    from: nightly({}),
  },
];

export const REFUSED_BACKUPS: readonly RefusedBackupRequest[] = [
  {
    what: "a store that is nowhere",
    plural: STORE,
    spec: {},
    message: "spec must have either spec.directory or spec.s3",
  },
  {
    what: "a store in two places",
    plural: STORE,
    spec: { ...bucket({}), directory: { claimName: "backups" } },
    message: "spec must have either spec.directory or spec.s3",
  },
  {
    what: "a store that moves from a directory to a bucket",
    plural: STORE,
    spec: bucket({}),
    from: { directory: { claimName: "backups" } },
    message: "spec cannot move",
  },
  {
    what: "another claim",
    plural: STORE,
    spec: { directory: { claimName: "b" } },
    from: { directory: { claimName: "a" } },
    message: "spec.directory.claimName cannot be changed",
  },
  {
    what: "another directory",
    plural: STORE,
    spec: { directory: { claimName: "a", path: "b" } },
    from: { directory: { claimName: "a" } },
    message: "spec.directory.path cannot be changed",
  },
  {
    what: "a directory outside of the volume",
    plural: STORE,
    spec: { directory: { claimName: "a", path: "b/../.." } },
    message: "spec.directory.path must not have a part",
  },
  {
    what: "an absolute directory",
    plural: STORE,
    spec: { directory: { claimName: "a", path: "/b" } },
    message: "spec.directory.path",
  },
  {
    what: "another bucket",
    plural: STORE,
    spec: bucket({ bucket: "others" }),
    from: bucket({}),
    message: "spec.s3.bucket cannot be changed",
  },
  {
    what: "another prefix",
    plural: STORE,
    spec: bucket({ prefix: "b" }),
    from: bucket({ prefix: "a" }),
    message: "spec.s3.prefix cannot be changed",
  },
  {
    what: "a prefix with dots as a part",
    plural: STORE,
    spec: bucket({ prefix: "a/./b" }),
    message: "spec.s3.prefix must not have a part",
  },
  {
    what: "a prefix that begins with a slash",
    plural: STORE,
    spec: bucket({ prefix: "/a" }),
    message: "spec.s3.prefix",
  },
  {
    what: "a bucket with capital letters",
    plural: STORE,
    spec: bucket({ bucket: "Backups" }),
    message: "spec.s3.bucket",
  },
  {
    what: "credentials in an endpoint",
    plural: STORE,
    spec: bucket({ endpoint: "https://key:secret@minio" }),
    message: "spec.s3.endpoint",
  },
  {
    what: "authorities for an endpoint without certificates",
    plural: STORE,
    spec: bucket({ endpoint: "http://minio", caSecretRef: { name: "ca" } }),
    message: "spec.s3.caSecretRef needs a spec.s3.endpoint",
  },
  {
    what: "encryption without keys",
    plural: STORE,
    spec: { ...bucket({}), encryption: {} },
    message: "spec.encryption.keysSecretRef",
  },
  {
    what: "a retention that says nothing",
    plural: STORE,
    spec: { ...bucket({}), retention: {} },
    message: "spec.retention must have count, maxAgeDays or both",
  },
  {
    what: "a retention of nothing",
    plural: STORE,
    spec: { ...bucket({}), retention: { count: 0 } },
    message: "spec.retention.count",
  },
  { what: "a backup of no cluster", plural: BACKUP, spec: {}, message: "spec.clusterName" },
  {
    what: "a backup that turns to another cluster",
    plural: BACKUP,
    spec: { clusterName: "b" },
    from: { clusterName: "a" },
    message: "spec.clusterName cannot be changed",
  },
  {
    what: "a backup that does without a leader later",
    plural: BACKUP,
    spec: { clusterName: "a", allowLeaderless: true },
    from: { clusterName: "a" },
    message: "spec.allowLeaderless cannot be changed",
  },
  {
    what: "a schedule with seconds",
    plural: SCHEDULE,
    spec: nightly({ schedule: "0 0 3 * * *" }),
    message: "spec.schedule",
  },
  { what: "a schedule in a word", plural: SCHEDULE, spec: nightly({ schedule: "@daily" }), message: "spec.schedule" },
  {
    what: "a time zone that is an offset",
    plural: SCHEDULE,
    spec: nightly({ timeZone: "+01:00" }),
    message: "spec.timeZone",
  },
  {
    what: "backups beside each other",
    plural: SCHEDULE,
    spec: nightly({ concurrencyPolicy: "Allow" }),
    message: "spec.concurrencyPolicy",
  },
  {
    what: "a negative history",
    plural: SCHEDULE,
    spec: nightly({ failedHistoryLimit: -1 }),
    message: "spec.failedHistoryLimit",
  },
  {
    what: "a schedule with a name that is too long",
    plural: SCHEDULE,
    spec: nightly({}),
    name: "a".repeat(64),
    message: "metadata.name must have at most 63",
  },
];
