/**
 * CoordinationBackupStore as the API server returns it, with its defaults.
 *
 * Generated from crds/quoin.dev_coordinationbackupstores.yaml by `npm run crds:generate`.
 */

/**
 * A place for backups, which clusters of its namespace name in spec.backup.storeName.
 */
export interface CoordinationBackupStore {
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
  spec: StoreSpec;
  status?: StoreStatus;
}
/**
 * Where backups go, how they are encrypted, and how long they stay.
 */
export interface StoreSpec {
  /**
   * A directory on a volume that all members can mount at once.
   */
  directory?: {
    /**
     * PersistentVolumeClaim in the namespace of the store. Its access mode is ReadWriteMany unless the cluster has one member.
     */
    claimName: string;
    /**
     * Directory on the volume, without a slash at its ends; the root of the volume if absent. It must exist.
     */
    path?: string;
  };
  /**
   * A bucket of an object store that speaks S3.
   */
  s3?: {
    /**
     * Name of the bucket, which must exist.
     */
    bucket: string;
    /**
     * Beginning of the names of all objects, without a slash at its ends. Several clusters may share it.
     */
    prefix?: string;
    /**
     * URL of the object store, without credentials; that of AWS if absent.
     */
    endpoint?: string;
    /**
     * Region of the bucket.
     */
    region?: string;
    /**
     * Whether the bucket stands in the path of a URL, as most object stores other than AWS want it.
     */
    pathStyle: boolean;
    /**
     * Secret whose ca.crt has the authorities that have signed the certificate of the endpoint.
     */
    caSecretRef?: {
      /**
       * Name of a Secret in the namespace of the store.
       */
      name: string;
    };
    /**
     * Secret whose credentials is a file in the form of AWS, with aws_access_key_id and aws_secret_access_key. Without it, members use what their pods are given, such as an identity of the cloud.
     */
    credentialsSecretRef?: {
      /**
       * Name of a Secret in the namespace of the store.
       */
      name: string;
    };
  };
  /**
   * With what backups are encrypted. Without it they are not, and they hold signing keys and hashes of passwords.
   */
  encryption?: {
    /**
     * Secret whose keys has a line for each key, id:base64 of 32 bytes. The first one encrypts, each decrypts. Keep a copy elsewhere.
     */
    keysSecretRef: {
      /**
       * Name of a Secret in the namespace of the store.
       */
      name: string;
    };
  };
  /**
   * Which backups are kept; all if absent. The newest one that can be restored always stays.
   */
  retention?: {
    /**
     * So many snapshots stay, with the archive behind them.
     */
    count?: number;
    /**
     * Each moment that is younger can be restored.
     */
    maxAgeDays?: number;
  };
}
/**
 * Whether the store can be used.
 */
export interface StoreStatus {
  /**
   * Generation of the specification that was looked at.
   */
  observedGeneration?: number;
  /**
   * Where backups go, as members name it.
   */
  location?: string;
  /**
   * Whether backups are encrypted.
   */
  encrypted?: boolean;
  /**
   * What holds now, each with a reason.
   *
   * @maxItems 8
   */
  conditions?: StoreCondition[];
}
export interface StoreCondition {
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
