/**
 * The clusters whose state this cluster took over: by recovery from a lost quorum, or by a restore from a backup.
 *
 * A member of a former cluster that comes back has another cluster id, so every member refuses it for ever. These rows
 * let the refusal say why.
 */

import {
  count,
  decodeRow,
  encodeRow,
  formatted,
  formerClusterRow,
  oneOf,
  recordOf,
  type StateReader,
  type Transaction,
  tableRange,
  text,
} from "../core/index.ts";

/** Why there is a successor: a lost quorum was recovered from a survivor, or a backup was restored. */
export type SuccessionCause = "recovery" | "restore";

export interface FormerCluster {
  /** UUID in text form. */
  readonly clusterId: string;
  readonly cause: SuccessionCause;
  /** Index and term of the last entry of the former cluster that this state holds. */
  readonly lastIndex: number;
  readonly lastTerm: number;
  /** Revision of the state at that entry. */
  readonly revision: number;
  /** UUID of the cluster that took its state over. */
  readonly successorId: string;
  /** Wall clock of the takeover in milliseconds. */
  readonly endedAtMs: number;
}

const FORMAT = 1;
const CAUSES: readonly SuccessionCause[] = ["recovery", "restore"];

export const successionCause = oneOf(CAUSES, "successions have a known cause");
const formerFields = formatted(
  FORMAT,
  "former clusters have a known format",
  recordOf<FormerCluster>({
    clusterId: text,
    cause: successionCause,
    lastIndex: count,
    lastTerm: count,
    revision: count,
    successorId: text,
    endedAtMs: count,
  }),
);

export function writeFormerCluster(transaction: Transaction, former: FormerCluster): void {
  transaction.put(formerClusterRow(former.clusterId), encodeRow(formerFields, former));
}

/** The former cluster with this id; undefined if this cluster never took its state over. */
export function readFormerCluster(reader: StateReader, clusterId: string): FormerCluster | undefined {
  const bytes = reader.get(formerClusterRow(clusterId));
  return bytes === undefined ? undefined : decodeRow(formerFields, bytes);
}

/** All former clusters, the earliest first. */
export function readFormerClusters(reader: StateReader): readonly FormerCluster[] {
  const clusters: FormerCluster[] = [];
  const { from, to } = tableRange("formerCluster");
  reader.scan(from, to, ({ value }) => clusters.push(decodeRow(formerFields, value)) > 0);
  return clusters.sort((a, b) => a.lastIndex - b.lastIndex);
}
