/**
 * The programs of Kubernetes, built from the Go modules that `kube/`, `coredns/` and `pause/` name, and Helm. They are
 * built once for each version of these sources and found in the cache afterwards.
 */

import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { runLogged } from "../../testing/index.ts";
import { cacheDirectory, cached, digestOfFiles } from "./cache.ts";
import { phase } from "./phases.ts";

const SOURCES = import.meta.dirname;
const HELM_VERSION = "v3.19.4";
/** What the linker leaves out is of use to debuggers only. */
const SMALL = "-s -w";
/** Programs that run in containers without any library, and look the same wherever they are built. */
const GO_ENVIRONMENT = { CGO_ENABLED: "0", GOFLAGS: "-trimpath -buildvcs=false" };

/** Names under which the program of `kube/` is each of its parts. */
const KUBE_PROGRAMS = [
  "kube-apiserver",
  "kube-controller-manager",
  "kube-proxy",
  "kube-scheduler",
  "kubectl",
  "kubelet",
] as const;

/** Where the built programs are. */
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

/** Builds what is missing, part by part: each takes all processors. */
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

/** The version that `kube/go.mod` asks for, as in v1.34.4. */
export function kubernetesVersion(): string {
  const [, version] =
    /^\s*k8s\.io\/kubernetes (v[0-9.]+)$/m.exec(readFileSync(join(SOURCES, "kube", "go.mod"), "utf8")) ?? [];
  if (version === undefined) {
    throw new Error("kube/go.mod does not say which Kubernetes it wants");
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
  return runLogged("go", ["build", ...flags, "."], log, { cwd: join(SOURCES, module), env: GO_ENVIRONMENT });
}

function installHelm(directory: string, log: string): Promise<void> {
  const settings = `${SMALL} -X helm.sh/helm/v3/internal/version.version=${HELM_VERSION}`;
  return runLogged("go", ["install", "-ldflags", settings, `helm.sh/helm/v3/cmd/helm@${HELM_VERSION}`], log, {
    env: { ...GO_ENVIRONMENT, GOBIN: directory },
  });
}
