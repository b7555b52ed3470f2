/** Starts the cluster of this clone, and waits until it is usable. */

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { startAddons } from "./addons.ts";
import { ApiClient } from "./api-client.ts";
import { type Binaries, buildBinaries } from "./binaries.ts";
import { FIXED_PATHS, importImages, startAgents, startRuntime } from "./cluster-node.ts";
import { makeGroup } from "./control-groups.ts";
import { startControlPlane } from "./control-plane.ts";
import { buildImages, type ClusterImages } from "./images.ts";
import { type ApiAccess, writeKubeconfig } from "./kubeconfig.ts";
import { prepareMachine } from "./machine-state.ts";
import { makeNetwork } from "./network.ts";
import { phase } from "./phases.ts";
import { expectRunning, idOf, processNames } from "./processes.ts";
import { installPackages, whyNoCluster } from "./requirements.ts";
import { machinesOf, type NodeLayout, type Site, writeWhole } from "./site.ts";
import { keepLogs, stopCluster } from "./stop.ts";
import { until } from "./until.ts";

/** Many times the usual duration on two idle cores. */
const READY_LIMIT_MS = 600_000;

/** Prevents that nodes look lost on a busy machine: a cluster has about twenty system processes in addition to pods. */
const CLUSTER_WEIGHT = 8;
const SYSTEM_WEIGHT = 4;

/** This machine cannot run a cluster; the message says so in one line. */
export class NoClusterHere extends Error {}

/** Facts about a running cluster, for specs and scenarios. */
export interface ClusterDescription {
  readonly binaries: Binaries;
  readonly images: ClusterImages;
}

/** Whether the cluster runs: it was ready, and all of its processes still exist. */
export function isRunning(site: Site): boolean {
  return existsSync(site.kubeconfig) && processNames(site).every((name) => idOf(site, name) !== null);
}

/** Parts of a running cluster. */
export function describeCluster(site: Site): ClusterDescription {
  return JSON.parse(readFileSync(site.path("description.json"), "utf8"));
}

/**
 * Starts the cluster, and prints the duration of each phase. First removes what an earlier start has left. If it fails,
 * it removes everything at once, except the logs.
 *
 * @param meanwhile work that needs the images, but no cluster; most of the start is waiting
 * @throws NoClusterHere if this machine cannot run a cluster
 */
export async function startCluster(
  site: Site,
  meanwhile: (images: ClusterImages) => Promise<void> = async () => undefined,
): Promise<void> {
  const reason = await whyNoCluster();
  if (reason !== null) {
    throw new NoClusterHere(reason);
  }
  if (site.exists) {
    await phase("removing what was left of a cluster", () => stopCluster(site));
  }
  await phase("Debian packages", installPackages);
  const binaries = await buildBinaries();
  const images = await buildImages(binaries);
  try {
    await together(start(site, { binaries, images }), meanwhile(images));
  } catch (error) {
    console.log(`The logs are in ${keepLogs(site)}.`);
    await phase("removing what was started", () => stopCluster(site));
    throw error;
  }
}

/** Resolves, or rejects, when nothing of it goes on any more. */
async function together(...works: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(works);
  await Promise.all(works);
}

async function start(site: Site, description: ClusterDescription): Promise<void> {
  const { binaries, images } = description;
  await phase("network of three nodes", async (say) => {
    mkdirSync(site.directory, { recursive: true });
    prepareMachine(FIXED_PATHS);
    makeGroup(site.group, CLUSTER_WEIGHT);
    makeGroup(site.systemGroup, SYSTEM_WEIGHT);
    await makeNetwork(site);
    say(`${machinesOf(site.cluster)}.0/24`);
  });
  const { authority, admin, access } = await phase("control plane", () => startControlPlane(site, binaries));
  await phase("container runtimes and images", async () => {
    await Promise.all(site.nodes.map((node) => startWithImages(site, node, images)));
  });
  await phase("kubelets, proxies, names and volumes", async () => {
    await Promise.all(site.nodes.map((node) => startAgents(site, node, binaries, authority)));
    await startAddons(site, binaries, images);
  });
  await phase("until nodes are Ready, names resolve", () => untilReady(site, access));
  writeWhole(site.path("description.json"), JSON.stringify(description));
  writeKubeconfig(site, site.kubeconfig, admin, authority.own);
}

async function startWithImages(site: Site, node: NodeLayout, images: ClusterImages): Promise<void> {
  await startRuntime(site, node, images.pause.image);
  for (const { archive } of Object.values(images)) {
    await importImages(node, archive);
  }
}

async function untilReady(site: Site, access: ApiAccess): Promise<void> {
  const client = new ApiClient(access);
  try {
    const isReady = async (): Promise<boolean> => {
      for (const name of processNames(site)) {
        expectRunning(site, name);
      }
      const { items } = await client.get("/api/v1/nodes");
      const dns = await client.get("/apis/apps/v1/namespaces/kube-system/deployments/coredns");
      const ready = items.filter((node: { status: { conditions: { type: string; status: string }[] } }) =>
        node.status.conditions.some(({ type, status }) => type === "Ready" && status === "True"),
      );
      return ready.length === site.nodes.length && dns.status.readyReplicas === dns.spec.replicas;
    };
    await until("all nodes to be Ready and names to resolve", isReady, READY_LIMIT_MS);
  } finally {
    client.close();
  }
}
