/** A cluster for as long as some work takes. */

import manifest from "../../package.json" with { type: "json" };
import { importImages } from "./cluster-node.ts";
import { succeeds } from "./command.ts";
import { buildProductImage } from "./images.ts";
import { removeClusterOnSignals } from "./interruption.ts";
import { phase } from "./phases.ts";
import { Site } from "./site.ts";
import { describeCluster, isRunning, NoClusterHere, startCluster } from "./start.ts";
import { keepLogs, stopCluster } from "./stop.ts";

/** As charts name it when nobody says otherwise. */
const PRODUCT_IMAGE = `quoin:${manifest.version}`;

/**
 * Does the work with KUBECONFIG set: to what it was, if that was something; else to the cluster of this clone, which is
 * removed afterwards if it did not run before. Raises NoClusterHere if there is no cluster to be had.
 */
export async function withCluster<T>(work: () => Promise<T>): Promise<T> {
  const site = Site.own();
  const { KUBECONFIG = "" } = process.env;
  if (KUBECONFIG !== "" && KUBECONFIG !== site.kubeconfig) {
    await expectKubectl();
    return await work();
  }
  const isKept = isRunning(site);
  if (isKept) {
    console.log("Using the cluster that runs already.");
  } else {
    removeClusterOnSignals();
    await startCluster(site);
  }
  try {
    await phase("image of Quoin", async (say) => say(await provideProduct(site)));
    process.env.KUBECONFIG = site.kubeconfig;
    return await work();
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

/** Builds the image of this repository and gives it to all nodes. Returns its name. */
async function provideProduct(site: Site): Promise<string> {
  const archive = site.path("quoin.tar");
  await buildProductImage(PRODUCT_IMAGE, describeCluster(site).images.base, archive);
  await Promise.all(site.nodes.map((node) => importImages(node, archive)));
  return PRODUCT_IMAGE;
}
