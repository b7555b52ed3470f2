/**
 * Requirements of a machine that runs a cluster: Linux, root, Go, control groups, and some Debian packages, which are
 * installed if they are missing.
 */

import { existsSync } from "node:fs";
import { CommandError, run, succeeds } from "../../testing/index.ts";

/** The oldest Go that builds this line of Kubernetes. */
const GO_VERSION_MIN = { major: 1, minor: 24 };
const APT_ENVIRONMENT = { DEBIAN_FRONTEND: "noninteractive" };

/** The packages, each with a file that shows whether it is installed. */
const PACKAGES: readonly { readonly name: string; readonly file: string }[] = [
  { name: "buildah", file: "/usr/bin/buildah" },
  { name: "ca-certificates", file: "/etc/ssl/certs/ca-certificates.crt" },
  { name: "containerd", file: "/usr/bin/containerd" },
  { name: "containernetworking-plugins", file: "/usr/lib/cni/bridge" },
  { name: "debootstrap", file: "/usr/sbin/debootstrap" },
  { name: "etcd-server", file: "/usr/bin/etcd" },
  { name: "iproute2", file: "/sbin/ip" },
  { name: "iptables", file: "/usr/sbin/iptables" },
  { name: "nftables", file: "/usr/sbin/nft" },
  { name: "openssl", file: "/usr/bin/openssl" },
  { name: "runc", file: "/usr/sbin/runc" },
];

/** Why this machine cannot run a cluster, in one sentence; null if it can. */
export async function whyNoCluster(): Promise<string | null> {
  const reasons = [
    ...(process.platform === "linux" ? [] : ["this is not Linux"]),
    ...(process.getuid?.() === 0 ? [] : ["this is not root"]),
    ...(await whyNoGo()),
    ...(process.platform === "linux" && !existsSync("/usr/bin/apt-get") && missingPackages().length > 0
      ? [`there is no ${missingPackages().join(", ")}, and no apt-get to install it`]
      : []),
  ];
  return reasons.length === 0
    ? null
    : "A Kubernetes cluster is needed: set KUBECONFIG to use one, or run this as root on Linux with " +
        `Go ${GO_VERSION_MIN.major}.${GO_VERSION_MIN.minor} or newer to start one here (${reasons.join("; ")}).`;
}

async function whyNoGo(): Promise<string[]> {
  try {
    const version = parseGoVersion(await run("go", ["version"]));
    const { major, minor } = GO_VERSION_MIN;
    const isEnough = version !== null && (version.major > major || (version.major === major && version.minor >= minor));
    return isEnough ? [] : ["its Go is too old"];
  } catch (error) {
    if (error instanceof CommandError) {
      return ["there is no Go"];
    }
    throw error;
  }
}

/** The version in the output of `go version`; null if it contains none. */
export function parseGoVersion(printed: string): { readonly major: number; readonly minor: number } | null {
  const [, major, minor] = /\bgo([0-9]+)\.([0-9]+)/.exec(printed) ?? [];
  return major === undefined || minor === undefined ? null : { major: Number(major), minor: Number(minor) };
}

/** Installs missing packages, and prints which. */
export async function installPackages(say: (words: string) => void): Promise<void> {
  const missing = missingPackages();
  if (missing.length === 0) {
    say("all there");
    return;
  }
  const install = ["install", "--yes", "--no-install-recommends", ...missing];
  // The package lists of a machine may be missing or old; they are downloaded only if the installation fails without.
  if (!(await succeeds("env", ["DEBIAN_FRONTEND=noninteractive", "apt-get", ...install]))) {
    await run("apt-get", ["update"], { env: APT_ENVIRONMENT });
    await run("apt-get", install, { env: APT_ENVIRONMENT });
  }
  const still = missingPackages();
  if (still.length > 0) {
    throw new Error(`apt-get has installed ${still.join(", ")}, but its program is not where it should be`);
  }
  say(`installed ${missing.join(", ")}`);
}

function missingPackages(): string[] {
  return PACKAGES.filter(({ file }) => !existsSync(file)).map(({ name }) => name);
}
