/**
 * Names, addresses and paths of the cluster of this clone. Everything that a cluster makes outside of its own directory
 * carries its name, so that it can be found and removed later, and two clones do not conflict.
 */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Directory of all clusters of this machine; on a disk, because it holds images and volumes. */
export const ALL_SITES = "/var/lib/quoin-e2e";
const NAME_CHARACTERS = 6;
export const REPOSITORY = resolve(import.meta.dirname, "../..");

/** Rarely used private addresses, for the machines of clusters. */
const PODS = "10.215";
/** The pods of a cluster get four networks; the first is unused. That allows 64 clusters. */
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

/** Services exist inside the nodes only, so all clusters may have the same addresses. */
export const SERVICE_NETWORK = "10.96.0.0/16";
export const API_SERVICE_ADDRESS = "10.96.0.1";
export const DNS_ADDRESS = "10.96.0.10";
export const CLUSTER_DOMAIN = "cluster.local";
export const API_PORT = 6443;

/** Three, so that a majority of three members survives the loss of any one. */
const NODE_COUNT = 3;

/** A node of the cluster. */
export interface NodeLayout {
  readonly name: string;
  readonly address: string;
  /** Addresses of its pods, such as 10.215.1.0/24. */
  readonly podNetwork: string;
  /** Network namespace. */
  readonly namespace: string;
  /** Directory of all its files except its log. */
  readonly directory: string;
  /** Control group of its pods, below the root of each hierarchy. */
  readonly group: string;
  /** The bridge's end of its cable, in the namespace of the control plane. */
  readonly cable: string;
}

export class Site {
  /** Six characters that distinguish the clusters of this machine. */
  readonly name: string;
  readonly directory: string;

  constructor(name: string) {
    this.name = name;
    this.directory = join(ALL_SITES, name);
  }

  /** The site of this clone. */
  static own(): Site {
    return new Site(createHash("sha256").update(REPOSITORY).digest("hex").slice(0, NAME_CHARACTERS));
  }

  /** Whether something was started here and has not been removed. */
  get exists(): boolean {
    return existsSync(this.directory);
  }

  path(...names: readonly string[]): string {
    return join(this.directory, ...names);
  }

  /** Written last: a cluster with this file was Ready. */
  get kubeconfig(): string {
    return this.path("kubeconfig");
  }

  get controlNamespace(): string {
    return `quoin-e2e-${this.name}-control`;
  }

  /** The control group that contains all others of this cluster. */
  get group(): string {
    return `quoin-e2e-${this.name}`;
  }

  /** The control group of all processes outside of pods. */
  get systemGroup(): string {
    return `${this.group}/system`;
  }

  /** Stores the cluster's number on this machine, 0 to 63. */
  set cluster(cluster: number) {
    writeWhole(this.path("cluster"), `${cluster}\n`);
  }

  get hasCluster(): boolean {
    return existsSync(this.path("cluster"));
  }

  /** Throws the error of the file system before a number is chosen. */
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

  get nodes(): NodeLayout[] {
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

  node(name: string): NodeLayout {
    const found = this.nodes.find((node) => node.name === name);
    if (found === undefined) {
      throw new Error(`there is no node ${name}`);
    }
    return found;
  }

  /** Network namespaces, that of the control plane first. */
  get namespaces(): string[] {
    return [
      this.controlNamespace,
      ...Array.from({ length: NODE_COUNT }, (_, at) => `quoin-e2e-${this.name}-node-${at + 1}`),
    ];
  }
}

/** Writes a file atomically, so that a reader never sees a part of it. */
export function writeWhole(file: string, text: string): void {
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
