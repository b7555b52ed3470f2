/**
 * The network of a cluster: a namespace for the control plane with a bridge in it, one for each node with a cable to that
 * bridge, and a cable from this machine, so that tests reach the API server, nodes and pods. Nothing else of this
 * machine's network is changed: neither its firewall nor its forwarding.
 */

import { existsSync, readFileSync } from "node:fs";
import { run, succeeds } from "../../testing/index.ts";
import { CLUSTERS_MAX, hostLink, machinesOf, type NodePlace, type Site } from "./site.ts";
import { until } from "./until.ts";

const BRIDGE = "bridge";
/** The end of a cable inside a node, and the control plane's end of that from this machine. */
const LINK = "eth0";
const HOST_CABLE = "host";
/** Directory in which `ip` keeps namespaces. */
const NAMESPACES = "/run/netns";
/** Packets between pods of one node pass the rules of its services only if bridges show them. */
const BRIDGE_SETTING = "/proc/sys/net/bridge/bridge-nf-call-iptables";

const GONE_LIMIT_MS = 60_000;

/** A command that turns into the one behind it, inside a network namespace; it keeps all mounts as they are. */
export function inside(namespace: string): string[] {
  return ["nsenter", `--net=${NAMESPACES}/${namespace}`, "--"];
}

/** Makes the network. Chooses the number of the cluster, and so all addresses. */
export async function makeNetwork(site: Site): Promise<void> {
  if (!existsSync(BRIDGE_SETTING) && !(await succeeds("modprobe", ["br_netfilter"]))) {
    throw new Error("this kernel has no br_netfilter: the packets of bridges cannot be filtered");
  }
  for (const namespace of site.namespaces) {
    await run("ip", ["netns", "add", namespace]);
    await run("ip", ["-n", namespace, "link", "set", "lo", "up"]);
    await allowForwarding(namespace);
  }
  const link = await connectHost(site);
  const control = site.controlNamespace;
  await run("ip", ["-n", control, "link", "add", BRIDGE, "type", "bridge"]);
  await run("ip", ["-n", control, "address", "add", `${site.controlAddress}/24`, "dev", BRIDGE]);
  await run("ip", ["-n", control, "link", "set", BRIDGE, "up"]);
  await run("ip", ["-n", control, "link", "set", HOST_CABLE, "master", BRIDGE, "up"]);
  await run("ip", ["address", "add", `${site.hostAddress}/24`, "dev", link]);
  await run("ip", ["link", "set", link, "up"]);
  for (const node of site.nodes) {
    await connectNode(site, node);
  }
  for (const node of site.nodes) {
    const route = ["route", "add", node.podNetwork, "via", node.address];
    await run("ip", route);
    const others = site.nodes.filter(({ name }) => name !== node.name).map(({ namespace }) => namespace);
    for (const namespace of [control, ...others]) {
      await run("ip", ["-n", namespace, ...route]);
    }
  }
}

async function allowForwarding(namespace: string): Promise<void> {
  for (const setting of ["/proc/sys/net/ipv4/ip_forward", BRIDGE_SETTING]) {
    const [program = "", ...args] = [...inside(namespace), "sh", "-c", `echo 1 > ${setting}`];
    await run(program, args);
  }
}

/** Lays the cable from this machine. Its name holds the number, so that of two clusters only one gets it. */
async function connectHost(site: Site): Promise<string> {
  const taken = await run("ip", ["-oneline", "address", "show"]);
  const cable = ["type", "veth", "peer", "name", HOST_CABLE, "netns", site.controlNamespace];
  for (let cluster = 0; cluster < CLUSTERS_MAX; cluster++) {
    const link = hostLink(cluster);
    if (!taken.includes(` ${machinesOf(cluster)}.`) && (await succeeds("ip", ["link", "add", link, ...cable]))) {
      site.cluster = cluster;
      return link;
    }
  }
  throw new Error(`there is no room for another cluster: ${CLUSTERS_MAX} are there, or their addresses are in use`);
}

async function connectNode(site: Site, { namespace, address, cable }: NodePlace): Promise<void> {
  const control = site.controlNamespace;
  await run("ip", ["-n", control, "link", "add", cable, "type", "veth", "peer", "name", LINK, "netns", namespace]);
  await run("ip", ["-n", control, "link", "set", cable, "master", BRIDGE, "up"]);
  await run("ip", ["-n", namespace, "address", "add", `${address}/24`, "dev", LINK]);
  await run("ip", ["-n", namespace, "link", "set", LINK, "up"]);
}

/** Cuts a node off from everything else, or connects it again. */
export async function setConnected(site: Site, node: NodePlace, isConnected: boolean): Promise<void> {
  await run("ip", ["-n", site.controlNamespace, "link", "set", node.cable, isConnected ? "up" : "down"]);
}

/** Removes the network, or as much of it as there is; everything that ran in it has ended. */
export async function removeNetwork(site: Site): Promise<void> {
  if (site.hasCluster) {
    await removeHostLink(hostLink(site.cluster));
  }
  const mounted = readFileSync("/proc/self/mounts", "utf8");
  for (const namespace of site.namespaces) {
    // What was killed in the middle of making one leaves a file that no namespace is mounted on: that goes, too.
    if (existsSync(`${NAMESPACES}/${namespace}`) || mounted.includes(`${NAMESPACES}/${namespace} `)) {
      await run("ip", ["netns", "delete", namespace]);
    }
  }
}

/**
 * The cable from this machine would go with the control plane's namespace, but that may be minutes later: the kernel takes
 * namespaces apart one after the other, those of all pods of all clusters.
 */
async function removeHostLink(link: string): Promise<void> {
  const isGone = (): boolean => !existsSync(`/sys/class/net/${link}`);
  if (!isGone() && !(await succeeds("ip", ["link", "delete", link]))) {
    // It was about to go by itself.
    await until(`the link ${link} to go`, isGone, GONE_LIMIT_MS);
  }
}
