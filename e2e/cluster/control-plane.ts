/** The control plane: etcd, API server, controller manager and scheduler, one of each, in their own namespace. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ApiClient } from "./api-client.ts";
import type { Binaries } from "./binaries.ts";
import { Authority, type KeyPair } from "./certificates.ts";
import { type ApiAccess, readKubeconfig, writeKubeconfig } from "./kubeconfig.ts";
import { inside } from "./network.ts";
import { expectRunning, type ProcessPlan, startProcess } from "./processes.ts";
import { API_PORT, API_SERVICE_ADDRESS, CLUSTER_DOMAIN, SERVICE_NETWORK, type Site } from "./site.ts";
import { until } from "./until.ts";

const ETCD_URL = "http://127.0.0.1:2379";
const ETCD_PEER_URL = "http://127.0.0.1:2380";
const READY_LIMIT_MS = 180_000;

/** Access to the control plane. */
export interface ControlPlane {
  readonly authority: Authority;
  /** Has all rights. */
  readonly admin: KeyPair;
  /** The harness's own access, as admin. */
  readonly access: ApiAccess;
}

/** Starts the control plane and waits until the API server is ready. */
export async function startControlPlane(site: Site, binaries: Binaries): Promise<ControlPlane> {
  const directory = site.path("control");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const authority = await Authority.make(directory);
  const admin = await authority.issue("admin", { user: "quoin-e2e-admin", group: "system:masters" });
  const etcd = etcdCommand(site);
  const apiServer = await apiServerCommand(site, binaries, authority, directory);
  const managers = [
    await controllerManagerCommand(site, binaries, authority, directory),
    await schedulerCommand(site, binaries, authority, directory),
  ];
  start(site, [etcd, apiServer]);
  const adminFile = join(directory, "admin.kubeconfig");
  writeKubeconfig(site, adminFile, admin, authority.own);
  const access = readKubeconfig(adminFile);
  if (access === null) {
    throw new Error(`${adminFile} is missing`);
  }
  const client = new ApiClient(access);
  try {
    const isReady = async (): Promise<boolean> => {
      expectRunning(site, etcd.name);
      expectRunning(site, apiServer.name);
      return await client.isReady();
    };
    await until("the API server to be ready", isReady, READY_LIMIT_MS);
  } finally {
    client.close();
  }
  // They exit if they are refused at their start.
  start(site, managers);
  return { authority, admin, access };
}

function start(site: Site, plans: readonly ProcessPlan[]): void {
  for (const { name, command } of plans) {
    startProcess(site, { name, command: [...inside(site.controlNamespace), ...command] });
  }
}

function flags(values: Readonly<Record<string, string | number | boolean>>): string[] {
  return Object.entries(values).map(([name, value]) => `--${name}=${value}`);
}

function etcdCommand(site: Site): ProcessPlan {
  const command = [
    "etcd",
    ...flags({
      name: "etcd",
      "data-dir": site.path("control", "etcd"),
      "listen-client-urls": ETCD_URL,
      "advertise-client-urls": ETCD_URL,
      "listen-peer-urls": ETCD_PEER_URL,
      "initial-advertise-peer-urls": ETCD_PEER_URL,
      "initial-cluster": `etcd=${ETCD_PEER_URL}`,
    }),
    // Saves the disk for the members under test; this data need not survive a crash of the machine.
    "--unsafe-no-fsync",
  ];
  return { name: "etcd", command };
}

async function apiServerCommand(
  site: Site,
  { kube }: Binaries,
  authority: Authority,
  directory: string,
): Promise<ProcessPlan> {
  const service = ["kubernetes", "kubernetes.default", "kubernetes.default.svc"];
  const server = await authority.issue("kube-apiserver", {
    user: "kube-apiserver",
    alternativeNames: [
      ...[...service, `kubernetes.default.svc.${CLUSTER_DOMAIN}`].map((name) => `DNS:${name}`),
      ...[API_SERVICE_ADDRESS, site.controlAddress, "127.0.0.1"].map((address) => `IP:${address}`),
    ],
  });
  const toKubelets = await authority.issue("kubelet-client", { user: "kube-apiserver", group: "system:masters" });
  const tokens = await authority.issue("service-accounts", { user: "service-accounts" });
  const command = [
    join(kube, "kube-apiserver"),
    ...flags({
      "advertise-address": site.controlAddress,
      "bind-address": site.controlAddress,
      "secure-port": API_PORT,
      "etcd-servers": ETCD_URL,
      "client-ca-file": authority.own.certificate,
      "tls-cert-file": server.certificate,
      "tls-private-key-file": server.key,
      "cert-dir": directory,
      "authorization-mode": "Node,RBAC",
      "enable-admission-plugins": "NodeRestriction",
      "allow-privileged": true,
      "service-cluster-ip-range": SERVICE_NETWORK,
      "service-account-issuer": `https://kubernetes.default.svc.${CLUSTER_DOMAIN}`,
      "service-account-signing-key-file": tokens.key,
      "service-account-key-file": tokens.certificate,
      "kubelet-certificate-authority": authority.own.certificate,
      "kubelet-client-certificate": toKubelets.certificate,
      "kubelet-client-key": toKubelets.key,
      "kubelet-preferred-address-types": "InternalIP",
    }),
  ];
  return { name: "kube-apiserver", command };
}

async function controllerManagerCommand(
  site: Site,
  { kube }: Binaries,
  authority: Authority,
  directory: string,
): Promise<ProcessPlan> {
  const kubeconfig = join(directory, "kube-controller-manager.kubeconfig");
  const user = await authority.issue("kube-controller-manager", { user: "system:kube-controller-manager" });
  writeKubeconfig(site, kubeconfig, user, authority.own);
  const command = [
    join(kube, "kube-controller-manager"),
    ...flags({
      kubeconfig,
      "bind-address": "127.0.0.1",
      "cert-dir": directory,
      "leader-elect": false,
      "use-service-account-credentials": true,
      "root-ca-file": authority.own.certificate,
      "service-account-private-key-file": join(directory, "service-accounts.key"),
      "cluster-signing-cert-file": authority.own.certificate,
      "cluster-signing-key-file": authority.own.key,
      // Detects the loss of a node within seconds: kubelets report every two seconds.
      "node-monitor-period": "2s",
      "node-monitor-grace-period": "10s",
    }),
  ];
  return { name: "kube-controller-manager", command };
}

async function schedulerCommand(
  site: Site,
  { kube }: Binaries,
  authority: Authority,
  directory: string,
): Promise<ProcessPlan> {
  const kubeconfig = join(directory, "kube-scheduler.kubeconfig");
  const user = await authority.issue("kube-scheduler", { user: "system:kube-scheduler" });
  writeKubeconfig(site, kubeconfig, user, authority.own);
  const settings = { kubeconfig, "bind-address": "127.0.0.1", "cert-dir": directory, "leader-elect": false };
  return { name: "kube-scheduler", command: [join(kube, "kube-scheduler"), ...flags(settings)] };
}
