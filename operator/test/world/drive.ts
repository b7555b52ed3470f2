/** Drives a world with one cluster through a user's requests, with an operator that may crash on the way. */
import type { ClusterSpec, ClusterStatus, CoordinationCluster } from "../../src/plan/index.ts";
import type { Any } from "../api-server/index.ts";
import { clusterOf } from "../index.ts";
import { WorldOperator } from "./operator.ts";
import { World } from "./world.ts";

const PLURAL = "coordinationclusters";
/** Every scenario ends within this many passes of at most ten seconds each. */
const PASSES_MAX = 150;
/** Pause after a pass that failed. */
const REPEAT_MS = 200;

/** Members in memory use no encryption. */
const PLAIN_TEXT = { tls: { mode: "Off", certificateDays: 90, renewBeforeDays: 30 } } as const;

export class Drive {
  readonly name = "demo";
  readonly namespace = "default";
  readonly world = new World();
  #operator: WorldOperator | null = null;

  /** @param ports number of members that run at once */
  async begin(ports?: number): Promise<void> {
    await this.world.open(ports);
    this.#operator = await WorldOperator.start(this.world);
  }

  async end(): Promise<void> {
    await this.#operator?.stop();
    await this.world.close();
  }

  get operator(): WorldOperator {
    if (this.#operator === null) {
      throw new Error("the world has not begun");
    }
    return this.#operator;
  }

  /** A second operator that does not know of the first. The caller must stop it. */
  another(): Promise<WorldOperator> {
    return WorldOperator.start(this.world);
  }

  get cluster(): CoordinationCluster {
    return this.world.api.store.get(PLURAL, this.namespace, this.name) as unknown as CoordinationCluster;
  }

  get status(): ClusterStatus {
    return this.cluster.status ?? {};
  }

  create(spec: Partial<ClusterSpec>, name = this.name): void {
    const { metadata, ...cluster } = clusterOf({ ...PLAIN_TEXT, ...spec }, name);
    this.world.api.store.create(PLURAL, this.namespace, { ...cluster, metadata: { name: metadata.name } });
  }

  /** Creates the cluster, and makes passes until it is there. */
  async founded(replicas: 1 | 3 = 1): Promise<void> {
    this.create({ replicas });
    await this.converge("founding");
  }

  /** The object in the namespace of the cluster. */
  find(plural: string, name: string): Any {
    return this.world.api.store.find(plural, this.namespace, name);
  }

  /** Merges into the object, as `kubectl patch` does. */
  edit(change: { readonly spec?: object; readonly metadata?: object }): void {
    const { store } = this.world.api;
    store.merge(PLURAL, store.get(PLURAL, this.namespace, this.name), change);
  }

  delete(): void {
    const { store } = this.world.api;
    store.remove(PLURAL, store.get(PLURAL, this.namespace, this.name));
    this.world.settle();
  }

  /** As `kubectl delete --cascade=orphan` does: marks the object first, then removes it from all owner references. */
  orphan(): void {
    const { store } = this.world.api;
    const cluster = store.get(PLURAL, this.namespace, this.name);
    const marked = store.update(PLURAL, cluster, (copy) => {
      copy.metadata.deletionTimestamp = store.time;
    });
    for (const [plural, object] of store.owned()) {
      store.update(plural, object, (copy) => {
        const { ownerReferences } = copy.metadata;
        copy.metadata.ownerReferences = ownerReferences.filter(
          ({ uid }: { uid: string }) => uid !== marked.metadata.uid,
        );
      });
    }
    store.drop(PLURAL, store.get(PLURAL, this.namespace, this.name));
    this.world.settle();
  }

  condition(type: string): string {
    const found = this.status.conditions?.find((condition) => condition.type === type);
    return `${found?.status} ${found?.reason}`;
  }

  messageOf(type: string): string | undefined {
    return this.status.conditions?.find((condition) => condition.type === type)?.message;
  }

  /** Whether everything matches the specification, and nothing is left over. */
  get isAsAsked(): boolean {
    const { metadata, spec } = this.cluster;
    const claims = this.world.api.store.list("persistentvolumeclaims").length;
    const isReady = this.condition("Ready") === "True AsAsked" && claims === spec.replicas;
    return this.status.observedGeneration === metadata.generation && isReady && this.#operator?.plan?.step === null;
  }

  /** Makes passes until the condition holds; resolves to whether the operator crashed on the way. */
  async until(what: string, condition: () => boolean): Promise<boolean> {
    let crashed = false;
    for (let passes = 0; passes < PASSES_MAX; passes++) {
      const pauseMs = await this.operator.reconcile(this.namespace, this.name).catch(() => REPEAT_MS);
      if (this.world.isDown) {
        crashed = true;
        await this.operator.stop();
        this.world.revive();
        this.#operator = await WorldOperator.start(this.world);
      } else if (condition()) {
        return crashed;
      }
      this.world.advance(Math.max(REPEAT_MS, pauseMs ?? 0));
    }
    const { step, blocker } = this.operator.plan ?? {};
    const last = [
      ...this.world.writes.slice(-10),
      JSON.stringify({ step, hold: blocker }),
      ...this.operator.failures.slice(-3),
    ];
    throw new Error(`${what}: not there after ${PASSES_MAX} passes, ${this.condition("Ready")}\n${last.join("\n")}`);
  }

  /** Makes passes for this long. */
  async pass(durationMs: number): Promise<void> {
    const end = this.world.now + durationMs;
    await this.until(`${durationMs} ms`, () => this.world.now >= end);
  }

  converge(what: string): Promise<boolean> {
    return this.until(what, () => this.isAsAsked);
  }
}
