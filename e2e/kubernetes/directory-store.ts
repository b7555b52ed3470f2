/** A backup store on a volume that all members mount, so they run on its node. */

import type { QuoinCluster } from "./quoin-cluster.ts";
import { STORE } from "./s3-pod.ts";

const CLAIM = "backups";

/** Makes the claim in the namespace of the cluster, and a CoordinationBackupStore called `store`. */
export async function makeDirectoryStore(cluster: QuoinCluster): Promise<void> {
  await cluster.kubernetes.apply(
    cluster.namespace,
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: CLAIM },
      spec: { accessModes: ["ReadWriteMany"], resources: { requests: { storage: "1Gi" } } },
    },
    {
      apiVersion: "quoin.dev/v1alpha1",
      kind: "CoordinationBackupStore",
      metadata: { name: STORE },
      spec: { directory: { claimName: CLAIM } },
    },
  );
}
