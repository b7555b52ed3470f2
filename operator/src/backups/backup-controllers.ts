/** The controllers of all backup kinds share one queue. A key is a kind, a namespace and a name. */
import type { Kind } from "../kube/index.ts";
import { BackupReconciler } from "./backup-reconciler.ts";
import type { BackupsContext } from "./context.ts";
import { ScheduleReconciler } from "./schedule-reconciler.ts";
import { StoreReconciler } from "./store-reconciler.ts";

export const BACKUP_KINDS = [
  "CoordinationBackupStore",
  "CoordinationBackup",
  "CoordinationBackupSchedule",
] as const satisfies Kind[];
export type BackupKind = (typeof BACKUP_KINDS)[number];

type Reconcile = (namespace: string, name: string) => Promise<number | null>;

export class BackupControllers {
  readonly #reconcilers: ReadonlyMap<string, Reconcile>;

  constructor(context: BackupsContext) {
    const [store, backup, schedule] = [
      new StoreReconciler(context),
      new BackupReconciler(context),
      new ScheduleReconciler(context),
    ];
    this.#reconcilers = new Map<BackupKind, Reconcile>([
      ["CoordinationBackupStore", (namespace, name) => store.reconcile(namespace, name)],
      ["CoordinationBackup", (namespace, name) => backup.reconcile(namespace, name)],
      ["CoordinationBackupSchedule", (namespace, name) => schedule.reconcile(namespace, name)],
    ]);
  }

  /**
   * @returns milliseconds until the next pass; null = not before the object changes
   * @throws KubeError
   */
  async reconcile(key: string): Promise<number | null> {
    const [kind = "", namespace = "", name = ""] = key.split("/");
    return (await this.#reconcilers.get(kind)?.(namespace, name)) ?? null;
  }
}

export function backupKey(kind: BackupKind, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}
