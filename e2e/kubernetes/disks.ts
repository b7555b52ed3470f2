/** Disks that are lost for good. */

import { until } from "../cluster/index.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { LIMIT_MS, type QuoinCluster } from "./quoin-cluster.ts";

/** Removes pods and their volumes, and waits until the pods are gone. */
export async function loseDisks(cluster: QuoinCluster, pods: readonly KubeObject[]): Promise<void> {
  const { kubernetes, namespace } = cluster;
  const core = `/api/v1/namespaces/${namespace}`;
  for (const { metadata } of pods) {
    await kubernetes.send("DELETE", `${core}/persistentvolumeclaims/data-${metadata.name}`);
  }
  await Promise.all(pods.map(({ metadata }) => kubernetes.send("DELETE", `${core}/pods/${metadata.name}`)));
  const gone = new Set(pods.map(({ metadata }) => metadata.uid));
  const areGone = async (): Promise<boolean> => (await cluster.pods()).every(({ metadata }) => !gone.has(metadata.uid));
  await until("the pods to be gone", areGone, LIMIT_MS);
}
