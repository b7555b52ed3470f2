/**
 * The record of the cluster: its members, which of them vote, and since which entry.
 *
 * It is one row, written in the batch that applies the changing entry (P24). There is no other copy.
 */

import { invariant } from "../../primitives/index.ts";
import type { ChangeRefusal, Configuration, ConfigurationChange } from "../../raft/index.ts";
import { bytes, count, decodeRow, encodeRow, flag, formatted, listOf, recordOf, smallCount, text } from "./fields.ts";
import { RecordReader } from "./record.ts";
import { CONFIGURATION_ROW } from "./rows.ts";
import type { StateReader } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/** Puts the configuration of the entry at the index into force in the consensus core, or returns why it is void. */
export type Reconfigure = (
  index: number,
  change: ConfigurationChange,
  expectIndex: number,
) => Configuration | ChangeRefusal;

/** Where a member can be reached, as host:port. */
export interface MemberAddress {
  readonly peerEndpoint: string;
  readonly grpcEndpoint: string;
  readonly httpEndpoint: string;
}

export interface ClusterMember {
  /** Index of the entry that added the member; never reused. */
  readonly id: number;
  /** Unique among the present members. */
  readonly name: string;
  readonly address: MemberAddress;
  /** 16 bytes, made together with the member's data directory; empty while no process has claimed the slot. */
  readonly incarnation: Uint8Array;
}

export interface Cluster {
  /** UUID in text form. */
  readonly clusterId: string;
  readonly name: string;
  /** The entry kinds and apply results in force. */
  readonly version: number;
  readonly configuration: Configuration;
  readonly members: readonly ClusterMember[];
}

/**
 * The newest cluster version that this release can run; new clusters start with it. Version 1 had neither event logs
 * nor usage, and counted less. Version 2 had event logs without namespaces, no namespace quotas, no password versions,
 * and hashed the raw bytes of requests. Version 3 could not be raised by an entry. In version 4 an address had one user, of
 * any namespace, unverified users could not be disabled, and neither users nor signing keys had a share. In
 * version 5 namespaces had no shares of the history. In version 6 operations on logs and accounts had no request ids,
 * keys could not be touched, and there were no transactions, semaphores or values of holds.
 */
export const CLUSTER_VERSION = 7;
/** The cluster version since which operations on logs and accounts may have request ids. */
export const VERSION_WITH_REQUEST_IDS = 7;
/** The cluster version since which keys can be touched. */
export const VERSION_WITH_TOUCH = 7;
/** The cluster version since which there are transactions. */
export const VERSION_WITH_TRANSACTIONS = 7;
/** The cluster version since which there are sessions. */
export const VERSION_WITH_SESSIONS = 7;
/** The cluster version since which namespaces can be deleted. */
export const VERSION_WITH_NAMESPACE_DELETION = 7;
/** The cluster version since which there are semaphores, and values of holds. */
export const VERSION_WITH_SEMAPHORES = 7;
/** Cluster versions whose entries and rows this release can run. */
export const CLUSTER_VERSIONS = { min: 3, max: CLUSTER_VERSION } as const;

/**
 * Data, or an entry of the log, has a cluster version that this release does not know. The data is not damaged, and nothing
 * in it was changed: another release can use it.
 */
export class UnknownVersion extends Error {}

/** The cluster versions that this release knows, for people. */
export function describeKnownVersions(): string {
  const { min, max }: { readonly min: number; readonly max: number } = CLUSTER_VERSIONS;
  return min < max ? `the cluster versions ${min} to ${max}` : `cluster version ${max} alone`;
}

export const INCARNATION_BYTES = 16;
const FORMAT = 1;
const ids = listOf(count);
export const memberAddress = recordOf<MemberAddress>({ peerEndpoint: text, grpcEndpoint: text, httpEndpoint: text });
const clusterFields = formatted(
  FORMAT,
  "the cluster record has a known format",
  recordOf<Cluster>({
    clusterId: text,
    name: text,
    version: smallCount,
    configuration: recordOf<Configuration>({
      index: count,
      voters: ids,
      outgoing: ids,
      learners: ids,
      learnersNext: ids,
      autoLeave: flag,
    }),
    members: listOf(recordOf<ClusterMember>({ id: count, name: text, incarnation: bytes, address: memberAddress })),
  }),
);

/** The bytes of the record, to detect a change; undefined before the founding entry is applied. */
export function clusterRow(reader: StateReader): Uint8Array | undefined {
  return reader.get(CONFIGURATION_ROW);
}

/** The version of a state whose record may be from a release that this one does not know. */
export type VersionFinding = { readonly kind: "version"; readonly version: number } | { readonly kind: "unknown-form" };

/**
 * The cluster version, read without assuming that the rest of the record is known; undefined before the founding entry
 * is applied.
 */
export function findClusterVersion(reader: StateReader): VersionFinding | undefined {
  const bytes = reader.get(CONFIGURATION_ROW);
  if (bytes === undefined) {
    return undefined;
  }
  const fields = new RecordReader(bytes);
  if (fields.uint8() !== FORMAT) {
    return { kind: "unknown-form" };
  }
  fields.text();
  fields.text();
  return { kind: "version", version: fields.uint32() };
}

/** Whether the rules that came with this cluster version are in force. */
export function hasRulesOf(version: number, reader: StateReader): boolean {
  const found = findClusterVersion(reader);
  return found?.kind === "version" && found.version >= version;
}

/** The record, or undefined before the founding entry is applied. */
export function readCluster(reader: StateReader): Cluster | undefined {
  const bytes = reader.get(CONFIGURATION_ROW);
  return bytes === undefined ? undefined : decodeRow(clusterFields, bytes);
}

export function writeCluster(transaction: Transaction, cluster: Cluster): void {
  for (const { incarnation } of cluster.members) {
    const { length } = incarnation;
    invariant(length === INCARNATION_BYTES || length === 0, "incarnations have 16 bytes", () => String(length));
  }
  transaction.put(CONFIGURATION_ROW, encodeRow(clusterFields, cluster));
}

/**
 * Raises the cluster version by one. Any other version changes nothing. Raises UnknownVersion if this release cannot run
 * that version, because it must not apply what follows. This happens to a member that was downgraded too late.
 */
export function applySetClusterVersion(transaction: Transaction, version: number): void {
  const cluster = readCluster(transaction);
  invariant(cluster !== undefined, "only a founded cluster has a version");
  if (version !== cluster.version + 1) {
    return;
  }
  if (version > CLUSTER_VERSION) {
    throw new UnknownVersion(
      `the cluster has raised its version to ${version}, and this release knows ${describeKnownVersions()}. Nothing was lost: use ` +
        "the release that the other members run, or a later one of the same major version",
    );
  }
  writeCluster(transaction, { ...cluster, version });
}
