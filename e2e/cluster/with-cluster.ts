/** A cluster for the duration of some work. */

import { succeeds } from "../../testing/index.ts";
import { phase } from "./phases.ts";
import { startWithProduct } from "./product.ts";
import { Site } from "./site.ts";
import { isRunning, NoClusterHere } from "./start.ts";
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
  try {
    await startWithProduct(site);
    process.env.KUBECONFIG = site.kubeconfig;
    return await work(isKept);
  } finally {
    // Nothing is left of a cluster that could not start.
    if (!isKept && site.exists) {
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
