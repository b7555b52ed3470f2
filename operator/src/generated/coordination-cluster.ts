/**
 * CoordinationCluster as the API server returns it, with its defaults.
 *
 * Generated from crds/quoin.dev_coordinationclusters.yaml by `npm run crds:generate`.
 */

/**
 * A cluster of Quoin, a coordination service of 1, 3, 5 or 7 members that agree by Raft.
 */
export interface CoordinationCluster {
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
  spec: ClusterSpec;
  status?: ClusterStatus;
}
/**
 * What the cluster is to be.
 */
export interface ClusterSpec {
  /**
   * Number of members.
   */
  replicas: 1 | 3 | 5 | 7;
  /**
   * Version of the members, which moves by one minor version at a time. Without it the operator writes here, once, the version that it brings.
   */
  version?: string;
  /**
   * Image of the members.
   */
  image: {
    /**
     * Registry and name, without a tag. Without it the operator writes here, once, the repository that it knows.
     */
    repository?: string;
    /**
     * Tag of the image; the version if absent.
     */
    tag?: string;
    /**
     * Digest of the image; it stands above the tag.
     */
    digest?: string;
    /**
     * When nodes pull the image.
     */
    pullPolicy: "Always" | "IfNotPresent" | "Never";
    /**
     * Secrets with credentials of the registry.
     *
     * @maxItems 8
     */
    pullSecrets?: {
      /**
       * Name of a Secret in the cluster's namespace.
       */
      name: string;
    }[];
  };
  /**
   * The volume of each member.
   */
  storage: {
    /**
     * Size of a volume, at least 4Gi. It may only grow; a growth that no volume has taken up can be taken back.
     */
    size: string;
    /**
     * Storage class of the volumes; the default class if absent. It may change while no volume is bound.
     */
    storageClassName?: string;
    /**
     * What becomes of volumes and identity when the cluster is deleted.
     */
    whenDeleted: "Retain" | "Delete";
    /**
     * What becomes of a member's volume once the member has been removed.
     */
    whenScaled: "Retain" | "Delete";
  };
  /**
   * Resources of a member. The memory limit is at least 1Gi; half of it is what the JavaScript heap may grow to.
   */
  resources: {
    /**
     * Amounts by the name of the resource, such as cpu and memory.
     */
    requests?: {
      [k: string]: number | string;
    };
    /**
     * Amounts by the name of the resource, such as cpu and memory.
     */
    limits?: {
      [k: string]: number | string;
    };
  };
  /**
   * What is laid over the pods that the operator makes.
   */
  podTemplate?: {
    /**
     * Labels and annotations of the pods.
     */
    metadata?: {
      /**
       * Labels beside those of the operator.
       */
      labels?: {
        [k: string]: string;
      };
      /**
       * Annotations beside those of the operator.
       */
      annotations?: {
        [k: string]: string;
      };
    };
    /**
     * A PodSpec: maps merge, containers, volumes and environment merge by name, mounts by path, other lists replace. What a member needs cannot be changed.
     */
    spec?: {
      [k: string]: unknown;
    };
  };
  /**
   * Where pods go. Affinity and spread constraints of podTemplate.spec replace it.
   */
  scheduling: {
    /**
     * Whether members keep apart, by node, and by zone as far as possible.
     */
    spread: "Preferred" | "Required" | "None";
  };
  /**
   * As whom the pods run.
   */
  security: {
    /**
     * Platform leaves user and group to the platform, as OpenShift wants it.
     */
    userIds: "Fixed" | "Platform";
  };
  /**
   * Certificates of members and of what clients are shown.
   */
  tls: {
    /**
     * Auto is an authority of the cluster's own; CertManager and Secret take certificates from elsewhere; Off is plain text.
     */
    mode: "Auto" | "CertManager" | "Secret" | "Off";
    /**
     * Who signs, with mode CertManager.
     */
    issuerRef?: {
      /**
       * Name of the issuer.
       */
      name: string;
      /**
       * Issuer, of the same namespace, or ClusterIssuer, or a kind of the group.
       */
      kind: string;
      /**
       * Group of the API that the kind belongs to.
       */
      group: string;
    };
    /**
     * Secret with ca.crt, tls.crt and tls.key, with mode Secret.
     */
    secretName?: string;
    /**
     * How long certificates are valid.
     */
    certificateDays: number;
    /**
     * How long before their end they are renewed.
     */
    renewBeforeDays: number;
    /**
     * Further names by which clients reach the cluster.
     *
     * @maxItems 16
     */
    extraDnsNames?: string[];
  };
  /**
   * The first user, who owns the cluster. Read once, when the cluster is founded.
   */
  access: {
    /**
     * E-mail address of the owner.
     */
    ownerEmail: string;
    /**
     * Secret with `password`, `api-key` or both; what is missing is generated. It is read at the founding, and when the cluster's own Secret of the owner is missing.
     */
    ownerSecretRef?: {
      /**
       * Name of a Secret in the same namespace.
       */
      name: string;
    };
  };
  settings: SettingsSpec;
  /**
   * How clients reach the cluster.
   */
  services: {
    client: ClientServiceSpec;
    leader: LeaderServiceSpec;
  };
  backup?: BackupSpec;
  restoreFrom?: RestoreFromSpec;
  /**
   * What drains of nodes may take away.
   */
  podDisruptionBudget: {
    /**
     * Whether drains must leave the cluster its quorum.
     */
    enabled: boolean;
  };
  /**
   * Who may reach which port, where the network enforces it.
   */
  networkPolicy: {
    /**
     * Whether only those reach a port who need it.
     */
    enabled: boolean;
    /**
     * Who may reach the ports for clients, 7400 and 7401; everybody if absent.
     *
     * @maxItems 16
     *
     * Items: A NetworkPolicyPeer.
     */
    clients?: {
      podSelector?: {
        matchLabels?: {
          [k: string]: string;
        };
        /**
         * @maxItems 16
         */
        matchExpressions?: {
          key: string;
          operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
          /**
           * @maxItems 32
           */
          values?: string[];
        }[];
      };
      namespaceSelector?: {
        matchLabels?: {
          [k: string]: string;
        };
        /**
         * @maxItems 16
         */
        matchExpressions?: {
          key: string;
          operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
          /**
           * @maxItems 32
           */
          values?: string[];
        }[];
      };
      ipBlock?: {
        cidr: string;
        /**
         * @maxItems 16
         */
        except?: string[];
      };
    }[];
  };
  /**
   * Objects for the Prometheus operator.
   */
  monitoring: {
    /**
     * A PodMonitor for the Prometheus operator.
     */
    podMonitor: {
      /**
       * Whether there is one.
       */
      enabled: boolean;
      /**
       * How often to scrape; Prometheus' own default if absent.
       */
      interval?: string;
      /**
       * Labels beside those of the operator.
       */
      labels?: {
        [k: string]: string;
      };
    };
    /**
     * A PrometheusRule with alerts.
     */
    rules: {
      /**
       * Whether there is one.
       */
      enabled: boolean;
      /**
       * Labels beside those of the operator.
       */
      labels?: {
        [k: string]: string;
      };
    };
  };
  /**
   * How pods are restarted when their template has changed.
   */
  update: {
    /**
     * Manual: outdated pods are yours to delete.
     */
    mode: "Automatic" | "Manual";
    /**
     * How long members must have been ready before the next is restarted.
     */
    soakSeconds: number;
    /**
     * How long a member may take to open its stores.
     */
    startupBudgetSeconds: number;
  };
}
/**
 * Replicated settings. What is absent here is left as it is in the cluster.
 */
export interface SettingsSpec {
  /**
   * How long an appended event's key is remembered.
   */
  duplicateWindowSeconds?: number;
  /**
   * How long a token lasts that asks for no time of its own.
   */
  tokenSeconds?: number;
  /**
   * How often one principal may ask a member.
   */
  rateLimits?: {
    /**
     * Calls of one principal at one member.
     */
    http?: {
      /**
       * Requests in a window; 0 is without limit.
       */
      requests?: number;
      /**
       * Length of a window, in seconds.
       */
      windowSeconds?: number;
      /**
       * Requests at once.
       */
      burst?: number;
    };
    /**
     * Calls of one principal at one member.
     */
    grpc?: {
      /**
       * Requests in a window; 0 is without limit.
       */
      requests?: number;
      /**
       * Length of a window, in seconds.
       */
      windowSeconds?: number;
      /**
       * Requests at once.
       */
      burst?: number;
    };
  };
}
/**
 * The Service of all ready members.
 */
export interface ClientServiceSpec {
  /**
   * Type of the Service.
   */
  type: "ClusterIP" | "NodePort" | "LoadBalancer";
  /**
   * Annotations of the Service.
   */
  annotations?: {
    [k: string]: string;
  };
  /**
   * Labels beside those of the operator.
   */
  labels?: {
    [k: string]: string;
  };
  /**
   * Class of the load balancer, where there are several.
   */
  loadBalancerClass?: string;
  /**
   * Whether the Service has addresses of IPv4 and of IPv6, where the Kubernetes cluster has both; one if absent.
   */
  ipFamilyPolicy?: "SingleStack" | "PreferDualStack" | "RequireDualStack";
}
/**
 * The Service of the leader alone.
 */
export interface LeaderServiceSpec {
  /**
   * Whether there is one; without it members need no rights in Kubernetes.
   */
  enabled: boolean;
  /**
   * Type of the Service.
   */
  type: "ClusterIP" | "NodePort" | "LoadBalancer";
  /**
   * Annotations of the Service.
   */
  annotations?: {
    [k: string]: string;
  };
  /**
   * Labels beside those of the operator.
   */
  labels?: {
    [k: string]: string;
  };
  /**
   * Class of the load balancer, where there are several.
   */
  loadBalancerClass?: string;
  /**
   * Whether the Service has addresses of IPv4 and of IPv6, where the Kubernetes cluster has both; one if absent.
   */
  ipFamilyPolicy?: "SingleStack" | "PreferDualStack" | "RequireDualStack";
}
/**
 * Backups of the cluster. A change restarts the members one by one.
 */
export interface BackupSpec {
  /**
   * CoordinationBackupStore in the namespace of the cluster.
   */
  storeName: string;
  /**
   * Whether every write is archived within seconds, so that the cluster can be restored to any moment. Without it, only CoordinationBackups are taken.
   */
  archive: boolean;
  /**
   * Time between two snapshots of the archive, in minutes, hours or days, such as 90m, 24h or 7d.
   */
  interval: string;
}
/**
 * From which backup the cluster is founded. It is read once, when there is no data of the cluster yet.
 */
export interface RestoreFromSpec {
  /**
   * CoordinationBackupStore in the namespace of the cluster.
   */
  storeName: string;
  /**
   * CoordinationBackup in the same namespace whose snapshot the restore begins with. Without it, the newest snapshot from which the revision or time can be reached.
   */
  backupName?: string;
  /**
   * Whose backup, if the store holds backups of several clusters.
   */
  clusterId?: string;
  /**
   * Cluster revision up to which writes are restored. Without it and toTime, everything that the store has.
   */
  toRevision?: number;
  /**
   * Time up to which writes are restored, in the form of RFC 3339, such as 2026-01-31T12:00:00Z.
   */
  toTime?: string;
}
/**
 * What the cluster is.
 */
export interface ClusterStatus {
  /**
   * Generation of the specification that this is about.
   */
  observedGeneration?: number;
  /**
   * Identity of the cluster, which outlives its pods.
   */
  clusterId?: string;
  /**
   * Pods, terminating ones too.
   */
  replicas?: number;
  /**
   * Pods that are ready.
   */
  readyReplicas?: number;
  /**
   * Labels of the pods, as text.
   */
  selector?: string;
  /**
   * Members that vote.
   */
  voters?: number;
  /**
   * Members that do not vote yet.
   */
  learners?: number;
  /**
   * Healthy voters, and the members that are asked for.
   */
  membersSummary?: string;
  /**
   * Pod of the leader.
   */
  leader?: string;
  /**
   * Term of the leader.
   */
  term?: number;
  /**
   * Versions of the members.
   */
  version?: {
    /**
     * Lowest version that runs.
     */
    current?: string;
    /**
     * Version that is asked for.
     */
    target?: string;
  };
  /**
   * What the cluster is doing, in a word.
   */
  phase?: string;
  blocked?: BlockedStatus;
  /**
   * The largest size that any volume has been asked for.
   */
  volumeSize?: string;
  /**
   * Whether any claim has a volume. While none has, spec.storage.storageClassName may change.
   */
  volumesBound?: boolean;
  /**
   * Storage class of the volumes, once one is bound.
   */
  storageClassName?: string;
  /**
   * Until when certificates are good.
   */
  tls?: {
    /**
     * When the certificate ends.
     */
    notAfter?: string;
    /**
     * When the authority ends that has issued it.
     */
    caNotAfter?: string;
  };
  backup?: BackupSummary;
  /**
   * What holds now, each with a reason.
   *
   * @maxItems 24
   */
  conditions?: ConditionStatus[];
  /**
   * The members, by id.
   *
   * @maxItems 16
   */
  members?: MemberRow[];
}
/**
 * What the next step waits for.
 */
export interface BlockedStatus {
  /**
   * Rule that would act next.
   */
  gate: string;
  /**
   * Why it waits, in a word.
   */
  reason: string;
  /**
   * Pod or volume that it is about.
   */
  target?: string;
  /**
   * The same for people, with the next useful command where there is one.
   */
  message: string;
  /**
   * Since when it waits for the same.
   */
  since: string;
}
/**
 * Backups of the cluster, as its members tell.
 */
export interface BackupSummary {
  /**
   * Where backups go, as members name it.
   */
  store?: string;
  /**
   * Whether backups are encrypted.
   */
  encrypted?: boolean;
  /**
   * Id of the member that archives.
   */
  archiver?: string;
  /**
   * When a snapshot or a part of the archive reached the store last.
   */
  lastSuccessTime?: string;
  /**
   * Cluster revision up to which everything is archived.
   */
  archivedRevision?: number;
  /**
   * Time of the last write that is archived.
   */
  archivedTime?: string;
}
export interface ConditionStatus {
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
export interface MemberRow {
  /**
   * Id of the member, which is never used again.
   */
  id: string;
  /**
   * Name of its pod.
   */
  name: string;
  /**
   * Whether it votes.
   */
  role?: "Voter" | "Learner";
  /**
   * Whether it leads.
   */
  leader?: boolean;
  /**
   * What it says of itself.
   */
  state?: string;
  /**
   * Whether its pod is ready.
   */
  ready?: boolean;
  /**
   * Version that runs.
   */
  version?: string;
  /**
   * Whether its pod is of the present template.
   */
  updated?: boolean;
  /**
   * Node of its pod.
   */
  node?: string;
  /**
   * How often the process of its pod has ended and been started again, if ever.
   */
  restarts?: number;
  /**
   * Why the process of its pod ended last, such as OOMKilled or Error.
   */
  lastTermination?: string;
  /**
   * When that was.
   */
  lastTerminationAt?: string;
  /**
   * How far the member is behind, if by more than a second.
   */
  lagMs?: number;
}
