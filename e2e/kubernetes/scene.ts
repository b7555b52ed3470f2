/**
 * Setup of every scenario: the operator, a namespace, and a cluster in it. The operator stays for the next scenario.
 * The namespace is deleted while the next scenario begins; `removeScenes` removes everything.
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
/** Helm flags of the last installation of the operator; null if it is not installed, or the flags are unknown. */
let installedFlags: string | null = null;
/** Namespaces of past scenes. */
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
   * Installs the operator, if it is not installed with its own defaults, and makes an empty namespace. The scenario
   * itself creates the cluster with the given name.
   */
  static async set(namespace: string, name = "demo"): Promise<Scene> {
    const kubernetes = await Kubernetes.connect();
    try {
      // An interrupted run may have left it in a cluster that stays.
      await kubernetes.removeNamespace(namespace, REMOVAL_LIMIT_MS);
      if (installedFlags !== "") {
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

  /** Begins to delete the namespace with the cluster in it. */
  async clear(): Promise<void> {
    const { kubernetes, cluster } = this;
    try {
      await this.#endpoints?.close();
      await leaveNamespace(kubernetes, cluster.namespace);
    } finally {
      kubernetes.close();
    }
  }

  /** Installs the operator, or upgrades it, with exactly these Helm flags, and none of an earlier call. */
  async installOperator(...flags: readonly string[]): Promise<void> {
    await installOperator(this.kubernetes, flags);
  }

  /** Helm's revision of the operator's release, for a rollback. */
  async operatorRevision(): Promise<number> {
    const list = ["history", RELEASE, "--namespace", OPERATOR_NAMESPACE, "--max", "1", "--output", "json"];
    const [{ revision }] = JSON.parse(await this.kubernetes.cluster.helm(list));
    return revision;
  }

  async rollBackOperator(revision: number): Promise<void> {
    installedFlags = null;
    const wait = ["--wait", "--timeout", `${HELM_SECONDS}s`];
    await this.kubernetes.cluster.helm([
      ...["rollback", RELEASE, String(revision), "--namespace", OPERATOR_NAMESPACE, ...wait],
    ]);
  }

  /** Uninstalls the operator, if it is installed; the definition stays. */
  async removeOperator(): Promise<void> {
    await removeOperator(this.kubernetes);
  }
}

/** Begins to delete a namespace, which takes longer than the next scenario has to wait. */
export async function leaveNamespace(kubernetes: Kubernetes, namespace: string): Promise<void> {
  leaving.add(namespace);
  await kubernetes.beginToRemoveNamespace(namespace);
}

/** Removes what scenes have left for each other: the operator, and namespaces that are still being deleted. */
export async function removeScenes(): Promise<void> {
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

/** Namespace of the operators of a scene. */
export const OPERATOR_PODS = `/api/v1/namespaces/${OPERATOR_NAMESPACE}/pods`;

/** Pods of all operators, also those that wait for the Lease. */
export async function operatorPods(kubernetes: Kubernetes): Promise<KubeObject[]> {
  const query = `labelSelector=app.kubernetes.io/instance=${RELEASE}`;
  return (await kubernetes.get(`${OPERATOR_PODS}?${query}`)).items;
}

/**
 * Its rights are deleted at the same time, so it cannot release its Lease, and the next operator would wait for its
 * expiry.
 */
export async function removeOperator(kubernetes: Kubernetes): Promise<void> {
  installedFlags = null;
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
  installedFlags = null;
  await cluster.helm([
    ...["upgrade", "--install", RELEASE, join(CHARTS, "quoin-operator"), "--namespace", OPERATOR_NAMESPACE],
    ...["--create-namespace", "--wait", "--timeout", `${HELM_SECONDS}s`, "--reset-values", ...flags],
  ]);
  installedFlags = flags.join(" ");
}

/** Prints a measured value. */
export function report(what: string): void {
  console.log(`      ${what}`);
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(2)} s`;
}
