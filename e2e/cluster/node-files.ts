/** The configuration of a node's container runtime, pod network, kubelet and proxy. */

import type { KeyPair } from "./certificates.ts";
import { CLUSTER_DOMAIN, DNS_ADDRESS, type NodeLayout } from "./site.ts";

/** Path of the network plugins in Debian. */
const CNI_PLUGINS = "/usr/lib/cni";
const POD_BRIDGE = "cni0";
/** Kubelets report this often; the controller manager misses them after its grace period. */
const STATUS_INTERVAL = "2s";
const LEASE_SECONDS = 8;
/** How often a kubelet syncs an unchanged pod: then it grows volumes and updates mounted files. */
const SYNC_INTERVAL = "10s";

/** The configuration of containerd; all its files are below the node's directory. */
export function containerdConfig({ directory }: NodeLayout, socket: string, pauseImage: string): string {
  return `version = 2
root = "${directory}/containerd/root"
state = "${directory}/containerd/state"

[grpc]
  address = "${socket}"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  # Without the right to make itself harder to kill, runc could start no sandbox.
  restrict_oom_score_adj = true
  # The namespaces of pods go when the node's mounts do.
  netns_mounts_under_state_dir = true

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${CNI_PLUGINS}"
    conf_dir = "${directory}/cni"

  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"

    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
`;
}

/** The pod network: a bridge on each node, with addresses of the node's own network. */
export function podNetworkConfig({ directory, podNetwork }: NodeLayout): object {
  const addresses = {
    type: "host-local",
    dataDir: `${directory}/addresses`,
    ranges: [[{ subnet: podNetwork }]],
    routes: [{ dst: "0.0.0.0/0" }],
  };
  const bridge = { type: "bridge", bridge: POD_BRIDGE, isGateway: true, hairpinMode: true, ipam: addresses };
  const ports = { type: "portmap", capabilities: { portMappings: true } };
  return { cniVersion: "1.0.0", name: "pods", plugins: [bridge, ports] };
}

/** The configuration of a kubelet that shares its machine with others and with tests. */
export function kubeletConfig(
  { directory, group }: NodeLayout,
  socket: string,
  authority: string,
  serving: KeyPair,
): object {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: authority } },
    authorization: { mode: "Webhook" },
    tlsCertFile: serving.certificate,
    tlsPrivateKeyFile: serving.key,
    containerRuntimeEndpoint: `unix://${socket}`,
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${group}`,
    failSwapOn: false,
    // Not every user may set a value below that of other processes.
    oomScoreAdj: 0,
    podLogsDir: `${directory}/pod-logs`,
    volumePluginDir: `${directory}/volume-plugins`,
    clusterDNS: [DNS_ADDRESS],
    clusterDomain: CLUSTER_DOMAIN,
    // Names outside the cluster have no answer.
    resolvConf: `${directory}/resolv.conf`,
    nodeStatusUpdateFrequency: STATUS_INTERVAL,
    nodeStatusReportFrequency: STATUS_INTERVAL,
    nodeLeaseDurationSeconds: LEASE_SECONDS,
    syncFrequency: SYNC_INTERVAL,
    // The cluster shares disk and memory, so their usage says nothing about its pods.
    evictionHard: {
      "imagefs.available": "0%",
      "imagefs.inodesFree": "0%",
      "memory.available": "0%",
      "nodefs.available": "0%",
      "nodefs.inodesFree": "0%",
    },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    serializeImagePulls: false,
  };
}

/** The configuration of the proxy that routes Services to their pods. */
export function proxyConfig({ name }: NodeLayout, kubeconfig: string): object {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "nftables",
    hostnameOverride: name,
    clientConnection: { kubeconfig },
    detectLocalMode: "BridgeInterface",
    detectLocal: { bridgeInterface: POD_BRIDGE },
    oomScoreAdj: 0,
    // Settings of connection tracking are machine-wide and must not change.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
  };
}
