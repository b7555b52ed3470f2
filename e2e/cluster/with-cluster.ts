/** A cluster for the duration of some work. */

import { succeeds } from "../../testing/index.ts";
import type { ClusterImages } from "./images.ts";
import { removeClusterOnSignals } from "./interruption.ts";
import { phase } from "./phases.ts";
import { buildProduct, importProduct } from "./product.ts";
import { Site } from "./site.ts";
import { describeCluster, isRunning, NoClusterHere, startCluster } from "./start.ts";
import { keepLogs, stopCluster } from "./stop.ts";

/**
 * Does the work with KUBECONFIG set: to its present value if there is one, else to the cluster of this clone. If that
 * did not run before, it is removed afterwards.
 *
 * @param work gets whether the cluster stays
 * @throws NoClusterHere if no cluster is available
 */
export async function withCluster<T>(work: (stays: boolean) => Promise<T>): Promise<T> {
  const site = Site.own();
  const { KUBECONFIG = "" } = process.env;
  if (KUBECONFIG !== "" && KUBECONFIG !== site.kubeconfig) {
    await expectKubectl();
    return await work(true);
  }
  const isKept = isRunning(site);
  const build = ({ base }: ClusterImages): Promise<void> => phase("image of Quoin", () => buildProduct(site, base));
  if (isKept) {
    console.log("Using the cluster that runs already.");
    await build(describeCluster(site).images);
  } else {
    removeClusterOnSignals();
    await startCluster(site, build);
  }
  try {
    await phase("Quoin on all nodes", async (say) => say(await importProduct(site)));
    process.env.KUBECONFIG = site.kubeconfig;
    return await work(isKept);
  } finally {
    if (!isKept) {
      console.log(`The logs of the cluster are in ${keepLogs(site)}.`);
      await phase("removing the cluster", () => stopCluster(site));
    }
  }
}

async function expectKubectl(): Promise<void> {
  if (!(await succeeds("kubectl", ["version", "--client"]))) {
    throw new NoClusterHere("KUBECONFIG is set, but there is no kubectl to use it with.");
  }
}
