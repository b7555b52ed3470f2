/**
 * What every scenario needs: the operator, a namespace, and a cluster in it. The operator stays for the next one, and the
 * namespace goes while that begins; `clearStage` leaves nothing.
 */

import { join } from "node:path";
import { REPOSITORY } from "../cluster/index.ts";
import { type KubeObject, Kubernetes, Refusal } from "./kubernetes-api.ts";
import { LeaderEndpoints } from "./leader-endpoints.ts";
import { type LoadOptions, LoadPod } from "./load-pod.ts";
import { QuoinCluster } from "./quoin-cluster.ts";

export const CHARTS = join(REPOSITORY, "charts");
export const OPERATOR_NAMESPACE = "quoin-e2e-operator";
const RELEASE = "quoin";
const REMOVAL_LIMIT_MS = 120_000;
const HELM_SECONDS = 100;
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${OPERATOR_NAMESPACE}/leases/quoin-operator`;
/** Flags of Helm with which the operator was installed last; null if it is not there, or it is not known how. */
let standsWith: string | null = null;
/** Namespaces of scenes that are over. */
const leaving = new Set<string>();

export class Scene {
  readonly kubernetes: Kubernetes;
  readonly cluster: QuoinCluster;
  #load: LoadPod | null = null;
  #endpoints: LeaderEndpoints | null = null;

  private constructor(kubernetes: Kubernetes, cluster: QuoinCluster) {
    this.kubernetes = kubernetes;
    this.cluster = cluster;
  }

  /**
   * Installs the operator, if it is not there with its own defaults, and makes an empty namespace. The cluster that is
   * named is up to the scenario.
   */
  static async set(namespace: string, name = "demo"): Promise<Scene> {
    const kubernetes = await Kubernetes.connect();
    try {
      // A run that was cut short may have left it in a cluster that stays.
      await kubernetes.removeNamespace(namespace, REMOVAL_LIMIT_MS);
      if (standsWith !== "") {
        await installOperator(kubernetes, []);
      }
      await kubernetes.cluster.kubectl(["create", "namespace", namespace]);
    } catch (error) {
      kubernetes.close();
      throw error;
    }
    return new Scene(kubernetes, new QuoinCluster(kubernetes, namespace, name));
  }

  /** Puts the cluster under load, and watches its leader Service. */
  async startLoad(options: LoadOptions = {}): Promise<{ readonly load: LoadPod; readonly endpoints: LeaderEndpoints }> {
    this.#endpoints = new LeaderEndpoints(this.cluster);
    this.#load = await LoadPod.start(this.cluster, options);
    return { load: this.#load, endpoints: this.#endpoints };
  }

  /** Begins to remove the namespace with the cluster in it. */
  async clear(): Promise<void> {
    const { kubernetes, cluster } = this;
    try {
      await this.#endpoints?.close();
      await leaveNamespace(kubernetes, cluster.namespace);
    } finally {
      kubernetes.close();
    }
  }

  /** Installs the operator, or upgrades it. Only these flags of Helm hold then, and none of an earlier call. */
  async installOperator(...flags: readonly string[]): Promise<void> {
    await installOperator(this.kubernetes, flags);
  }

  /** Number of the operator's release as Helm counts them, to go back to. */
  async operatorRevision(): Promise<number> {
    const list = ["history", RELEASE, "--namespace", OPERATOR_NAMESPACE, "--max", "1", "--output", "json"];
    const [{ revision }] = JSON.parse(await this.kubernetes.cluster.helm(list));
    return revision;
  }

  async rollBackOperator(revision: number): Promise<void> {
    standsWith = null;
    const wait = ["--wait", "--timeout", `${HELM_SECONDS}s`];
    await this.kubernetes.cluster.helm([
      ...["rollback", RELEASE, String(revision), "--namespace", OPERATOR_NAMESPACE, ...wait],
    ]);
  }

  /** Uninstalls it, if it is there; the definition stays. */
  async removeOperator(): Promise<void> {
    await removeOperator(this.kubernetes);
  }
}

/** Begins to remove a namespace, which takes longer than the next scenario has to wait. */
export async function leaveNamespace(kubernetes: Kubernetes, namespace: string): Promise<void> {
  leaving.add(namespace);
  await kubernetes.beginToRemoveNamespace(namespace);
}

/** Removes what scenes have left for each other: the operator, and namespaces that are still going. */
export async function clearStage(): Promise<void> {
  const kubernetes = await Kubernetes.connect();
  try {
    for (const namespace of leaving) {
      await kubernetes.removeNamespace(namespace, REMOVAL_LIMIT_MS);
    }
    await removeOperator(kubernetes);
  } finally {
    kubernetes.close();
  }
}

/** Where the operators of a scene are. */
export const OPERATOR_PODS = `/api/v1/namespaces/${OPERATOR_NAMESPACE}/pods`;

/** Of all operators, also those that wait for the Lease. */
export async function operatorPods(kubernetes: Kubernetes): Promise<KubeObject[]> {
  const query = `labelSelector=app.kubernetes.io/instance=${RELEASE}`;
  return (await kubernetes.get(`${OPERATOR_PODS}?${query}`)).items;
}

/** Its rights go at the same time, so that it cannot give its Lease back: the next one would wait for the end of that. */
export async function removeOperator(kubernetes: Kubernetes): Promise<void> {
  standsWith = null;
  const from = ["--namespace", OPERATOR_NAMESPACE];
  await kubernetes.cluster.helm(["uninstall", RELEASE, ...from, "--ignore-not-found", "--wait"]);
  try {
    await kubernetes.send("DELETE", LEASE);
  } catch (error) {
    if (!(error instanceof Refusal && error.answer.reason === "NotFound")) {
      throw error;
    }
  }
}

async function installOperator({ cluster }: Kubernetes, flags: readonly string[]): Promise<void> {
  standsWith = null;
  await cluster.helm([
    ...["upgrade", "--install", RELEASE, join(CHARTS, "quoin-operator"), "--namespace", OPERATOR_NAMESPACE],
    ...["--create-namespace", "--wait", "--timeout", `${HELM_SECONDS}s`, "--reset-values", ...flags],
  ]);
  standsWith = flags.join(" ");
}

/** Prints what was measured. */
export function tell(what: string): void {
  console.log(`      ${what}`);
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(2)} s`;
}
