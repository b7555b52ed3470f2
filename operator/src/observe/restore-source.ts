/**
 * The source of a cluster that is founded from a backup: a store, and perhaps one backup in it. The operator reads it
 * until the cluster is founded. Afterwards members keep their flags, even if the store changes, so that no member
 * restarts for it.
 */
import type { CoordinationBackup } from "../generated/coordination-backup.ts";
import type { Reads } from "../kube/index.ts";
import type { CoordinationCluster } from "../plan/index.ts";
import {
  locationOf,
  namespaceOf,
  notedSourceOf,
  RESTORE_FLAG,
  type RestorePlan,
  type RestoreSource,
  restoreLocationArgument,
} from "../render/index.ts";
import type { Problem } from "../status/index.ts";
import { MEMBER_ID } from "./annotations.ts";
import { readStore } from "./backup-store.ts";
import type { Claim } from "./claim-view.ts";
import type { StatefulSet } from "./set-view.ts";

export interface RestoreReading {
  /** Null if the source does not exist or cannot be used. */
  readonly source: RestoreSource | null;
  /** Why the source is null. */
  readonly problem: Problem | null;
}

/**
 * @returns null for a cluster that is founded empty
 * @throws KubeError
 */
export async function readRestoreSource(reads: Reads, cluster: CoordinationCluster): Promise<RestoreReading | null> {
  const { restoreFrom } = cluster.spec;
  if (restoreFrom === undefined) {
    return null;
  }
  const { store, problem } = await readStore(reads, cluster, restoreFrom.storeName, "spec.restoreFrom.storeName");
  if (store === null) {
    return { source: null, problem };
  }
  const name = restoreFrom.backupName;
  if (name === undefined) {
    return { source: { store, snapshotId: null }, problem: null };
  }
  const reference = { kind: "CoordinationBackup", namespace: namespaceOf(cluster), name } as const;
  const backup = await reads.get<CoordinationBackup>(reference);
  const objection = objectionTo(name, backup, locationOf(store));
  return objection === null
    ? { source: { store, snapshotId: backup?.status?.id ?? null }, problem: null }
    : { source: null, problem: objection };
}

/** @returns why the backup cannot be restored; null if it can */
function objectionTo(name: string, backup: CoordinationBackup | null, location: string): Problem | null {
  if (backup === null) {
    const message = `spec.restoreFrom.backupName: there is no CoordinationBackup ${name} in this namespace: change it, or leave it out`;
    return { reason: "BackupNotFound", message };
  }
  const { phase = "Pending", id, store = "" } = backup.status ?? {};
  if (phase !== "Succeeded" || id === undefined) {
    const message = `spec.restoreFrom.backupName: CoordinationBackup ${name} is ${phase}, but only a Succeeded backup can be restored`;
    return { reason: "BackupNotSucceeded", message };
  }
  const place = (text: string): string => text.split("?")[0] ?? "";
  return place(store) === place(location)
    ? null
    : {
        reason: "BackupElsewhere",
        message: `spec.restoreFrom.backupName: CoordinationBackup ${name} is in ${place(store)}, but the store is ${place(location)}: name the store of the backup`,
      };
}

/** @returns the source for the members; null for a cluster that is founded empty, or if there is no usable source */
export function restorePlanOf(
  { spec: { restoreFrom } }: CoordinationCluster,
  set: StatefulSet | null,
  claims: ReadonlyMap<number, Claim>,
  reading: RestoreReading | null,
): RestorePlan | null {
  const noted = sourceInForce(set);
  const found = reading?.source ?? null;
  const source = isFounded(claims) ? (noted ?? found) : (found ?? noted);
  return restoreFrom === undefined || source === null ? null : { restoreFrom, ...source };
}

/** Whether the members of a set can only found a cluster from a backup, never an empty one. */
export function hasRestoreFlag(set: StatefulSet | null): boolean {
  return argumentsOf(set).some((argument) => argument.startsWith(RESTORE_FLAG));
}

/** Ignores an annotation that is out of date. */
function sourceInForce(set: StatefulSet | null): RestoreSource | null {
  const noted = notedSourceOf(set?.metadata?.annotations ?? {});
  return noted !== null && argumentsOf(set).includes(restoreLocationArgument(noted.store)) ? noted : null;
}

function argumentsOf(set: StatefulSet | null): readonly string[] {
  return set?.spec?.template.spec?.containers.find(({ name }) => name === "quoin")?.args ?? [];
}

function isFounded(claims: ReadonlyMap<number, Claim>): boolean {
  return [...claims.values()].some(({ metadata }) => /^[0-9]+$/.test(metadata?.annotations?.[MEMBER_ID] ?? ""));
}
