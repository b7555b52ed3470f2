/**
 * The store that a cluster names for its backups. Members are given a store only once its Secrets are there. While the object is
 * missing or cannot be used, members keep the store that they have, so that no member is restarted for it.
 */
import type { CoordinationBackupStore } from "../generated/coordination-backup-store.ts";
import { isKubeError, type Reads } from "../kube/index.ts";
import type { CoordinationCluster } from "../plan/index.ts";
import { type BackupPlan, LOCATION_FLAG, locationOf, namespaceOf, notedStoreOf } from "../render/index.ts";
import type { Problem } from "../status/index.ts";
import type { StatefulSet } from "./set-view.ts";

export interface BackupStoreReading {
  /** Null while it is not there, or cannot be used. */
  readonly store: CoordinationBackupStore["spec"] | null;
  /** Why it is null. */
  readonly problem: Problem | null;
}

/** @returns null for a cluster without backups. Raises KubeError. */
export async function readBackupStore(reads: Reads, cluster: CoordinationCluster): Promise<BackupStoreReading | null> {
  const name = cluster.spec.backup?.storeName;
  return name === undefined ? null : await readStore(reads, cluster, name, "spec.backup.storeName");
}

/** @param field that names the store. Raises KubeError. */
export async function readStore(
  reads: Reads,
  cluster: CoordinationCluster,
  name: string,
  field: string,
): Promise<BackupStoreReading> {
  try {
    const reference = { kind: "CoordinationBackupStore", namespace: namespaceOf(cluster), name } as const;
    return judge(name, field, await reads.get<CoordinationBackupStore>(reference));
  } catch (error) {
    if (!isKubeError(error, "unknown-kind", "forbidden")) {
      throw error;
    }
    return unusable(
      "StoreUnreadable",
      `the operator cannot read CoordinationBackupStore ${name}: ${error.explanation}`,
    );
  }
}

function judge(name: string, field: string, found: CoordinationBackupStore | null): BackupStoreReading {
  if (found === null || found.metadata.deletionTimestamp !== undefined) {
    const message = `there is no CoordinationBackupStore ${name} in this namespace: create it, or change ${field}`;
    return unusable("StoreNotFound", message);
  }
  const ready = found.status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined || ready.observedGeneration !== found.metadata.generation) {
    return unusable("StoreNotReady", `CoordinationBackupStore ${name} has not been looked at yet`);
  }
  return ready.status === "True"
    ? { store: found.spec, problem: null }
    : unusable("StoreNotReady", `CoordinationBackupStore ${name}: ${ready.reason}: ${ready.message}`);
}

function unusable(reason: string, message: string): BackupStoreReading {
  return { store: null, problem: { reason, message } };
}

/** @returns what members are to have; null for no backups */
export function backupPlanOf(
  { spec: { backup } }: CoordinationCluster,
  set: StatefulSet | null,
  reading: BackupStoreReading | null,
): BackupPlan | null {
  const store = reading?.store ?? storeInForce(set);
  return backup === undefined || store === null ? null : { backup, store };
}

/** A note that outlived its use says nothing. */
function storeInForce(set: StatefulSet | null): BackupPlan["store"] | null {
  const noted = notedStoreOf(set?.metadata?.annotations ?? {});
  const location = locationArgumentOf(set?.spec?.template.spec?.containers);
  return noted !== null && location === `${LOCATION_FLAG}${locationOf(noted)}` ? noted : null;
}

/** @returns the flag of a member that says where backups go; undefined if it has none */
export function locationArgumentOf(
  containers: readonly { readonly name: string; readonly args?: readonly string[] }[] | undefined,
): string | undefined {
  const member = containers?.find(({ name }) => name === "quoin");
  return member?.args?.find((argument) => argument.startsWith(LOCATION_FLAG));
}
