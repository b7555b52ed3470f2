/**
 * Names, addresses and paths of the cluster that belongs to this clone of the repository. Everything that a cluster makes
 * outside its own directory carries its name, so that it can be found and removed later, and two clones do not meet.
 */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** All clusters of this machine; on a disk, for it holds images and volumes. */
export const ALL_SITES = "/var/lib/quoin-e2e";
const NAME_CHARACTERS = 6;
export const REPOSITORY = resolve(import.meta.dirname, "../..");

/** Private addresses that hardly anybody uses, as those of the machines of clusters. */
const PODS = "10.215";
/** The pods of a cluster get four networks of their own, of which the first is unused: that gives 64 clusters. */
const NETWORKS_PER_CLUSTER = 4;
export const CLUSTERS_MAX = 64;
const CONTROL_AT = 1;
const HOST_AT = 2;
const FIRST_NODE_AT = 10;

/** The first three numbers of the addresses of a cluster's machines. */
export function machinesOf(cluster: number): string {
  return `10.214.${cluster}`;
}

/** The link by which this machine reaches a cluster; at most 15 characters. */
export function hostLink(cluster: number): string {
  return `quoin-e2e-${cluster}`;
}

/** Services live inside the nodes only, so that all clusters may have the same. */
export const SERVICE_NETWORK = "10.96.0.0/16";
export const API_SERVICE_ADDRESS = "10.96.0.1";
export const DNS_ADDRESS = "10.96.0.10";
export const CLUSTER_DOMAIN = "cluster.local";
export const API_PORT = 6443;

/** Three, so that a majority of three members survives each of them. */
const NODE_COUNT = 3;

/** A node of the cluster. */
export interface NodePlace {
  readonly name: string;
  readonly address: string;
  /** Addresses of its pods, as in 10.215.1.0/24. */
  readonly podNetwork: string;
  /** Network namespace. */
  readonly namespace: string;
  /** Holds all that it writes, but for its log. */
  readonly directory: string;
  /** Control group of its pods, below the root of each hierarchy. */
  readonly group: string;
  /** The bridge's end of its cable, in the namespace of the control plane. */
  readonly cable: string;
}

export class Site {
  /** Six characters that tell the clusters of this machine apart. */
  readonly name: string;
  readonly directory: string;

  constructor(name: string) {
    this.name = name;
    this.directory = join(ALL_SITES, name);
  }

  /** The one of this clone. */
  static own(): Site {
    return new Site(createHash("sha256").update(REPOSITORY).digest("hex").slice(0, NAME_CHARACTERS));
  }

  /** Whether something was started here and not removed yet. */
  get exists(): boolean {
    return existsSync(this.directory);
  }

  path(...names: readonly string[]): string {
    return join(this.directory, ...names);
  }

  /** Written last: a cluster that has it was Ready. */
  get kubeconfig(): string {
    return this.path("kubeconfig");
  }

  get controlNamespace(): string {
    return `quoin-e2e-${this.name}-control`;
  }

  /** Control group above all others of this cluster. */
  get group(): string {
    return `quoin-e2e-${this.name}`;
  }

  /** Control group of everything that is not in a pod. */
  get systemGroup(): string {
    return `${this.group}/system`;
  }

  /** Remembers which cluster of this machine it is, 0 to 63. */
  set cluster(cluster: number) {
    writeWhole(this.path("cluster"), `${cluster}\n`);
  }

  get hasCluster(): boolean {
    return existsSync(this.path("cluster"));
  }

  /** Raises the error of the file system before a number is chosen. */
  get cluster(): number {
    return Number(readFileSync(this.path("cluster"), "utf8"));
  }

  get controlAddress(): string {
    return `${machinesOf(this.cluster)}.${CONTROL_AT}`;
  }

  get hostAddress(): string {
    return `${machinesOf(this.cluster)}.${HOST_AT}`;
  }

  get apiUrl(): string {
    return `https://${this.controlAddress}:${API_PORT}`;
  }

  get nodes(): NodePlace[] {
    return Array.from({ length: NODE_COUNT }, (_, at) => {
      const name = `node-${at + 1}`;
      return {
        name,
        address: `${machinesOf(this.cluster)}.${FIRST_NODE_AT + at + 1}`,
        podNetwork: `${PODS}.${this.cluster * NETWORKS_PER_CLUSTER + at + 1}.0/24`,
        namespace: `quoin-e2e-${this.name}-${name}`,
        directory: this.path(name),
        group: `${this.group}/${name}`,
        cable: name,
      };
    });
  }

  node(name: string): NodePlace {
    const found = this.nodes.find((node) => node.name === name);
    if (found === undefined) {
      throw new Error(`there is no node ${name}`);
    }
    return found;
  }

  /** Network namespaces, the control plane's first. */
  get namespaces(): string[] {
    return [
      this.controlNamespace,
      ...Array.from({ length: NODE_COUNT }, (_, at) => `quoin-e2e-${this.name}-node-${at + 1}`),
    ];
  }
}

/** Writes a file so that nobody ever sees a part of it. */
export function writeWhole(file: string, text: string): void {
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
