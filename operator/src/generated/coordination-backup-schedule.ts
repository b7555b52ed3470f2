/**
 * CoordinationBackupSchedule as the API server returns it, with its defaults.
 *
 * Generated from crds/quoin.dev_coordinationbackupschedules.yaml by `npm run crds:generate`.
 */

/**
 * Makes a CoordinationBackup again and again.
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
 * When backups are taken, and of what.
 */
export interface ScheduleSpec {
  /**
   * CoordinationCluster in the same namespace, which names a store in spec.backup.
   */
  clusterName: string;
  /**
   * Minute, hour, day of the month, month and day of the week, in the form of cron.
   */
  schedule: string;
  /**
   * Time zone of the schedule, by its name in the IANA database. A time that the clock skips is run after the gap; a time that comes twice is run once.
   */
  timeZone: string;
  /**
   * Whether no backup is made for now. A run that was missed meanwhile is not made up for.
   */
  suspend: boolean;
  /**
   * A run waits while a backup of the schedule is not finished. Of all runs that were missed, one is made up for.
   */
  concurrencyPolicy: "Forbid";
  /**
   * So many CoordinationBackups that succeeded are kept. What is in the store is not touched.
   */
  successfulHistoryLimit: number;
  /**
   * So many CoordinationBackups that failed are kept.
   */
  failedHistoryLimit: number;
}
/**
 * How the schedule stands.
 */
export interface ScheduleStatus {
  /**
   * Generation of the specification that was looked at.
   */
  observedGeneration?: number;
  /**
   * CoordinationBackup of the schedule that is not finished.
   */
  active?: string;
  /**
   * Time of the last run that was made or given up.
   */
  lastScheduleTime?: string;
  /**
   * Time of the next run.
   */
  nextScheduleTime?: string;
  /**
   * When a backup of the schedule succeeded last.
   */
  lastSuccessfulTime?: string;
  /**
   * What holds now, each with a reason.
   *
   * @maxItems 8
   */
  conditions?: ScheduleCondition[];
}
export interface ScheduleCondition {
  /**
   * What it is about.
   */
  type: string;
  /**
   * Whether it holds.
   */
  status: "True" | "False" | "Unknown";
  /**
   * Generation of the specification that it is about.
   */
  observedGeneration?: number;
  /**
   * When the status changed last.
   */
  lastTransitionTime: string;
  /**
   * Why, in a word.
   */
  reason: string;
  /**
   * Why, for people.
   */
  message: string;
}
