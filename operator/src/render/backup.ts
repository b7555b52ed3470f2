/**
 * What a member needs for its backups: flags, and mounts of what the flags name. It follows from the CoordinationCluster and
 * from its CoordinationBackupStore.
 *
 * Secrets are optional for a pod: a member whose Secret was deleted must start, and says itself that it cannot write backups.
 */
import type { V1Volume, V1VolumeMount } from "@kubernetes/client-node";
import type { StoreSpec } from "../generated/coordination-backup-store.ts";
import type { BackupSpec } from "../generated/coordination-cluster.ts";

/** What the keys of these Secrets are called, which are also the names of the files. */
export const KEYS_FILE = "keys";
export const CREDENTIALS_FILE = "credentials";
export const CA_FILE = "ca.crt";

const VOLUME = "/var/lib/quoin-backup";
const KEYS = "/etc/quoin/backup-keys";
const CREDENTIALS = "/etc/quoin/backup-credentials";
const AUTHORITIES = "/etc/quoin/backup-ca";

/** What a cluster asks for, and the store that it names. */
export interface BackupPlan {
  readonly backup: BackupSpec;
  readonly store: StoreSpec;
}

export const LOCATION_FLAG = "--backup-store=";

/** @returns where backups go, as a member names it; without secrets */
export function locationOf({ directory, s3 }: StoreSpec): string {
  if (s3 === undefined) {
    return directory?.path === undefined ? VOLUME : `${VOLUME}/${directory.path}`;
  }
  const options: [string, string | undefined][] = [
    ["endpoint", s3.endpoint],
    ["region", s3.region],
    ["path-style", s3.pathStyle ? "true" : undefined],
    ["ca-file", s3.caSecretRef && `${AUTHORITIES}/${CA_FILE}`],
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
    `${LOCATION_FLAG}${locationOf(store)}`,
    ...(store.encryption === undefined ? [] : [`--backup-key-file=${KEYS}/${KEYS_FILE}`]),
    ...(store.s3?.credentialsSecretRef === undefined
      ? []
      : [`--backup-credentials-file=${CREDENTIALS}/${CREDENTIALS_FILE}`]),
    ...(backup.archive ? ["--backup-archive", `--backup-interval=${backup.interval}`] : []),
    ...(retention.length === 0 ? [] : [`--backup-retention=${retention.join(",")}`]),
  ];
}

export function backupMounts({ store }: BackupPlan): V1VolumeMount[] {
  return sourcesOf(store).map(({ name, mountPath, isWritten }) => ({
    name,
    mountPath,
    ...(isWritten ? {} : { readOnly: true }),
  }));
}

/** Files, not variables: keys and credentials that change reach a member that runs. */
export function backupVolumes({ store }: BackupPlan): V1Volume[] {
  return sourcesOf(store).map(({ name, source }) => ({ name, ...source }));
}

interface Source {
  readonly name: string;
  readonly mountPath: string;
  readonly source: Omit<V1Volume, "name">;
  readonly isWritten: boolean;
}

function sourcesOf({ directory, s3, encryption }: StoreSpec): Source[] {
  const secret = (name: string, mountPath: string, reference: { name: string } | undefined): Source[] =>
    reference === undefined
      ? []
      : [{ name, mountPath, source: { secret: { secretName: reference.name, optional: true } }, isWritten: false }];
  const claim = directory && { persistentVolumeClaim: { claimName: directory.claimName } };
  return [
    ...(claim === undefined ? [] : [{ name: "quoin-backup", mountPath: VOLUME, source: claim, isWritten: true }]),
    ...secret("quoin-backup-keys", KEYS, encryption?.keysSecretRef),
    ...secret("quoin-backup-credentials", CREDENTIALS, s3?.credentialsSecretRef),
    ...secret("quoin-backup-ca", AUTHORITIES, s3?.caSecretRef),
  ];
}

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

/** As the definition writes it: a number, and m, h or d. */
export function durationMsOf(text: string): number {
  return Number(text.slice(0, -1)) * (UNIT_MS.get(text.slice(-1)) ?? 0);
}
