/**
 * CoordinationBackupStore as the API server returns it, with its defaults.
 *
 * Generated from crds/quoin.dev_coordinationbackupstores.yaml by `npm run crds:generate`.
 */

/**
 * A place for backups. Clusters in the same namespace name it in spec.backup.storeName.
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
 * Where backups are stored, how they are encrypted, and how long they are kept.
 */
export interface StoreSpec {
  /**
   * A directory on a volume that all members can mount at once.
   */
  directory?: {
    /**
     * PersistentVolumeClaim in the namespace of the store. Its access mode must be ReadWriteMany unless the cluster has one member.
     */
    claimName: string;
    /**
     * Directory on the volume, without a slash at either end. The directory must exist. Default: the root of the volume.
     */
    path?: string;
  };
  /**
   * A bucket of an S3-compatible object store.
   */
  s3?: {
    /**
     * Name of the bucket, which must exist.
     */
    bucket: string;
    /**
     * Prefix of all object names, without a slash at either end. Several clusters may share a prefix.
     */
    prefix?: string;
    /**
     * URL of the object store, without credentials. Default: AWS.
     */
    endpoint?: string;
    /**
     * Region of the bucket.
     */
    region?: string;
    /**
     * Whether URLs name the bucket in the path. Most object stores other than AWS need this.
     */
    pathStyle: boolean;
    /**
     * Secret whose ca.crt holds the certificate authorities that signed the endpoint's certificate.
     */
    caSecretRef?: {
      /**
       * Name of a Secret in the namespace of the store.
       */
      name: string;
    };
    /**
     * Secret whose key credentials holds an AWS credentials file with aws_access_key_id and aws_secret_access_key. Without it, members use the credentials of their pods, such as the cloud provider's workload identity.
     */
    credentialsSecretRef?: {
      /**
       * Name of a Secret in the namespace of the store.
       */
      name: string;
    };
  };
  /**
   * Encryption of backups. Without it, backups are not encrypted, and they contain signing keys and password hashes.
   */
  encryption?: {
    /**
     * Secret whose key keys holds one line for each encryption key, in the form id:base64, where base64 encodes 32 bytes. The first key encrypts; every key decrypts. Keep a copy of the keys elsewhere.
     */
    keysSecretRef: {
      /**
       * Name of a Secret in the namespace of the store.
       */
      name: string;
    };
  };
  /**
   * Which backups to keep. The newest restorable backup is always kept. Default: all.
   */
  retention?: {
    /**
     * Number of snapshots to keep, with the archive that follows them.
     */
    count?: number;
    /**
     * Age in days. Every moment younger than this stays restorable.
     */
    maxAgeDays?: number;
  };
}
/**
 * State of the store, as the operator checked it.
 */
export interface StoreStatus {
  /**
   * Generation of the specification that this status describes.
   */
  observedGeneration?: number;
  /**
   * Address of the store, as members report it.
   */
  location?: string;
  /**
   * Whether backups are encrypted.
   */
  encrypted?: boolean;
  /**
   * Current conditions, each with a reason.
   *
   * @maxItems 8
   */
  conditions?: StoreCondition[];
}
export interface StoreCondition {
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
