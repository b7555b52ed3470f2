/**
 * Flags and mounts of a member for its backups, and for the backup that its cluster is founded from. They follow from
 * the CoordinationCluster and the CoordinationBackupStores that it names.
 *
 * Secrets are optional in the pod: a member whose Secret was deleted must start, and reports itself that it cannot
 * write backups.
 */
import type { V1Volume, V1VolumeMount } from "@kubernetes/client-node";
import type { StoreSpec } from "../generated/coordination-backup-store.ts";
import type { BackupSpec, RestoreFromSpec } from "../generated/coordination-cluster.ts";

/** Keys in these Secrets, and names of the mounted files. */
export const KEYS_FILE = "keys";
export const CREDENTIALS_FILE = "credentials";
export const CA_FILE = "ca.crt";

/** Paths of a store's files and volume in a pod. */
interface StorePlaces {
  /** Also prefix of the volume names. */
  readonly name: string;
  readonly volume: string;
  readonly keys: string;
  readonly credentials: string;
  readonly authorities: string;
}

const BACKUP: StorePlaces = placesOf("backup");
const RESTORE: StorePlaces = placesOf("restore");

/** Backup settings of a cluster, and the store that it names. */
export interface BackupPlan {
  readonly backup: BackupSpec;
  readonly store: StoreSpec;
}

/** The backup that a cluster is founded from, and its store. */
export interface RestorePlan {
  readonly restoreFrom: RestoreFromSpec;
  readonly store: StoreSpec;
  /** Id of the snapshot to begin with; null for any. */
  readonly snapshotId: string | null;
}

/** Backup stores for a member. */
export interface MemberStores {
  readonly backup: BackupPlan | null;
  readonly restore: RestorePlan | null;
}

export const NO_STORES: MemberStores = { backup: null, restore: null };

export const LOCATION_FLAG = "--backup-store=";
export const RESTORE_FLAG = "--restore-from=";

/** @returns the store's location as members name it; without secrets */
export function locationOf({ directory, s3 }: StoreSpec, { volume, authorities }: StorePlaces = BACKUP): string {
  if (s3 === undefined) {
    return directory?.path === undefined ? volume : `${volume}/${directory.path}`;
  }
  const options: [string, string | undefined][] = [
    ["endpoint", s3.endpoint],
    ["region", s3.region],
    ["path-style", s3.pathStyle ? "true" : undefined],
    ["ca-file", s3.caSecretRef && `${authorities}/${CA_FILE}`],
  ];
  const given = options.filter((option): option is [string, string] => option[1] !== undefined);
  const query = new URLSearchParams(given).toString();
  return `s3://${s3.bucket}/${s3.prefix ?? ""}${query === "" ? "" : `?${query}`}`;
}

export function backupArguments({ backup, store }: BackupPlan): string[] {
  const { count, maxAgeDays } = store.retention ?? {};
  const retention = [
    ...(count === undefined ? [] : [`${count}`]),
    ...(maxAgeDays === undefined ? [] : [`${maxAgeDays}d`]),
  ];
  return [
    ...storeArguments(store),
    ...(backup.archive ? ["--backup-archive", `--backup-interval=${backup.interval}`] : []),
    ...(retention.length === 0 ? [] : [`--backup-retention=${retention.join(",")}`]),
  ];
}

/** @returns the flags for a store and its files */
export function storeArguments(store: StoreSpec): string[] {
  return [
    `${LOCATION_FLAG}${locationOf(store)}`,
    ...(store.encryption === undefined ? [] : [`--backup-key-file=${BACKUP.keys}/${KEYS_FILE}`]),
    ...(store.s3?.credentialsSecretRef === undefined
      ? []
      : [`--backup-credentials-file=${BACKUP.credentials}/${CREDENTIALS_FILE}`]),
  ];
}

/** @param backup of the new cluster: its keys are also those of the restore, unless the store of that has its own */
export function restoreArguments({ restoreFrom, store, snapshotId }: RestorePlan, backup: BackupPlan | null): string[] {
  const { clusterId, toRevision, toTime } = restoreFrom;
  const flags: [string, string | undefined][] = [
    ["restore-cluster-id", clusterId],
    ["restore-snapshot", snapshotId ?? undefined],
    ["restore-key-file", store.encryption && `${RESTORE.keys}/${KEYS_FILE}`],
    ["restore-credentials-file", store.s3?.credentialsSecretRef && `${RESTORE.credentials}/${CREDENTIALS_FILE}`],
    ["restore-to-revision", toRevision === undefined ? undefined : String(toRevision)],
    ["restore-to-time", toTime],
  ];
  const given = flags.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
  const isPlain = store.encryption === undefined && backup?.store.encryption !== undefined;
  return [restoreLocationArgument(store), ...given, ...(isPlain ? ["--restore-allow-unencrypted"] : [])];
}

/** @returns the flag that names the source of a restore */
export function restoreLocationArgument(store: StoreSpec): string {
  return `${RESTORE_FLAG}${locationOf(store, RESTORE)}`;
}

/** @returns the mounts of a pod that only reads the store */
export function readingMounts(store: StoreSpec): V1VolumeMount[] {
  return mountsOf(sourcesOf(store, BACKUP, false));
}

/** @returns the volumes of a pod that only reads the store */
export function readingVolumes(store: StoreSpec): V1Volume[] {
  return volumesOf(sourcesOf(store, BACKUP, false));
}

export function storeMounts(stores: MemberStores): V1VolumeMount[] {
  return mountsOf(sourcesIn(stores));
}

/** Files rather than variables, so that changed keys and credentials reach a running member. */
export function storeVolumes(stores: MemberStores): V1Volume[] {
  return volumesOf(sourcesIn(stores));
}

/** The sources of both stores. If they have one claim, they share its volume: a pod with two of one claim never starts. */
function sourcesIn({ backup, restore }: MemberStores): Source[] {
  const ofBackup = backup === null ? [] : sourcesOf(backup.store, BACKUP, true);
  const ofRestore = restore === null ? [] : sourcesOf(restore.store, RESTORE, false);
  const claimName = backup?.store.directory?.claimName;
  const shared = ofRestore.map((source) =>
    claimName !== undefined && source.source.persistentVolumeClaim?.claimName === claimName
      ? { ...source, name: BACKUP.name }
      : source,
  );
  return [...ofBackup, ...shared];
}

function mountsOf(sources: readonly Source[]): V1VolumeMount[] {
  return sources.map(({ name, mountPath, isWritten }) => ({
    name,
    mountPath,
    ...(isWritten ? {} : { readOnly: true }),
  }));
}

function volumesOf(sources: readonly Source[]): V1Volume[] {
  const named = new Map(sources.map(({ name, source }) => [name, source]));
  return [...named].map(([name, source]) => ({ name, ...source }));
}

interface Source {
  readonly name: string;
  readonly mountPath: string;
  readonly source: Omit<V1Volume, "name">;
  readonly isWritten: boolean;
}

function placesOf(name: string): StorePlaces {
  const files = `/etc/quoin/${name}`;
  return {
    name: `quoin-${name}`,
    volume: `/var/lib/quoin-${name}`,
    keys: `${files}-keys`,
    credentials: `${files}-credentials`,
    authorities: `${files}-ca`,
  };
}

function sourcesOf({ directory, s3, encryption }: StoreSpec, places: StorePlaces, isWritten: boolean): Source[] {
  const secret = (name: string, mountPath: string, reference: { name: string } | undefined): Source[] =>
    reference === undefined
      ? []
      : [{ name, mountPath, source: { secret: { secretName: reference.name, optional: true } }, isWritten: false }];
  const claim = directory && { persistentVolumeClaim: { claimName: directory.claimName } };
  return [
    ...(claim === undefined ? [] : [{ name: places.name, mountPath: places.volume, source: claim, isWritten }]),
    ...secret(`${places.name}-keys`, places.keys, encryption?.keysSecretRef),
    ...secret(`${places.name}-credentials`, places.credentials, s3?.credentialsSecretRef),
    ...secret(`${places.name}-ca`, places.authorities, s3?.caSecretRef),
  ];
}

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

/** The format of the definition: a number, followed by m, h or d. */
export function durationMsOf(text: string): number {
  return Number(text.slice(0, -1)) * (UNIT_MS.get(text.slice(-1)) ?? 0);
}
