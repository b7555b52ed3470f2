/**
 * The clusters whose state this cluster took over: by recovery from a lost quorum, or by a restore from a backup.
 *
 * A member of a former cluster that comes back has another cluster id, so every member refuses it for ever. These rows
 * let the refusal say why.
 */

import { invariant } from "../../primitives/index.ts";
import {
  formerClusterRow,
  RecordReader,
  RecordWriter,
  type StateReader,
  type Transaction,
  tableRange,
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

export function writeFormerCluster(transaction: Transaction, former: FormerCluster): void {
  const value = new RecordWriter().uint8(FORMAT).text(former.clusterId);
  writeCause(value, former.cause);
  value.uint53(former.lastIndex).uint53(former.lastTerm).uint53(former.revision);
  transaction.put(formerClusterRow(former.clusterId), value.text(former.successorId).uint53(former.endedAtMs).finish());
}

/** The former cluster with this id; undefined if this cluster never took its state over. */
export function readFormerCluster(reader: StateReader, clusterId: string): FormerCluster | undefined {
  const bytes = reader.get(formerClusterRow(clusterId));
  return bytes === undefined ? undefined : decode(bytes);
}

/** All former clusters, the earliest first. */
export function readFormerClusters(reader: StateReader): readonly FormerCluster[] {
  const clusters: FormerCluster[] = [];
  const { from, to } = tableRange("formerCluster");
  reader.scan(from, to, ({ value }) => clusters.push(decode(value)) > 0);
  return clusters.sort((a, b) => a.lastIndex - b.lastIndex);
}

export function writeCause(writer: RecordWriter, cause: SuccessionCause): void {
  writer.uint8(CAUSES.indexOf(cause));
}

export function readCause(reader: RecordReader): SuccessionCause {
  const cause = CAUSES[reader.uint8()];
  invariant(cause !== undefined, "successions have a known cause");
  return cause;
}

function decode(bytes: Uint8Array): FormerCluster {
  const reader = new RecordReader(bytes);
  const format = reader.uint8();
  invariant(format === FORMAT, "former clusters have a known format", () => String(format));
  const former = {
    clusterId: reader.text(),
    cause: readCause(reader),
    lastIndex: reader.uint53(),
    lastTerm: reader.uint53(),
    revision: reader.uint53(),
    successorId: reader.text(),
    endedAtMs: reader.uint53(),
  };
  reader.end();
  return former;
}
