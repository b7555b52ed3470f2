/**
 * A load in the cluster itself: the pod that runs `load/program.ts` in the image of the members. Its record shows
 * whether the service broke its guarantees, and how long no write succeeded.
 */

import {
  EXPIRY_LATE_MS_MAX,
  judgeHistory,
  leaderlessSpans,
  lockCheck,
  type RecordedOperation,
  SEARCH_LIMIT_MS,
} from "../../node/verify/history/index.ts";
import { until } from "../cluster/index.ts";
import { bundleLoad, type Entry, type KeyEntry, type LockEntry, type Progress, type Record } from "./load/index.ts";
import { LIMIT_MS, type QuoinCluster } from "./quoin-cluster.ts";

const PORT = 8080;
const MOUNTED_AT = "/etc/quoin/load";
const AUTHORITIES_AT = "/etc/quoin/ca";
const PROGRAM = "program.mjs";
/** Of the clients. A leader may have been lost this much earlier than its last answer arrived. */
const TIMEOUT_MS = 5_000;

/** Facts about a time span. */
export interface Span {
  readonly acknowledgedWrites: number;
  /** The longest time without an acknowledged write, including the ends of the span. */
  readonly gapMs: number;
  /** Failures of clients that retry, as text; and the number of failures of those that do not. */
  readonly failedWithRetries: readonly string[];
  readonly failedWithout: number;
}

export interface LoadOptions {
  /** Distinguishes several loads of one cluster; empty for the only one. */
  readonly label?: string;
  /** The node that it must run on, or must not run on; absent = any. */
  readonly on?: string;
  readonly notOn?: string;
  /** Its token, for less than an hour; absent = tokens from the API key of the cluster's owner. */
  readonly token?: string;
}

export class LoadPod {
  readonly #cluster: QuoinCluster;
  readonly #options: LoadOptions;
  readonly #name: string;
  #record: Record | null = null;

  private constructor(cluster: QuoinCluster, options: LoadOptions) {
    this.#cluster = cluster;
    this.#options = options;
    this.#name = options.label === undefined ? `${cluster.name}-load` : `${cluster.name}-load-${options.label}`;
  }

  /** Starts the load, and waits until writes are acknowledged. */
  static async start(cluster: QuoinCluster, options: LoadOptions = {}): Promise<LoadPod> {
    const load = new LoadPod(cluster, options);
    const [pod] = await cluster.pods();
    const { image } = pod.spec.containers[0];
    await cluster.kubernetes.apply(cluster.namespace, load.#program(await bundleLoad()), load.#pod(image));
    await load.untilMoreWrites();
    return load;
  }

  /** Waits until some more writes are acknowledged. Rejects if the load has failed. */
  async untilMoreWrites(more = 200): Promise<void> {
    let enough: number | null = null;
    await until(
      "acknowledged writes",
      async () => {
        const progress: Progress | null = await this.#progress();
        if (progress === null) {
          return false;
        }
        if (progress.error !== null) {
          throw new Error(`the load has failed: ${progress.error}`);
        }
        enough ??= progress.acknowledgedWrites + more;
        return progress.acknowledgedWrites >= enough;
      },
      LIMIT_MS,
    );
  }

  /** Ends the load, and removes the pod. Rejects with errors that no fault explains. */
  async stop(): Promise<void> {
    this.#record = await this.#cluster.kubernetes.send("POST", this.#proxied("stop"));
    await this.remove();
  }

  async remove(): Promise<void> {
    const { kubernetes, namespace } = this.#cluster;
    const objects = [`pod/${this.#name}`, `configmap/${this.#name}`];
    const remove = ["delete", "--namespace", namespace, "--ignore-not-found", "--wait=false", ...objects];
    await kubernetes.cluster.kubectl(remove);
  }

  /**
   * Violations in this record and in those of other loads of the cluster, as text: lost writes, stale reads, two
   * holders of a lock. Call it after `stop`.
   */
  judge(...others: readonly LoadPod[]): readonly string[] {
    const search = { nowMs: () => performance.now(), limitMs: SEARCH_LIMIT_MS };
    const records = [this, ...others].map((load) => load.#recorded);
    const keys = records.flatMap((record) => record.keys);
    const locks = records.flatMap((record) => record.locks);
    const limits = {
      clockDrift: 0,
      clockResolutionMs: 1,
      lateMsMax: EXPIRY_LATE_MS_MAX,
      leaderless: leaderlessSpans(this.#writesMs(), TIMEOUT_MS),
    };
    return [...judgeHistory(recordsOf(keys), search), ...lockCheck(recordsOf<LockEntry>(locks), limits)];
  }

  /** Call it after `stop`. */
  between(fromMs: number, toMs: number): Span {
    const inside = this.#recorded.keys.filter(({ endMs }) => endMs >= fromMs && endMs <= toMs);
    const writesMs = this.#writesMs().filter((atMs) => atMs >= fromMs && atMs <= toMs);
    const times = [fromMs, ...writesMs, toMs];
    const failed = inside.filter(({ outcome }) => outcome.kind !== "ok");
    const isRetrying = ({ client }: KeyEntry): boolean => client.startsWith("retrying-");
    return {
      acknowledgedWrites: writesMs.length,
      gapMs: times.reduce((longest, atMs, at) => Math.max(longest, atMs - (times[at - 1] ?? atMs)), 0),
      failedWithRetries: failed.filter(isRetrying).map(({ client, failure = "" }) => `${client}: ${failure}`),
      failedWithout: failed.filter((entry) => !isRetrying(entry)).length,
    };
  }

  get holds(): number {
    return this.#recorded.locks.filter(
      ({ operation, outcome }) =>
        operation.kind === "acquire" && outcome.kind === "ok" && outcome.answer.kind === "acquired",
    ).length;
  }

  get #recorded(): Record {
    if (this.#record === null) {
      throw new Error("the load runs still");
    }
    return this.#record;
  }

  /** Times of acknowledged writes, in rising order. */
  #writesMs(): number[] {
    return this.#recorded.keys
      .filter(({ operation, outcome }) => operation.kind === "put" && outcome.kind === "ok")
      .map(({ endMs }) => endMs)
      .sort((a, b) => a - b);
  }

  /** Null while it does not answer. */
  async #progress(): Promise<Progress | null> {
    try {
      return await this.#cluster.kubernetes.get(this.#proxied("progress"));
    } catch {
      return null;
    }
  }

  #proxied(path: string): string {
    return `/api/v1/namespaces/${this.#cluster.namespace}/pods/${this.#name}:${PORT}/proxy/${path}`;
  }

  #program(text: string): object {
    const data = { [PROGRAM]: text };
    return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: this.#name }, data };
  }

  #pod(image: string): object {
    const { name, namespace } = this.#cluster;
    const value = (variable: string, text: string): object => ({ name: variable, value: text });
    const env = [
      value("QUOIN_ENDPOINTS", `${name}.${namespace}.svc:7400`),
      value("LEADER_ENDPOINT", `${name}-leader.${namespace}.svc:7400`),
      this.#options.token === undefined
        ? { name: "QUOIN_API_KEY", valueFrom: { secretKeyRef: { name: `${name}-owner`, key: "api-key" } } }
        : value("QUOIN_TOKEN", this.#options.token),
      value("QUOIN_CA_FILE", `${AUTHORITIES_AT}/ca.crt`),
      value("LABEL", this.#options.label ?? ""),
    ];
    const container = {
      name: "load",
      image,
      command: ["node", `${MOUNTED_AT}/${PROGRAM}`],
      env,
      // Without it, the load would only get the processor time that members leave, and its own delays would count as
      // theirs.
      resources: { requests: { cpu: "250m", memory: "128Mi" } },
      volumeMounts: [
        { name: "program", mountPath: MOUNTED_AT },
        { name: "authorities", mountPath: AUTHORITIES_AT },
      ],
    };
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: this.#name },
      spec: {
        ...placementOf(this.#options),
        containers: [container],
        volumes: [
          { name: "program", configMap: { name: this.#name } },
          { name: "authorities", configMap: { name: `${name}-ca` } },
        ],
        terminationGracePeriodSeconds: 1,
        restartPolicy: "Never",
      },
    };
  }
}

function placementOf({ on, notOn }: LoadOptions): object {
  const field = (operator: "In" | "NotIn", node: string): object => ({
    key: "metadata.name",
    operator,
    values: [node],
  });
  const matchFields = [
    ...(on === undefined ? [] : [field("In", on)]),
    ...(notOn === undefined ? [] : [field("NotIn", notOn)]),
  ];
  return matchFields.length === 0
    ? {}
    : {
        affinity: {
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } },
        },
      };
}

/** As histories number them: by start, and without an end if the outcome is unknown. */
function recordsOf<Kind extends Entry<unknown, unknown>>(entries: readonly Kind[]) {
  return entries
    .toSorted((a, b) => a.startMs - b.startMs)
    .map(({ client, operation, startMs, endMs, outcome }, id) => {
      const isUnknown = outcome.kind === "unknown";
      return { id, client, operation, startMs, endMs: isUnknown ? Number.POSITIVE_INFINITY : endMs, outcome };
    }) as RecordedOperation<Kind["operation"], Extract<Kind["outcome"], { kind: "ok" }>["answer"]>[];
}
