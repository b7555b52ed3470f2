/**
 * The last specification that the operator accepted. While the present one is refused, the operator keeps to this one:
 * it recreates deleted objects and renews certificates.
 *
 * It is stored in an annotation of the identity, which every pass reads, and which outlives pods, set and operator.
 */
import type { CoordinationCluster } from "../plan/index.ts";
import { namesOf, namespaceOf } from "../render/index.ts";
import { LAST_ACCEPTED_SPECIFICATION } from "./annotations.ts";
import { type DesiredWrite, preconditionOf } from "./desired-write.ts";
import { sortedText } from "./difference.ts";
import type { Reading } from "./reader.ts";

interface LastAccepted {
  /**
   * UID of the CoordinationCluster: one that is created again under the same name has no accepted specification yet.
   */
  readonly uid: string;
  readonly generation: number;
  readonly spec: CoordinationCluster["spec"];
}

/** @returns the cluster with the last accepted specification, and its generation; null if there is none */
export function withLastAcceptedSpecification(
  cluster: CoordinationCluster,
  reading: Reading,
): { readonly cluster: CoordinationCluster; readonly generation: number } | null {
  const accepted = read(reading);
  return accepted === null || accepted.uid !== cluster.metadata.uid
    ? null
    : { cluster: { ...cluster, spec: accepted.spec }, generation: accepted.generation };
}

/** @returns null if this specification is noted already, or if there is no identity to note it on */
export function lastAcceptedWrite(cluster: CoordinationCluster, reading: Reading): DesiredWrite | null {
  const { metadata, spec } = cluster;
  const { identity } = reading;
  const accepted = read(reading);
  const isNoted = accepted?.uid === metadata.uid && sortedText(accepted?.spec ?? {}) === sortedText(spec);
  if (identity === null || identity.metadata?.deletionTimestamp !== undefined || isNoted) {
    return null;
  }
  const note: LastAccepted = { uid: metadata.uid ?? "", generation: metadata.generation ?? 0, spec };
  return {
    how: "note",
    reference: { kind: "ConfigMap", namespace: namespaceOf(cluster), name: namesOf(cluster).identity },
    precondition: preconditionOf(identity),
    annotations: { [LAST_ACCEPTED_SPECIFICATION]: sortedText(note) },
  };
}

function read({ identity }: Reading): LastAccepted | null {
  const text = identity?.metadata?.annotations?.[LAST_ACCEPTED_SPECIFICATION];
  if (text === undefined) {
    return null;
  }
  try {
    return JSON.parse(text) as LastAccepted;
  } catch {
    // Someone has changed it by hand: the operator writes it again with the next accepted specification.
    return null;
  }
}
