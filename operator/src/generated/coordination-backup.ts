/**
 * CoordinationBackup as the API server returns it, with its defaults.
 *
 * Generated from crds/quoin.dev_coordinationbackups.yaml by `npm run crds:generate`.
 */

/**
 * One backup of a cluster into its store. The backup is taken once. Deleting this object deletes nothing in the store.
 */
export interface CoordinationBackup {
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
  /**
   * What to back up.
   */
  spec: {
    /**
     * CoordinationCluster in the same namespace, which names a store in spec.backup.
     */
    clusterName: string;
    /**
     * Whether the backup may be taken while the cluster has no leader. It may then miss acknowledged writes.
     */
    allowLeaderless: boolean;
  };
  status?: BackupStatus;
}
/**
 * Progress and result of the backup.
 */
export interface BackupStatus {
  /**
   * Generation of the specification that this status describes.
   */
  observedGeneration?: number;
  /**
   * What the backup is doing. Succeeded and Failed are final.
   */
  phase?: "Pending" | "Starting" | "Running" | "Succeeded" | "Failed";
  /**
   * Id of the backup in the store.
   */
  id?: string;
  /**
   * Address of the store, as the member reports it.
   */
  store?: string;
  /**
   * Name of the snapshot object in the store.
   */
  object?: string;
  /**
   * Whether the backup is encrypted.
   */
  encrypted?: boolean;
  /**
   * Whether the member had no leader, so that the backup may miss acknowledged writes.
   */
  leaderless?: boolean;
  /**
   * Log index of the state in the backup.
   */
  index?: number;
  /**
   * Cluster revision of that state.
   */
  revision?: number;
  /**
   * Time of the last write in that state.
   */
  wallTime?: string;
  /**
   * Bytes written so far, before encryption.
   */
  sizeBytes?: number;
  /**
   * When the backup began.
   */
  startedAt?: string;
  /**
   * When the backup succeeded or failed.
   */
  completedAt?: string;
  /**
   * Pod of the member that takes the backup.
   */
  member?: string;
  /**
   * UID of that pod.
   */
  memberUid?: string;
  /**
   * Why the backup failed, and what to do next.
   */
  error?: string;
  /**
   * Current conditions, each with a reason.
   *
   * @maxItems 8
   */
  conditions?: BackupCondition[];
}
export interface BackupCondition {
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
