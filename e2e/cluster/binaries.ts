/**
 * The programs of Kubernetes, built from the Go modules in `kube/`, `coredns/` and `pause/`, and Helm. They are built
 * once for each version of these sources; later runs find them in the cache.
 */

import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { GO_ENVIRONMENT } from "../../scripts/go/index.ts";
import { runLogged } from "../../testing/index.ts";
import { cacheDirectory, cached, digestOfFiles } from "./cache.ts";
import { phase } from "./phases.ts";

const SOURCES = import.meta.dirname;
const HELM_VERSION = "v3.19.4";
/** Leaves out what only debuggers need. */
const SMALL = "-s -w";
/** Builds are reproducible. */
const ENVIRONMENT = { ...GO_ENVIRONMENT, GOFLAGS: "-trimpath -buildvcs=false" };

/** Names under which the program of `kube/` acts as each of its parts. */
const KUBE_PROGRAMS = [
  "kube-apiserver",
  "kube-controller-manager",
  "kube-proxy",
  "kube-scheduler",
  "kubectl",
  "kubelet",
] as const;

/** Paths of the built programs. */
export interface Binaries {
  /** Directory of the programs of Kubernetes, each under its own name. */
  readonly kube: string;
  /** Directory that holds `coredns`. */
  readonly coredns: string;
  /** Directory that holds `pause`. */
  readonly pause: string;
  /** Directory that holds `helm`. */
  readonly helm: string;
}

/** Builds missing programs, one after the other: each build uses all processors. */
export async function buildBinaries(): Promise<Binaries> {
  return {
    kube: await build("kube", `Kubernetes ${kubernetesVersion()}`, sourcesOf("kube"), buildKube),
    coredns: await build("coredns", "CoreDNS", sourcesOf("coredns"), (...place) => buildModule("coredns", ...place)),
    pause: await build("pause", "pause", sourcesOf("pause"), (...place) => buildModule("pause", ...place)),
    helm: await build("helm", `Helm ${HELM_VERSION}`, [HELM_VERSION], installHelm),
  };
}

function build(
  name: keyof Binaries,
  title: string,
  inputs: readonly string[],
  make: (directory: string, log: string) => Promise<void>,
): Promise<string> {
  return phase(title, async (say) => {
    const log = join(cacheDirectory(), "logs", `${name}.log`);
    const entry = await cached(name, [process.arch, ...inputs], (directory) => make(directory, log));
    say(entry.isFound ? "found in the cache" : "built");
    return entry.directory;
  });
}

/** The version in `kube/go.mod`, such as v1.34.4. */
export function kubernetesVersion(): string {
  const [, version] =
    /^\s*k8s\.io\/kubernetes (v[0-9.]+)$/m.exec(readFileSync(join(SOURCES, "kube", "go.mod"), "utf8")) ?? [];
  if (version === undefined) {
    throw new Error("kube/go.mod does not name a version of Kubernetes");
  }
  return version;
}

function sourcesOf(module: string): string[] {
  return [digestOfFiles(join(SOURCES, module))];
}

async function buildKube(directory: string, log: string): Promise<void> {
  const version = kubernetesVersion();
  const [, major = "", minor = ""] = /^v([0-9]+)\.([0-9]+)\./.exec(version) ?? [];
  const names = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const settings = Object.entries(names).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  await buildModule("kube", directory, log, settings);
  for (const name of KUBE_PROGRAMS) {
    symlinkSync("kube", join(directory, name));
  }
}

function buildModule(module: string, directory: string, log: string, settings: readonly string[] = []): Promise<void> {
  const flags = ["-mod=readonly", "-ldflags", [SMALL, ...settings].join(" "), "-o", join(directory, module)];
  return runLogged("go", ["build", ...flags, "."], log, { cwd: join(SOURCES, module), env: ENVIRONMENT });
}

function installHelm(directory: string, log: string): Promise<void> {
  const settings = `${SMALL} -X helm.sh/helm/v3/internal/version.version=${HELM_VERSION}`;
  return runLogged("go", ["install", "-ldflags", settings, `helm.sh/helm/v3/cmd/helm@${HELM_VERSION}`], log, {
    env: { ...ENVIRONMENT, GOBIN: directory },
  });
}
