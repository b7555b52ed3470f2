/**
 * `npm run e2e:up`: starts a Kubernetes of three nodes on this machine and leaves it running. Prints the duration of
 * each phase, and then how to use the cluster. Exits with 1, and a line with the reason, if this machine cannot run
 * one.
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
