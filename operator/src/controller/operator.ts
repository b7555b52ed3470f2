/**
 * The running operator. It watches objects. While it holds the Lease, it reconciles the clusters that changed or whose
 * next pass is due.
 *
 * An operator that waits for the Lease watches, too, so that it can start at once.
 */

import { BACKUP_KINDS, BackupControllers, backupKey, SCHEDULE_LABEL } from "../backups/index.ts";
import type { PlanCertificates } from "../certificates/index.ts";
import { isStale } from "../execute/index.ts";
import {
  CachedReads,
  type Connection,
  Elector,
  type EventContent,
  isKubeError,
  type Kind,
  KubeClient,
  Recorder,
  Reflector,
  type RequestObserver,
  type Timing,
  WorkQueue,
} from "../kube/index.ts";
import { MemberClient } from "../members/index.ts";
import { type EndpointOf, Observer } from "../observe/index.ts";
import type { ClusterStatus, CoordinationCluster } from "../plan/index.ts";
import type { Settings } from "../render/index.ts";
import { HealthServer, type Logger, OperatorMetrics } from "../telemetry/index.ts";
import { definitionProblem } from "./definition-check.ts";
import { type Defaults, Reconciler } from "./reconciler.ts";

const CLUSTER_LABEL = "quoin.dev/cluster";
/** Changes often come together; one pass sees them all. */
const COALESCE_MS = 100;
/** The operator sends a write only if at least this much time is left on the Lease. */
const LEASE_LEFT_MS = 5_000;
/** Deadline of requests about the Lease. A request that hangs leaves time for another one before the Lease is lost. */
const LEASE_DEADLINE_MS = 4_000;
/** After this long without an answer, a restart may help. */
const STALE_MS = 600_000;
const DEFINITION_CHECK_MS = 30_000;
/** Owned objects other than pods; a change to one triggers a reconcile. */
const OWNED_KINDS: readonly Kind[] = [
  ...(["Service", "ConfigMap", "PodDisruptionBudget"] as const),
  ...(["ServiceAccount", "Role", "RoleBinding", "NetworkPolicy"] as const),
];
const WATCHED_KINDS: readonly Kind[] = ["StatefulSet", "Pod", "PersistentVolumeClaim", ...OWNED_KINDS];

export interface OperatorOptions {
  readonly connection: Connection;
  /** Name of its pod, which must be unique. */
  readonly instance: string;
  readonly leaseName: string;
  /** Empty = all. */
  readonly watchNamespaces: readonly string[];
  readonly settings: Settings;
  readonly defaults: Defaults;
  readonly planCertificates: PlanCertificates;
  readonly endpointOf: EndpointOf;
  readonly logger: Logger;
  readonly timing: Timing;
}

export class Operator {
  readonly #options: OperatorOptions;
  readonly #client: KubeClient;
  readonly #members = new MemberClient();
  readonly #metrics: OperatorMetrics;
  readonly #recorder: Recorder;
  readonly #reconciler: Reconciler;
  readonly #queue: WorkQueue;
  readonly #backups: BackupControllers;
  readonly #backupQueue: WorkQueue;
  readonly #elector: Elector;
  readonly #reflectors: readonly Reflector[];
  readonly #health: HealthServer;
  readonly #stopping = new AbortController();
  readonly #releasing = new AbortController();
  #running: Promise<"stopped" | "lost"> | null = null;
  #definitionProblem: string | null = "the definition has not been checked yet";

  constructor(options: OperatorOptions) {
    this.#options = options;
    const { connection, instance, logger, timing } = options;
    this.#metrics = new OperatorMetrics({
      queueDepth: () => this.#queue.depth,
      isLeader: () => this.#elector.remainingMs > 0,
      watchAges: () => this.#watchAges(),
    });
    const observer: RequestObserver = { onRequest: (method, code) => this.#metrics.countRequest(method, code) };
    this.#client = new KubeClient(connection, observer);
    const client = this.#client;
    const failed = (what: string) => (error: unknown) => logger.warn({ err: error }, what);
    this.#recorder = new Recorder({ client, instance, timing, onError: failed("cannot write an event") });
    this.#elector = new Elector({
      client: new KubeClient(connection, observer, LEASE_DEADLINE_MS),
      timing,
      namespace: options.settings.operatorNamespace,
      name: options.leaseName,
      identity: instance,
      onError: failed("cannot read or write the Lease"),
    });
    this.#reflectors = this.#makeReflectors();
    this.#reconciler = this.#makeReconciler();
    this.#queue = new WorkQueue((key) => this.#reconcile(key), timing);
    this.#backups = this.#makeBackups();
    this.#backupQueue = new WorkQueue((key) => this.#reconcileBackup(key), timing);
    this.#health = new HealthServer({ unready: () => this.#unready(), dead: () => this.#dead() }, this.#metrics);
  }

  /**
   * Serves probes and metrics.
   * @throws Error if the port is not available
   */
  listen(host: string, port: number): Promise<number> {
    return this.#health.listen(host, port);
  }

  /**
   * Watches, waits for the Lease, and reconciles while it holds it. Resolves when it no longer holds the Lease: after
   * `stop`, or because it lost it. Then nothing may be written any more, and the process must end at once.
   */
  run(): Promise<"stopped" | "lost"> {
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Ends running passes, releases the Lease, and then ends everything else. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#queue.stop(), this.#backupQueue.stop()]);
    this.#releasing.abort();
    await this.#running;
    await Promise.all(this.#reflectors.map((reflector) => reflector.stop()));
    await this.#recorder.flush();
    this.#members.close();
    await this.#health.close();
  }

  async #run(): Promise<"stopped" | "lost"> {
    for (const reflector of this.#reflectors) {
      reflector.start();
    }
    const checks = this.#checkDefinition();
    await this.#until(() => this.#unready().length === 0);
    await this.#elector.acquire(this.#stopping.signal);
    if (!this.#stopping.signal.aborted) {
      this.#options.logger.info("this operator is active now");
      this.#queue.start();
      this.#backupQueue.start();
    }
    const end = await this.#elector.hold(this.#releasing.signal);
    if (end === "lost") {
      return "lost";
    }
    await checks;
    return "stopped";
  }

  #makeReconciler(): Reconciler {
    const { settings, defaults, planCertificates, endpointOf, logger, timing } = this.#options;
    const client = this.#client;
    const members = this.#members;
    return new Reconciler({
      client,
      defaults,
      cache: new CachedReads(client, this.#reflectors, timing),
      observer: new Observer({
        client,
        members,
        settings,
        planCertificates,
        endpointOf,
        now: Date.now,
        onSilent: (error) => logger.debug({ err: error }, "a member did not answer"),
        onUnknown: (error) => logger.warn({ err: error }, "cannot read the events about a missing pod or volume"),
      }),
      execution: { client, members, monotonicMs: () => timing.monotonicMs(), mayWrite: () => this.#mayWrite() },
      sink: {
        event: (cluster, content) => this.#record(cluster, content),
        onAction: (action) => this.#metrics.countAction(action),
        onFailure: ({ metadata }, what, error) =>
          logger[isStale(error) || isKubeError(error, "terminating") ? "debug" : "warn"](
            { cluster: `${metadata.namespace}/${metadata.name}`, what, err: error },
            "not done",
          ),
        onStatus: (cluster, status) => this.#updateMetrics(cluster, status),
        onFailing: ({ metadata }, failures, now) => {
          const seconds = new Map<string, number>();
          for (const { action, since } of failures) {
            seconds.set(action, Math.max(seconds.get(action) ?? 0, (now - since) / 1000));
          }
          this.#metrics.setFailing(`${metadata.namespace}/${metadata.name}`, seconds);
        },
        onGone: (namespace, name) => this.#metrics.forgetCluster(`${namespace}/${name}`),
      },
    });
  }

  #makeBackups(): BackupControllers {
    const { endpointOf } = this.#options;
    return new BackupControllers({
      client: this.#client,
      members: this.#members,
      endpointOf,
      now: Date.now,
      mayWrite: () => this.#mayWrite(),
      event: (subject, content) => this.#record(subject, content),
      onFinished: (namespace, schedule) =>
        this.#backupQueue.add(backupKey("CoordinationBackupSchedule", namespace, schedule), COALESCE_MS),
    });
  }

  #mayWrite(): boolean {
    return this.#elector.remainingMs >= LEASE_LEFT_MS;
  }

  #record(
    { apiVersion, kind, metadata }: Pick<CoordinationCluster, "apiVersion" | "kind" | "metadata">,
    content: EventContent,
  ): void {
    const { name, namespace = "", uid = "" } = metadata;
    this.#options.logger.info({ kind, object: `${namespace}/${name}`, ...content }, "event");
    this.#recorder.record({ apiVersion, kind, name, namespace, uid }, content);
  }

  #makeReflectors(): Reflector[] {
    const { watchNamespaces } = this.#options;
    const namespaces = watchNamespaces.length === 0 ? [""] : watchNamespaces;
    const kinds: readonly Kind[] = ["CoordinationCluster", ...WATCHED_KINDS];
    return [
      ...namespaces.flatMap((namespace) => this.#makeBackupReflectors(namespace)),
      ...this.#makeClusterReflectors(namespaces, kinds),
    ];
  }

  /** A deleted backup may let its schedule take another one. */
  #makeBackupReflectors(namespace: string): Reflector[] {
    const { logger, timing } = this.#options;
    return BACKUP_KINDS.map((kind) => {
      return new Reflector({
        client: this.#client,
        kind,
        namespace,
        timing,
        labelSelector: "",
        ignoresStatus: true,
        onChange: ({ name = "", namespace: of = "", labels }) => {
          this.#backupQueue.add(backupKey(kind, of, name), COALESCE_MS);
          const schedule = labels?.[SCHEDULE_LABEL];
          if (kind === "CoordinationBackup" && schedule !== undefined) {
            this.#backupQueue.add(backupKey("CoordinationBackupSchedule", of, schedule), COALESCE_MS);
          }
        },
        onError: (error) => logger.warn({ kind, err: error }, "a watch ended"),
      });
    });
  }

  #makeClusterReflectors(namespaces: readonly string[], kinds: readonly Kind[]): Reflector[] {
    const { logger, timing } = this.#options;
    return namespaces.flatMap((namespace) =>
      kinds.map((kind) => {
        const isCluster = kind === "CoordinationCluster";
        return new Reflector({
          client: this.#client,
          kind,
          namespace,
          timing,
          labelSelector: isCluster ? "" : CLUSTER_LABEL,
          // The status differs in each pass while a member catches up. Without this, each pass would trigger the next
          // one.
          ignoresStatus: isCluster,
          onChange: ({ name = "", namespace: of = "", labels }) => {
            const cluster = isCluster ? name : (labels?.[CLUSTER_LABEL] ?? "");
            // An empty label value names no cluster, and with an empty name the API server would return all clusters.
            if (cluster === "") {
              return;
            }
            if (OWNED_KINDS.includes(kind)) {
              this.#reconciler.invalidateOwnedObjects(of, cluster);
            }
            this.#queue.add(`${of}/${cluster}`, COALESCE_MS);
          },
          onError: (error) => logger.warn({ kind, err: error }, "a watch ended"),
        });
      }),
    );
  }

  async #reconcile(key: string): Promise<number | null> {
    const { logger, timing } = this.#options;
    const [namespace = "", name = ""] = key.split("/");
    const startMs = timing.monotonicMs();
    const count = (result: "done" | "gone" | "failed"): void =>
      this.#metrics.countReconcile(result, (timing.monotonicMs() - startMs) / 1000);
    try {
      const nextMs = await this.#reconciler.reconcile(namespace, name);
      count(nextMs === null ? "gone" : "done");
      return nextMs;
    } catch (error) {
      count("failed");
      logger.error({ cluster: key, err: error }, "a pass failed");
      throw error;
    }
  }

  async #reconcileBackup(key: string): Promise<number | null> {
    try {
      return await this.#backups.reconcile(key);
    } catch (error) {
      this.#options.logger.error({ object: key, err: error }, "a pass failed");
      throw error;
    }
  }

  #updateMetrics({ metadata, spec }: CoordinationCluster, status: ClusterStatus): void {
    const { blocked, backup, conditions = [], membersSummary = "" } = status;
    const since = Date.parse(blocked?.since ?? "");
    const seconds = Number.isNaN(since) ? 0 : Math.max(0, (Date.now() - since) / 1000);
    const lastBackupMs = Date.parse(backup?.lastSuccessTime ?? "");
    this.#metrics.setCluster({
      cluster: `${metadata.namespace}/${metadata.name}`,
      blocked: blocked === undefined ? null : { gate: blocked.gate, seconds },
      conditions,
      wanted: spec.replicas,
      healthy: Number.parseInt(membersSummary, 10) || 0,
      lastBackupMs: Number.isNaN(lastBackupMs) ? null : lastBackupMs,
    });
  }

  #unready(): string[] {
    const behind = this.#reflectors
      .filter(({ synced, refusal }) => !synced || refusal !== null)
      .map(
        ({ kind, refusal }) =>
          `${kind} ${refusal === null ? "has not been listed yet" : `may not be read: ${refusal}`}`,
      );
    return this.#definitionProblem === null ? behind : [this.#definitionProblem, ...behind];
  }

  #dead(): string[] {
    const stale = this.#reflectors.filter(({ ageMs }) => ageMs > STALE_MS);
    return stale.map(({ kind, ageMs }) => `nothing was heard of ${kind} for ${Math.round(ageMs / 1000)} s`);
  }

  #watchAges(): ReadonlyMap<string, number> {
    const ages = new Map<string, number>();
    for (const { kind, ageMs } of this.#reflectors) {
      ages.set(kind, Math.max(ages.get(kind) ?? 0, ageMs / 1000));
    }
    return ages;
  }

  /** Repeated, because a definition may be installed later or replaced by an older one. */
  async #checkDefinition(): Promise<void> {
    const { logger, timing } = this.#options;
    while (!this.#stopping.signal.aborted) {
      try {
        this.#definitionProblem = await definitionProblem(this.#client);
      } catch (error) {
        logger.warn({ err: error }, "cannot read the definition");
      }
      await timing.sleep(this.#definitionProblem === null ? DEFINITION_CHECK_MS : 1_000, this.#stopping.signal);
    }
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition() && !this.#stopping.signal.aborted) {
      await this.#options.timing.sleep(50, this.#stopping.signal);
    }
  }
}
