/**
 * The network of a cluster: a namespace for the control plane with a bridge, one namespace for each node with a cable
 * to that bridge, and a cable from this machine, by which tests reach the API server, nodes and pods. Nothing else in
 * this machine's network changes: neither its firewall nor its forwarding.
 */

import { existsSync, readFileSync } from "node:fs";
import { run, succeeds } from "../../testing/index.ts";
import { CLUSTERS_MAX, hostLink, machinesOf, type NodeLayout, type Site } from "./site.ts";
import { until } from "./until.ts";

const BRIDGE = "bridge";
/** Name of the cable's end in a node, and of the control plane's end of the cable from this machine. */
const LINK = "eth0";
const HOST_CABLE = "host";
/** Directory of `ip` for namespaces. */
const NAMESPACES = "/run/netns";
/** Traffic between pods of one node passes the Service rules only if bridges show it to the firewall. */
const BRIDGE_SETTING = "/proc/sys/net/bridge/bridge-nf-call-iptables";

const GONE_LIMIT_MS = 60_000;

/** A command that enters a network namespace and executes the command after it, with unchanged mounts. */
export function inside(namespace: string): string[] {
  return ["nsenter", `--net=${NAMESPACES}/${namespace}`, "--"];
}

/** Makes the network. Chooses the number of the cluster, which determines all addresses. */
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

/** Adds the cable from this machine. Its name contains the number, so that only one of two clusters gets a number. */
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
  throw new Error(`cannot start another cluster: ${CLUSTERS_MAX} clusters exist, or their addresses are in use`);
}

async function connectNode(site: Site, { namespace, address, cable }: NodeLayout): Promise<void> {
  const control = site.controlNamespace;
  await run("ip", ["-n", control, "link", "add", cable, "type", "veth", "peer", "name", LINK, "netns", namespace]);
  await run("ip", ["-n", control, "link", "set", cable, "master", BRIDGE, "up"]);
  await run("ip", ["-n", namespace, "address", "add", `${address}/24`, "dev", LINK]);
  await run("ip", ["-n", namespace, "link", "set", LINK, "up"]);
}

/** Cuts a node off from everything else, or reconnects it. */
export async function setConnected(site: Site, node: NodeLayout, isConnected: boolean): Promise<void> {
  await run("ip", ["-n", site.controlNamespace, "link", "set", node.cable, isConnected ? "up" : "down"]);
}

/** Removes the network, also a partial one; all processes in it have ended. */
export async function removeNetwork(site: Site): Promise<void> {
  if (site.hasCluster) {
    await removeHostLink(hostLink(site.cluster));
  }
  const mounted = readFileSync("/proc/self/mounts", "utf8");
  for (const namespace of site.namespaces) {
    // A kill during creation leaves a file without a mounted namespace; that is removed, too.
    if (existsSync(`${NAMESPACES}/${namespace}`) || mounted.includes(`${NAMESPACES}/${namespace} `)) {
      await run("ip", ["netns", "delete", namespace]);
    }
  }
}

/**
 * Removes the cable from this machine. It would also disappear with the control plane's namespace, but perhaps minutes
 * later: the kernel removes namespaces one after the other, for all pods of all clusters.
 */
async function removeHostLink(link: string): Promise<void> {
  const isGone = (): boolean => !existsSync(`/sys/class/net/${link}`);
  if (!isGone() && !(await succeeds("ip", ["link", "delete", link]))) {
    // It was already being removed.
    await until(`the link ${link} to go`, isGone, GONE_LIMIT_MS);
  }
}
