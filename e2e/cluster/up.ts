/**
 * `npm run e2e:up`: starts a Kubernetes of three nodes on this machine and leaves it running. Says what takes how long,
 * and at the end how to use it. Ends with 1, and a line that says why, if this machine cannot have one.
 */

import { removeClusterOnSignals } from "./interruption.ts";
import { Site } from "./site.ts";
import { describeCluster, isRunning, NoClusterHere, startCluster } from "./start.ts";

const site = Site.own();
try {
  if (isRunning(site)) {
    console.log("The cluster runs already.");
  } else {
    removeClusterOnSignals();
    await startCluster(site);
  }
  const { kube, helm } = describeCluster(site).binaries;
  console.log(`\nexport KUBECONFIG=${site.kubeconfig} PATH=${kube}:${helm}:$PATH`);
} catch (error) {
  if (!(error instanceof NoClusterHere)) {
    throw error;
  }
  console.error(error.message);
  process.exitCode = 1;
}
