/**
 * CoordinationCluster as the API server returns it, with its defaults.
 *
 * Generated from crds/quoin.dev_coordinationclusters.yaml by `npm run crds:generate`.
 */

/**
 * A cluster of Quoin, a coordination service. Its 1, 3, 5 or 7 members agree by Raft.
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
 * Desired state of the cluster.
 */
export interface ClusterSpec {
  /**
   * Number of members.
   */
  replicas: 1 | 3 | 5 | 7;
  /**
   * Version of the members. It may move by one minor version at a time. If absent, the operator once writes its own default version here.
   */
  version?: string;
  /**
   * Image of the members.
   */
  image: {
    /**
     * Registry and name, without a tag. If absent, the operator once writes its own default repository here.
     */
    repository?: string;
    /**
     * Tag of the image. Default: spec.version.
     */
    tag?: string;
    /**
     * Digest of the image. It takes precedence over the tag.
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
     * Size of a volume, at least 4Gi. It may only grow. A growth can be undone while no volume has begun to grow.
     */
    size: string;
    /**
     * Storage class of the volumes. It may change while no volume is bound. Default: the default class of the Kubernetes cluster.
     */
    storageClassName?: string;
    /**
     * What happens to the volumes and the identity when the cluster is deleted.
     */
    whenDeleted: "Retain" | "Delete";
    /**
     * What happens to a member's volume once the member has been removed.
     */
    whenScaled: "Retain" | "Delete";
  };
  /**
   * Resources of a member. The memory limit must be at least 1Gi. The heap of JavaScript may grow to half of it.
   */
  resources: {
    /**
     * Amounts by resource name, such as cpu and memory.
     */
    requests?: {
      [k: string]: number | string;
    };
    /**
     * Amounts by resource name, such as cpu and memory.
     */
    limits?: {
      [k: string]: number | string;
    };
  };
  /**
   * Changes that the operator merges into the pods of the members.
   */
  podTemplate?: {
    /**
     * Labels and annotations of the pods.
     */
    metadata?: {
      /**
       * Labels in addition to the operator's own.
       */
      labels?: {
        [k: string]: string;
      };
      /**
       * Annotations in addition to the operator's own.
       */
      annotations?: {
        [k: string]: string;
      };
    };
    /**
     * A PodSpec that is merged into that of the operator: maps by key, containers, volumes and environment variables by name, mounts by path. Other lists replace. The parts that a member depends on cannot be changed.
     */
    spec?: {
      [k: string]: unknown;
    };
  };
  /**
   * Placement of the pods. Affinity and spread constraints in podTemplate.spec replace it.
   */
  scheduling: {
    /**
     * Whether members run on different nodes and, as far as possible, in different zones.
     */
    spread: "Preferred" | "Required" | "None";
  };
  /**
   * User and group of the pods.
   */
  security: {
    /**
     * With Platform, the platform chooses user and group, as OpenShift requires.
     */
    userIds: "Fixed" | "Platform";
  };
  /**
   * TLS certificates for traffic between members and with clients.
   */
  tls: {
    /**
     * Auto: the operator runs a certificate authority for the cluster. CertManager and Secret: certificates come from elsewhere. Off: traffic is unencrypted.
     */
    mode: "Auto" | "CertManager" | "Secret" | "Off";
    /**
     * Issuer of the certificates, with mode CertManager.
     */
    issuerRef?: {
      /**
       * Name of the issuer.
       */
      name: string;
      /**
       * Issuer (same namespace), ClusterIssuer, or another kind of the group.
       */
      kind: string;
      /**
       * API group of the kind.
       */
      group: string;
    };
    /**
     * Secret with ca.crt, tls.crt and tls.key, with mode Secret.
     */
    secretName?: string;
    /**
     * Lifetime of a certificate, in days.
     */
    certificateDays: number;
    /**
     * How many days before its expiry a certificate is renewed.
     */
    renewBeforeDays: number;
    /**
     * More DNS names by which clients reach the cluster.
     *
     * @maxItems 16
     */
    extraDnsNames?: string[];
  };
  /**
   * The first user, who owns the cluster. The operator reads it once, when the cluster is founded.
   */
  access: {
    /**
     * E-mail address of the owner.
     */
    ownerEmail: string;
    /**
     * Secret with `password`, `api-key` or both. The operator generates what is missing. It reads the Secret at the founding, and when the cluster's own Secret of the owner is missing.
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
    /**
     * Origins whose web pages may call the HTTP port, such as https://console.example.com. A change restarts the members one by one.
     *
     * @maxItems 16
     */
    corsOrigins?: string[];
  };
  backup?: BackupSpec;
  restoreFrom?: RestoreFromSpec;
  /**
   * Protection of the quorum when nodes are drained.
   */
  podDisruptionBudget: {
    /**
     * Whether a PodDisruptionBudget keeps node drains from breaking the quorum.
     */
    enabled: boolean;
  };
  /**
   * Network access to the ports of the members. It has an effect only if the network plugin enforces policies.
   */
  networkPolicy: {
    /**
     * Whether a NetworkPolicy limits each port to the pods that need it.
     */
    enabled: boolean;
    /**
     * Peers that may reach the client ports, 7400 and 7401. Default: all.
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
       * Scrape interval. Default: that of Prometheus.
       */
      interval?: string;
      /**
       * Labels in addition to the operator's own.
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
       * Labels in addition to the operator's own.
       */
      labels?: {
        [k: string]: string;
      };
    };
  };
  /**
   * Traces of requests, for a collector of OpenTelemetry. Absent = none. A change restarts the members one by one.
   */
  tracing?: {
    /**
     * Address that takes traces by OTLP over HTTP, without the path /v1/traces.
     */
    endpoint: string;
    /**
     * Share of the requests to trace whose callers have no trace, 0 to 1.
     */
    ratio: number;
    /**
     * Every request that takes at least this long is traced, in milliseconds. 0 = none for that reason.
     */
    slowRequestMs: number;
  };
  /**
   * How the operator restarts pods after a change of their template.
   */
  update: {
    /**
     * Automatic: the operator restarts outdated pods one by one. Manual: you delete outdated pods.
     */
    mode: "Automatic" | "Manual";
    /**
     * How long all members must have been ready before the operator restarts the next one, in seconds.
     */
    soakSeconds: number;
    /**
     * How long a member may take to open its stores, in seconds.
     */
    startupBudgetSeconds: number;
  };
}
/**
 * Replicated settings. A setting that is absent here keeps its value in the cluster.
 */
export interface SettingsSpec {
  /**
   * How long a cluster remembers the idempotency key of an appended event, in seconds.
   */
  duplicateWindowSeconds?: number;
  /**
   * Lifetime of a token whose request names none, in seconds.
   */
  tokenSeconds?: number;
  /**
   * How many requests one principal may send to one member.
   */
  rateLimits?: {
    /**
     * Limit for the calls of one principal to one member.
     */
    http?: {
      /**
       * Requests in a window. 0 means no limit.
       */
      requests?: number;
      /**
       * Length of a window, in seconds.
       */
      windowSeconds?: number;
      /**
       * Requests that may arrive at once.
       */
      burst?: number;
    };
    /**
     * Limit for the calls of one principal to one member.
     */
    grpc?: {
      /**
       * Requests in a window. 0 means no limit.
       */
      requests?: number;
      /**
       * Length of a window, in seconds.
       */
      windowSeconds?: number;
      /**
       * Requests that may arrive at once.
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
   * Labels in addition to the operator's own.
   */
  labels?: {
    [k: string]: string;
  };
  /**
   * Class of the load balancer, if the Kubernetes cluster has several.
   */
  loadBalancerClass?: string;
  /**
   * Whether the Service gets IPv4 and IPv6 addresses, if the Kubernetes cluster has both. Default: one address family.
   */
  ipFamilyPolicy?: "SingleStack" | "PreferDualStack" | "RequireDualStack";
}
/**
 * The Service of the leader alone.
 */
export interface LeaderServiceSpec {
  /**
   * Whether the Service exists. Without it, members need no rights in Kubernetes.
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
   * Labels in addition to the operator's own.
   */
  labels?: {
    [k: string]: string;
  };
  /**
   * Class of the load balancer, if the Kubernetes cluster has several.
   */
  loadBalancerClass?: string;
  /**
   * Whether the Service gets IPv4 and IPv6 addresses, if the Kubernetes cluster has both. Default: one address family.
   */
  ipFamilyPolicy?: "SingleStack" | "PreferDualStack" | "RequireDualStack";
}
/**
 * Backups of the cluster. A change here restarts the members one by one.
 */
export interface BackupSpec {
  /**
   * CoordinationBackupStore in the namespace of the cluster.
   */
  storeName: string;
  /**
   * Whether members archive every write within seconds, so that the cluster can be restored to any moment. If false, only CoordinationBackups are taken.
   */
  archive: boolean;
  /**
   * Interval between two snapshots of the archive, in minutes, hours or days, such as 90m, 24h or 7d.
   */
  interval: string;
}
/**
 * Backup from which the cluster is founded. The operator reads it once, when the cluster has no data yet.
 */
export interface RestoreFromSpec {
  /**
   * CoordinationBackupStore in the namespace of the cluster.
   */
  storeName: string;
  /**
   * CoordinationBackup in the same namespace whose snapshot the restore begins with. Default: the newest snapshot from which the restore can reach the revision or time.
   */
  backupName?: string;
  /**
   * Id of the cluster whose backup is restored. Required if the store holds backups of several clusters.
   */
  clusterId?: string;
  /**
   * Cluster revision up to which writes are restored. Default without toTime: everything in the store.
   */
  toRevision?: number;
  /**
   * Time up to which writes are restored, as an RFC 3339 timestamp, such as 2026-01-31T12:00:00Z.
   */
  toTime?: string;
}
/**
 * Observed state of the cluster.
 */
export interface ClusterStatus {
  /**
   * Generation of the specification that this status describes.
   */
  observedGeneration?: number;
  /**
   * When the operator last saw the cluster, to within five minutes. An older time means that no operator works.
   */
  lastObservedTime?: string;
  /**
   * Identity of the cluster. It outlives the pods.
   */
  clusterId?: string;
  /**
   * Pods, including terminating ones.
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
   * Healthy voters and the number of members in the specification.
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
     * Lowest version among the running members.
     */
    current?: string;
    /**
     * Version in the specification.
     */
    target?: string;
  };
  /**
   * What the cluster is doing, in one word.
   */
  phase?: string;
  blocked?: BlockedStatus;
  /**
   * Largest size that a volume claim has requested.
   */
  volumeSize?: string;
  /**
   * Whether any claim is bound to a volume. Until then spec.storage.storageClassName may change.
   */
  volumesBound?: boolean;
  /**
   * Storage class of the volumes, once one is bound.
   */
  storageClassName?: string;
  /**
   * Expiry of the certificates.
   */
  tls?: {
    /**
     * When the certificate expires.
     */
    notAfter?: string;
    /**
     * When the certificate authority that issued it expires.
     */
    caNotAfter?: string;
  };
  backup?: BackupSummary;
  /**
   * Current conditions, each with a reason.
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
 * What the next step is waiting for.
 */
export interface BlockedStatus {
  /**
   * Planner rule that would act next.
   */
  gate: string;
  /**
   * Why the rule waits, in one word.
   */
  reason: string;
  /**
   * Pod or volume that the rule waits for.
   */
  target?: string;
  /**
   * Why the rule waits, in a sentence, with the next useful command if there is one.
   */
  message: string;
  /**
   * Since when the rule has waited for this reason.
   */
  since: string;
}
/**
 * Backups of the cluster, as its members report them.
 */
export interface BackupSummary {
  /**
   * Address of the store, as members report it.
   */
  store?: string;
  /**
   * Whether backups are encrypted.
   */
  encrypted?: boolean;
  /**
   * Id of the member that writes the archive.
   */
  archiver?: string;
  /**
   * When a snapshot or a part of the archive last reached the store.
   */
  lastSuccessTime?: string;
  /**
   * Cluster revision up to which everything is archived.
   */
  archivedRevision?: number;
  /**
   * Time of the last archived write.
   */
  archivedTime?: string;
}
export interface ConditionStatus {
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
export interface MemberRow {
  /**
   * Id of the member. An id is never reused.
   */
  id: string;
  /**
   * Name of its pod.
   */
  name: string;
  /**
   * Whether the member votes.
   */
  role?: "Voter" | "Learner";
  /**
   * Whether the member is the leader.
   */
  leader?: boolean;
  /**
   * State that the member reports.
   */
  state?: string;
  /**
   * Whether its pod is ready.
   */
  ready?: boolean;
  /**
   * Version that the member runs.
   */
  version?: string;
  /**
   * Whether its pod has the current pod template.
   */
  updated?: boolean;
  /**
   * Node of its pod.
   */
  node?: string;
  /**
   * How often the container of its pod was restarted. Absent if never.
   */
  restarts?: number;
  /**
   * Why the container of its pod last ended, such as OOMKilled or Error.
   */
  lastTermination?: string;
  /**
   * When the container last ended.
   */
  lastTerminationAt?: string;
  /**
   * How far the member is behind the leader, in milliseconds. Absent up to one second.
   */
  lagMs?: number;
}
