/**
 * CoordinationBackupSchedule as the API server returns it, with its defaults.
 *
 * Generated from crds/quoin.dev_coordinationbackupschedules.yaml by `npm run crds:generate`.
 */

/**
 * Creates CoordinationBackups on a schedule.
 */
export interface CoordinationBackupSchedule {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    generation?: number;
    creationTimestamp?: string;
    deletionTimestamp?: string;
    annotations?: {
      [k: string]: string;
    };
    labels?: {
      [k: string]: string;
    };
  };
  spec: ScheduleSpec;
  status?: ScheduleStatus;
}
/**
 * The times of the backups, and the cluster to back up.
 */
export interface ScheduleSpec {
  /**
   * CoordinationCluster in the same namespace, which names a store in spec.backup.
   */
  clusterName: string;
  /**
   * Five cron fields: minute, hour, day of the month, month, day of the week.
   */
  schedule: string;
  /**
   * Time zone of the schedule, by its name in the IANA database. A run at a time that the clock skips takes place after the gap. A time that occurs twice runs once.
   */
  timeZone: string;
  /**
   * Suspends the schedule. Runs that are missed during a suspension are not made up for.
   */
  suspend: boolean;
  /**
   * A run waits until the previous backup of the schedule is finished. After missed runs, only one backup is taken.
   */
  concurrencyPolicy: "Forbid";
  /**
   * Number of successful CoordinationBackups to keep. Removing these objects deletes nothing in the store.
   */
  successfulHistoryLimit: number;
  /**
   * Number of failed CoordinationBackups to keep.
   */
  failedHistoryLimit: number;
}
/**
 * Current state of the schedule.
 */
export interface ScheduleStatus {
  /**
   * Generation of the specification that this status describes.
   */
  observedGeneration?: number;
  /**
   * Unfinished CoordinationBackup of the schedule.
   */
  active?: string;
  /**
   * Time of the last run that took place or was skipped.
   */
  lastScheduleTime?: string;
  /**
   * Time of the next run.
   */
  nextScheduleTime?: string;
  /**
   * When a backup of the schedule last succeeded.
   */
  lastSuccessfulTime?: string;
  /**
   * Current conditions, each with a reason.
   *
   * @maxItems 8
   */
  conditions?: ScheduleCondition[];
}
export interface ScheduleCondition {
  /**
   * Name of the condition.
   */
  type: string;
  /**
   * Whether the condition holds.
   */
  status: "True" | "False" | "Unknown";
  /**
   * Generation of the specification that the condition describes.
   */
  observedGeneration?: number;
  /**
   * When the status of the condition last changed.
   */
  lastTransitionTime: string;
  /**
   * Reason in one word, for programs.
   */
  reason: string;
  /**
   * Reason in a sentence, for people.
   */
  message: string;
}
