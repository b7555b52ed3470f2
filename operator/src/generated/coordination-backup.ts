/**
 * CoordinationBackup as the API server returns it, with its defaults.
 *
 * Generated from crds/quoin.dev_coordinationbackups.yaml by `npm run crds:generate`.
 */

/**
 * One backup of a cluster into its store. It is taken once; deleting the object deletes nothing in the store.
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
   * What is to be backed up.
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
 * How the backup stands.
 */
export interface BackupStatus {
  /**
   * Generation of the specification that was looked at.
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
   * Where the backup goes, as the member names it.
   */
  store?: string;
  /**
   * Name of its object in the store.
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
   * Log index of the state that it holds.
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
   * When it began.
   */
  startedAt?: string;
  /**
   * When it succeeded or failed.
   */
  completedAt?: string;
  /**
   * Pod of the member that takes it.
   */
  member?: string;
  /**
   * Uid of that pod.
   */
  memberUid?: string;
  /**
   * Why it failed, and what to do.
   */
  error?: string;
  /**
   * What holds now, each with a reason.
   *
   * @maxItems 8
   */
  conditions?: BackupCondition[];
}
export interface BackupCondition {
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
