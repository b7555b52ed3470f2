/**
 * A node: a container runtime, a kubelet and a proxy, in their own network namespace and mount namespace.
 *
 * Some of their paths are fixed. In the node's mount namespace these are in memory. So nodes do not share them, and
 * they leave nothing on this machine. All mounts of a node disappear with its last process, even if that was killed.
 */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, succeeds } from "../../testing/index.ts";
import type { Binaries } from "./binaries.ts";
import type { Authority } from "./certificates.ts";
import { makeGroup } from "./control-groups.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { inside } from "./network.ts";
import { containerdConfig, kubeletConfig, podNetworkConfig, proxyConfig } from "./node-files.ts";
import { expectRunning, idOf, startProcess } from "./processes.ts";
import type { NodeLayout, Site } from "./site.ts";
import { until } from "./until.ts";

const START_LIMIT_MS = 60_000;
/**
 * Fixed paths of containerd, kubelet and Kubernetes' network plugins, and the kubelets' directory for container logs.
 */
export const FIXED_PATHS = ["/run/containerd", "/var/lib/cni", "/var/lib/kubelet", "/var/log"];
const CONTAINERD_NAMESPACE = "k8s.io";
/**
 * Holds the mount namespace. Its mounts are not visible elsewhere, but later mounts of this machine are visible in it.
 */
const MOUNTS = `set -e
ready=$1; shift
mount --make-rshared /
for path; do mount -t tmpfs quoin-e2e "$path"; done
touch "$ready"
exec sleep infinity`;

/** The process that holds the mounts of a node. */
function mountsOf(node: NodeLayout): string {
  return `${node.name}-mounts`;
}

function containerdOf(node: NodeLayout): string {
  return `${node.name}-containerd`;
}

/** The processes that stop when the node is paused: all that do work. */
export function agentsOf(node: NodeLayout): string[] {
  return [`${node.name}-kubelet`, `${node.name}-proxy`, containerdOf(node)];
}

function socketOf({ directory }: NodeLayout): string {
  return join(directory, "containerd.sock");
}

/** Starts the container runtime of a node, before its images and its kubelet. */
export async function startRuntime(site: Site, node: NodeLayout, pauseImage: string): Promise<void> {
  mkdirSync(join(node.directory, "cni"), { recursive: true });
  makeGroup(node.group);
  const config = join(node.directory, "containerd.toml");
  writeFileSync(config, containerdConfig(node, socketOf(node), pauseImage));
  writeFileSync(join(node.directory, "cni", "pods.conflist"), JSON.stringify(podNetworkConfig(node)));
  await startMountNamespace(site, node);
  const command = [...enter(site, node), "containerd", "--config", config];
  startProcess(site, { name: containerdOf(node), command });
  const isServing = async (): Promise<boolean> => {
    expectRunning(site, containerdOf(node));
    return await succeeds("ctr", ["--address", socketOf(node), "version"]);
  };
  await until(`the containerd of ${node.name}`, isServing, START_LIMIT_MS);
}

async function startMountNamespace(site: Site, node: NodeLayout): Promise<void> {
  const ready = join(node.directory, "mounted");
  const shell = ["sh", "-c", MOUNTS, "sh", ready, ...FIXED_PATHS];
  const command = [...inside(node.namespace), "unshare", "--mount", "--propagation", "slave", ...shell];
  startProcess(site, { name: mountsOf(node), command });
  const isReady = (): boolean => {
    expectRunning(site, mountsOf(node));
    return existsSync(ready);
  };
  await until(`the mounts of ${node.name}`, isReady, START_LIMIT_MS);
}

/** A command that enters the node and then executes the command after it. */
function enter(site: Site, node: NodeLayout): string[] {
  return ["nsenter", `--target=${idOf(site, mountsOf(node))}`, "--net", "--mount", "--"];
}

/** Imports the images of an archive in the format of `docker save` into a node. */
export async function importImages(node: NodeLayout, archive: string): Promise<void> {
  const to = ["--address", socketOf(node), "--namespace", CONTAINERD_NAMESPACE];
  await run("ctr", [...to, "images", "import", archive]);
}

/** Starts the kubelet and the proxy of a node whose container runtime is running. */
export async function startAgents(
  site: Site,
  node: NodeLayout,
  { kube }: Binaries,
  authority: Authority,
): Promise<void> {
  const serving = await authority.issue(`${node.name}-kubelet`, {
    user: `system:node:${node.name}`,
    group: "system:nodes",
    alternativeNames: [`DNS:${node.name}`, `IP:${node.address}`],
  });
  const proxy = await authority.issue(`${node.name}-proxy`, { user: "system:kube-proxy" });
  const path = (name: string): string => join(node.directory, name);
  writeKubeconfig(site, path("kubelet.kubeconfig"), serving, authority.own);
  writeKubeconfig(site, path("proxy.kubeconfig"), proxy, authority.own);
  writeFileSync(path("resolv.conf"), "");
  writeJson(path("kubelet.json"), kubeletConfig(node, socketOf(node), authority.own.certificate, serving));
  writeJson(path("proxy.json"), proxyConfig(node, path("proxy.kubeconfig")));
  const kubelet = [
    join(kube, "kubelet"),
    ...["--config", path("kubelet.json"), "--kubeconfig", path("kubelet.kubeconfig")],
    ...["--root-dir", path("kubelet"), "--cert-dir", path("kubelet-certificates")],
    ...["--hostname-override", node.name, "--node-ip", node.address],
  ];
  startProcess(site, { name: `${node.name}-kubelet`, command: [...enter(site, node), ...kubelet] });
  const proxyCommand = [join(kube, "kube-proxy"), "--config", path("proxy.json")];
  startProcess(site, { name: `${node.name}-proxy`, command: [...enter(site, node), ...proxyCommand] });
}

function writeJson(file: string, content: object): void {
  writeFileSync(file, JSON.stringify(content, null, 2));
}
