/**
 * The store that a cluster names for its backups. Members get a store only once its Secrets exist. While the object is
 * missing or unusable, members keep their present store, so that no member restarts for it.
 */
import type { CoordinationBackupStore } from "../generated/coordination-backup-store.ts";
import { isKubeError, type Reads } from "../kube/index.ts";
import type { CoordinationCluster } from "../plan/index.ts";
import { type BackupPlan, LOCATION_FLAG, locationOf, namespaceOf, notedStoreOf } from "../render/index.ts";
import type { Problem } from "../status/index.ts";
import type { StatefulSet } from "./set-view.ts";

export interface BackupStoreReading {
  /** Null if the store does not exist or cannot be used. */
  readonly store: CoordinationBackupStore["spec"] | null;
  /** Why the store is null. */
  readonly problem: Problem | null;
}

/**
 * @returns null for a cluster without backups
 * @throws KubeError
 */
export async function readBackupStore(reads: Reads, cluster: CoordinationCluster): Promise<BackupStoreReading | null> {
  const name = cluster.spec.backup?.storeName;
  return name === undefined ? null : await readStore(reads, cluster, name, "spec.backup.storeName");
}

/**
 * @param field that names the store
 * @throws KubeError
 */
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
    return unusable("StoreNotReady", `CoordinationBackupStore ${name} has not been checked yet`);
  }
  return ready.status === "True"
    ? { store: found.spec, problem: null }
    : unusable("StoreNotReady", `CoordinationBackupStore ${name}: ${ready.reason}: ${ready.message}`);
}

function unusable(reason: string, message: string): BackupStoreReading {
  return { store: null, problem: { reason, message } };
}

/** @returns the store for the members; null for no backups */
export function backupPlanOf(
  { spec: { backup } }: CoordinationCluster,
  set: StatefulSet | null,
  reading: BackupStoreReading | null,
): BackupPlan | null {
  const store = reading?.store ?? storeInForce(set);
  return backup === undefined || store === null ? null : { backup, store };
}

/** Ignores an annotation that is out of date. */
function storeInForce(set: StatefulSet | null): BackupPlan["store"] | null {
  const noted = notedStoreOf(set?.metadata?.annotations ?? {});
  const location = locationArgumentOf(set?.spec?.template.spec?.containers);
  return noted !== null && location === `${LOCATION_FLAG}${locationOf(noted)}` ? noted : null;
}

/** @returns the member's flag that names the store; undefined if there is none */
export function locationArgumentOf(
  containers: readonly { readonly name: string; readonly args?: readonly string[] }[] | undefined,
): string | undefined {
  const member = containers?.find(({ name }) => name === "quoin");
  return member?.args?.find((argument) => argument.startsWith(LOCATION_FLAG));
}
