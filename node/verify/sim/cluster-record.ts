/**
 * The record of the members in a state, decoded once: rules and faults read it at every turn, and it hardly changes. A
 * store replaces the bytes of a row with each write, so the same bytes mean the same record.
 */

import { type Configuration, NO_CONFIGURATION } from "../../src/raft/index.ts";
import { type Cluster, clusterRow, readCluster, type StateReader } from "../../src/state/index.ts";

const decoded = new WeakMap<Uint8Array, Cluster>();

/** The record, or undefined before the founding entry is applied. */
export function clusterOf(state: StateReader): Cluster | undefined {
  const row = clusterRow(state);
  if (row === undefined) {
    return undefined;
  }
  const known = decoded.get(row);
  if (known !== undefined) {
    return known;
  }
  const cluster = readCluster(state);
  if (cluster !== undefined) {
    decoded.set(row, cluster);
  }
  return cluster;
}

/** The applied configuration; empty before the founding entry. */
export function configurationOf(state: StateReader): Configuration {
  return clusterOf(state)?.configuration ?? NO_CONFIGURATION;
}
