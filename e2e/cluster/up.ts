/**
 * `npm run e2e:up`: starts a Kubernetes of three nodes on this machine and leaves it running, with the image of this
 * repository on each node. Prints the duration of each phase, and then how to use the cluster. Exits with 1, and a line
 * with the reason, if this machine cannot run one.
 */

import { startWithProduct } from "./product.ts";
import { Site } from "./site.ts";
import { describeCluster, NoClusterHere } from "./start.ts";

const site = Site.own();
try {
  await startWithProduct(site);
  const { kube, helm } = describeCluster(site).binaries;
  console.log(`\nexport KUBECONFIG=${site.kubeconfig} PATH=${kube}:${helm}:$PATH`);
} catch (error) {
  if (!(error instanceof NoClusterHere)) {
    throw error;
  }
  console.error(error.message);
  process.exitCode = 1;
}
