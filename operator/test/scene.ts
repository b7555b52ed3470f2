/**
 * A cluster as the operator observes it, for tests. A scene begins healthy and as specified; a test then breaks what it
 * is about.
 */
import type {
  ClaimView,
  ClusterSpec,
  Configuration,
  CoordinationCluster,
  Identity,
  MemberReport,
  Observed,
  Obstacle,
  PodView,
  SetView,
  Slot,
} from "../src/plan/index.ts";
import { NO_RECOVERY } from "../src/plan/index.ts";

export const NOW = Date.UTC(2026, 0, 1);
/** Update revision of the set; pods with any other revision are outdated. */
export const NEW_REVISION = "new";
export const CLUSTER_ID = "cluster-1";
export const CONFIG_INDEX = 100;
const TERM = 7;
const GIB = 1024 ** 3;
const LONG_AGO = NOW - 3_600_000;

/** The specification with the definition's defaults. */
export function specOf(changes: Partial<ClusterSpec> = {}): ClusterSpec {
  return {
    replicas: 3,
    version: "1.4.0",
    image: { repository: "quoin", pullPolicy: "IfNotPresent" },
    storage: { size: "8Gi", whenDeleted: "Retain", whenScaled: "Delete" },
    resources: { requests: { cpu: "250m", memory: "512Mi" }, limits: { memory: "2Gi" } },
    scheduling: { spread: "Preferred" },
    security: { userIds: "Fixed" },
    tls: { mode: "Auto", certificateDays: 90, renewBeforeDays: 30 },
    access: { ownerEmail: "owner@quoin.local" },
    settings: {},
    services: { client: { type: "ClusterIP" }, leader: { enabled: true, type: "ClusterIP" } },
    podDisruptionBudget: { enabled: true },
    networkPolicy: { enabled: false },
    monitoring: { podMonitor: { enabled: false }, rules: { enabled: false } },
    update: { mode: "Automatic", soakSeconds: 5, startupBudgetSeconds: 600 },
    ...changes,
  };
}

export function clusterOf(spec: Partial<ClusterSpec> = {}, name = "demo"): CoordinationCluster {
  return {
    apiVersion: "quoin.dev/v1alpha1",
    kind: "CoordinationCluster",
    metadata: { name, namespace: "default", uid: "cr-uid", generation: 1 },
    spec: specOf(spec),
  };
}

export function idOf(ordinal: number): number {
  return 10 + ordinal;
}

type Rest = Partial<
  Pick<
    Observed,
    "refusal" | "leaderlessSince" | "minAvailable" | "drift" | "attempts" | "obstacles" | "recovery" | "restore"
  >
>;

export class Scene {
  cluster: CoordinationCluster;
  identity: Identity | null = { clusterId: CLUSTER_ID, founder: "demo-0", founderIncarnation: "incarnation-0" };
  set: SetView | null;
  /** Null while no quorum confirms it. */
  configuration: Configuration | null;
  known: Configuration;
  rest: Rest = {};
  readonly pods = new Map<number, PodView>();
  readonly claims = new Map<number, ClaimView>();
  readonly reports = new Map<number, MemberReport>();

  /** This many voters; the first leads. */
  constructor(replicas: ClusterSpec["replicas"], voters: number = replicas) {
    this.cluster = clusterOf({ replicas });
    this.set = {
      uid: "set-uid",
      resourceVersion: "set-1",
      replicas: voters,
      updateRevision: NEW_REVISION,
      caughtUp: true,
      isOverwritten: false,
      storageClassName: null,
      configIndex: CONFIG_INDEX,
      settings: null,
    };
    this.known = {
      term: TERM,
      index: CONFIG_INDEX,
      commitIndex: 500,
      changing: false,
      leaderId: idOf(0),
      members: [],
    };
    this.configuration = this.known;
    for (let ordinal = 0; ordinal < voters; ordinal++) {
      this.member(ordinal);
    }
  }

  /** Adds a member with all its objects. */
  member(ordinal: number, slot: Partial<Slot> = {}): this {
    this.slot(ordinal, slot).pod(ordinal).claim(ordinal).report(ordinal);
    return slot.voter === false ? this.pod(ordinal, { role: "learner", readySince: null, unreadySince: NOW }) : this;
  }

  spec(changes: Partial<ClusterSpec>): this {
    this.cluster = { ...this.cluster, spec: { ...this.cluster.spec, ...changes } };
    return this;
  }

  configured(changes: Partial<Configuration>): this {
    this.known = { ...this.known, ...changes };
    this.configuration = this.configuration && this.known;
    return this;
  }

  /** No quorum has been confirmed for this long. */
  leaderless(forMs: number): this {
    this.configuration = null;
    this.rest = { ...this.rest, leaderlessSince: NOW - forMs };
    return this;
  }

  slot(ordinal: number, changes: Partial<Slot> = {}): this {
    const name = `demo-${ordinal}`;
    const present = this.known.members.find((slot) => slot.name === name) ?? {
      id: idOf(ordinal),
      name,
      voter: true,
      incarnation: `incarnation-${ordinal}`,
      lagMs: 0,
      contactAgeMs: 0,
      promotable: false,
    };
    const changed = { ...present, ...changes };
    const members = this.known.members.filter((slot) => slot.name !== name);
    return this.configured({ members: [...members, changed].toSorted((a, b) => (a.name < b.name ? -1 : 1)) });
  }

  unclaimed(ordinal: number): this {
    const members = this.known.members.map((slot) => {
      const { incarnation: _incarnation, ...unclaimed } = slot;
      return slot.name === `demo-${ordinal}` ? unclaimed : slot;
    });
    return this.configured({ members });
  }

  noSlot(ordinal: number): this {
    return this.configured({ members: this.known.members.filter((slot) => slot.name !== `demo-${ordinal}`) });
  }

  pod(ordinal: number, changes: Partial<PodView> = {}): this {
    const isLeader = this.known.leaderId === idOf(ordinal);
    const present = this.pods.get(ordinal) ?? {
      ordinal,
      uid: `pod-${ordinal}`,
      resourceVersion: "pod-1",
      revision: NEW_REVISION,
      version: "1.4.0",
      created: LONG_AGO,
      readySince: LONG_AGO,
      unreadySince: null,
      terminating: false,
      scheduled: true,
      node: `node-${ordinal}`,
      runningSince: LONG_AGO,
      notRunningSince: null,
      started: true,
      everStarted: true,
      stuck: false,
      restarts: 0,
      lastExit: null,
      failedExit: null,
      role: isLeader ? "leader" : "follower",
      term: TERM,
    };
    this.pods.set(ordinal, { ...present, ...changes });
    return this;
  }

  claim(ordinal: number, changes: Partial<ClaimView> = {}): this {
    const present = this.claims.get(ordinal) ?? {
      ordinal,
      uid: `claim-${ordinal}`,
      resourceVersion: "claim-1",
      clusterId: CLUSTER_ID,
      memberId: idOf(ordinal),
      ours: true,
      leftover: false,
      unsureSince: null,
      foreign: false,
      bound: true,
      storageClassName: "standard",
      requested: 8 * GIB,
      capacity: 8 * GIB,
      expandable: true,
      resizePendingSince: null,
      terminating: false,
    };
    this.claims.set(ordinal, { ...present, ...changes });
    return this;
  }

  report(ordinal: number, changes: Partial<MemberReport> = {}): this {
    const present = this.reports.get(ordinal) ?? {
      podUid: `pod-${ordinal}`,
      state: "RUNNING",
      stateForMs: 3_600_000,
      incarnation: `incarnation-${ordinal}`,
      clusterId: CLUSTER_ID,
      memberId: idOf(ordinal),
      version: "1.4.0",
      downgradeFloor: "1.0.0",
      certificateSerial: "1",
      trustedCas: [],
      settingsRevision: 0,
      alarms: [],
      foundedFrom: "",
    };
    this.reports.set(ordinal, { ...present, ...changes });
    return this;
  }

  /** A process with an empty directory. */
  emptyMember(ordinal: number, state: "EMPTY" | "MEMBER_DATA_LOST" = "EMPTY"): this {
    this.pod(ordinal, { readySince: null, unreadySince: LONG_AGO, role: "none" });
    this.claim(ordinal, { memberId: "none" }).report(ordinal, { state, incarnation: `fresh-${ordinal}` });
    const { clusterId: _clusterId, memberId: _memberId, ...report } = this.reports.get(ordinal) as MemberReport;
    this.reports.set(ordinal, report);
    return this;
  }

  /** A pod that does not answer. */
  silent(ordinal: number): this {
    this.reports.delete(ordinal);
    return this.pod(ordinal, { readySince: null, unreadySince: LONG_AGO });
  }

  outdated(...ordinals: number[]): this {
    for (const ordinal of ordinals) {
      this.pod(ordinal, { revision: "old" });
    }
    return this;
  }

  gone(ordinal: number): this {
    this.pods.delete(ordinal);
    this.reports.delete(ordinal);
    return this;
  }

  scale(replicas: number): this {
    this.set = this.set && { ...this.set, replicas };
    return this;
  }

  /** Kubernetes cannot create or place this. */
  obstacle(ordinal: number, reason: Obstacle["reason"], cause: string): this {
    this.rest = { ...this.rest, obstacles: [...(this.rest.obstacles ?? []), { ordinal, reason, cause }] };
    return this;
  }

  attempts(changes: Partial<Observed["attempts"]>): this {
    this.rest = { ...this.rest, attempts: { failedTransfers: 0, refusedEviction: null, handover: null, ...changes } };
    return this;
  }

  /** Before anything is created. */
  static beginning(replicas: ClusterSpec["replicas"]): Scene {
    const scene = new Scene(replicas, 0);
    scene.identity = null;
    scene.set = null;
    scene.rest = { leaderlessSince: NOW };
    scene.configuration = null;
    return scene;
  }

  observe(): Observed {
    const voters = this.known.members.filter((slot) => slot.voter).length;
    const wanted = Math.max(this.cluster.spec.replicas, voters);
    return {
      now: NOW,
      cluster: this.cluster,
      refusal: null,
      identity: this.identity,
      set: this.set,
      pods: [...this.pods.values()],
      claims: [...this.claims.values()],
      obstacles: [],
      reports: this.withKnown(),
      configuration: this.configuration,
      known: this.known.members.length === 0 ? null : this.known,
      leaderlessSince: this.configuration === null ? NOW : null,
      minAvailable: wanted < 2 ? null : Math.max(Math.floor(voters / 2) + 1, voters - 1),
      drift: [],
      ownerPending: false,
      recovery: NO_RECOVERY,
      restore: null,
      attempts: { failedTransfers: 0, refusedEviction: null, handover: null },
      ...this.rest,
    };
  }

  /** Members that have data know a configuration. */
  private withKnown(): Map<number, MemberReport> {
    const { members } = this.known;
    const entries = [...this.reports].map(([ordinal, report]) => {
      const hasData = report.memberId !== undefined && members.length > 0;
      return [ordinal, hasData ? { ...report, configuration: this.known } : report] as const;
    });
    return new Map(entries);
  }
}
