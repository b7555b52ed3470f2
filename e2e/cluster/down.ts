/**
 * `npm run e2e:down`: removes the Kubernetes that `npm run e2e:up` or `npm run e2e` of this clone has started, also
 * after a crash, and nothing else. Build results stay in the cache.
 */

import { phase } from "./phases.ts";
import { Site } from "./site.ts";
import { stopCluster } from "./stop.ts";

const site = Site.own();
if (site.exists) {
  await phase("removing the cluster", () => stopCluster(site));
} else {
  console.log("There is no cluster.");
}
