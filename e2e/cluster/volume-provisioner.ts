/**
 * Creates, grows and removes the volumes of a cluster of this harness, as a program next to it. All nodes share the
 * disk of this machine, so a volume is a directory; the affinity of each volume keeps it on its node.
 *
 *     node volume-provisioner.ts <name of the cluster>
 */

import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiClient, ApiError, type KubeObject } from "./api-client.ts";
import { readKubeconfig } from "./kubeconfig.ts";
import { Site } from "./site.ts";
import { planVolumes, type VolumeStep } from "./volumes.ts";

const CLAIMS = "/api/v1/persistentvolumeclaims";
const VOLUMES = "/api/v1/persistentvolumes";
const CONFLICT = 409;
const NOT_FOUND = 404;
/** After this many seconds a new watch begins, with a list, which shows missed changes. */
const WATCH_SECONDS = 300;
const RETRY_MS = 1_000;
/** Pods may run as any user; their kubelet changes the directory's owner on request. */
const OPEN_TO_ALL = 0o777;

const site = new Site(process.argv[2] ?? "");
const access = readKubeconfig(site.path("control", "admin.kubeconfig"));
if (access === null) {
  throw new Error(`there is no cluster ${site.name}`);
}
const client = new ApiClient(access);

/** The present objects of a collection, by UID. */
const COLLECTIONS = new Map<string, Map<string, KubeObject>>([
  [CLAIMS, new Map()],
  [VOLUMES, new Map()],
]);
let isWorking = false;
let isWanted = false;

/** Lists a collection and follows it forever. */
async function follow(path: string): Promise<void> {
  for (;;) {
    try {
      const objects = new Map<string, KubeObject>();
      const list = await client.get(path);
      for (const item of list.items) {
        objects.set(item.metadata.uid, item);
      }
      COLLECTIONS.set(path, objects);
      work();
      const query = `watch=1&timeoutSeconds=${WATCH_SECONDS}&resourceVersion=${list.metadata.resourceVersion}`;
      await client.watch(`${path}?${query}`, (type, object) => {
        if (type === "DELETED") {
          objects.delete(object.metadata.uid);
        } else if (type !== "ERROR") {
          objects.set(object.metadata.uid, object);
        }
        work();
      });
    } catch (error) {
      console.error(`${path}: ${error instanceof Error ? error.message : String(error)}`);
      await sleep(RETRY_MS);
    }
  }
}

/** Does the steps that are due, one after the other, and again after changes. */
function work(): void {
  isWanted = true;
  if (!isWorking) {
    isWorking = true;
    void executeSteps().finally(() => {
      isWorking = false;
    });
  }
}

async function executeSteps(): Promise<void> {
  while (isWanted) {
    isWanted = false;
    const [claims, volumes] = [CLAIMS, VOLUMES].map((path) => [...(COLLECTIONS.get(path)?.values() ?? [])]);
    for (const step of planVolumes(claims ?? [], volumes ?? [], site.path("volumes"))) {
      try {
        await executeStep(step);
      } catch (error) {
        // It was already made or removed, and the watch will report that; otherwise the step is tried again.
        if (!(error instanceof ApiError && (error.status === CONFLICT || error.status === NOT_FOUND))) {
          console.error(`${step.kind}: ${error instanceof Error ? error.message : String(error)}`);
          isWanted = true;
          await sleep(RETRY_MS);
        }
      }
    }
  }
}

async function executeStep(step: VolumeStep): Promise<void> {
  if (step.kind === "make") {
    mkdirSync(step.path, { recursive: true });
    chmodSync(step.path, OPEN_TO_ALL);
    await client.create(VOLUMES, step.volume);
  } else if (step.kind === "grow") {
    await client.patch(`${VOLUMES}/${step.name}`, { spec: { capacity: { storage: step.capacity } } });
  } else {
    rmSync(step.path, { recursive: true, force: true });
    await client.delete(`${VOLUMES}/${step.name}`);
  }
  console.log(`${step.kind} ${step.kind === "make" ? step.volume.metadata.name : step.name}`);
}

await Promise.all([follow(CLAIMS), follow(VOLUMES)]);
