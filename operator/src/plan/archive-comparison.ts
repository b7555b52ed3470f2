/**
 * Compares the archive of a cluster with the survivor. If the archive has acknowledged writes that the survivor lacks,
 * a recovery would lose them, but a restore would not. The annotation of a person can accept that loss.
 */
import type { Facts } from "./facts.ts";
import {
  type ArchiveEnd,
  type ArchiveReport,
  acceptingValue,
  compareLogs,
  RECOVER_QUORUM,
  requestOf,
  type Survivor,
} from "./recovery.ts";

export type ArchiveVerdict =
  /** `found`: what to report about the archive, if there is one. */
  | { readonly kind: "go"; readonly found: readonly string[] }
  /** Wait until the archive can be read, or a person continues without it. */
  | { readonly kind: "wait"; readonly message: string }
  | { readonly kind: "refuse"; readonly reason: string; readonly why: string; readonly next: string };

/** @param archive null for a cluster without an archive */
export function judgeArchive(facts: Facts, survivor: Survivor, archive: ArchiveReport | null): ArchiveVerdict {
  const { cluster } = facts.observed;
  const { clusterId, acceptedIndex } = requestOf(cluster.metadata.annotations?.[RECOVER_QUORUM] ?? "");
  const { lastIndex, lastTerm } = survivor;
  const accept = `kubectl annotate qc ${cluster.metadata.name} --overwrite ${RECOVER_QUORUM}=${acceptingValue(clusterId, lastIndex)}`;
  const end = `${facts.nameOf(survivor.ordinal)}, the member that has the most, ends at index ${lastIndex} of term ${lastTerm}`;
  if (acceptedIndex !== null && acceptedIndex !== lastIndex) {
    const why = `${RECOVER_QUORUM} accepts the loss of writes after index ${acceptedIndex}, but ${end}`;
    return { kind: "refuse", reason: "OtherIndex", why, next: `To accept the loss of writes after it: ${accept}` };
  }
  const isAccepted = acceptedIndex !== null;
  if (archive === null) {
    return { kind: "go", found: [] };
  }
  if ("problem" in archive) {
    return isAccepted
      ? { kind: "go", found: [`the archive was not compared with the survivor: ${archive.problem}`] }
      : {
          kind: "wait",
          message: `the archive may have more than ${end}, but cannot be read: ${archive.problem}. To recover without it: ${accept}`,
        };
  }
  if (archive.end === null) {
    return { kind: "go", found: ["the store has no backup of this cluster"] };
  }
  const words = `the archive ends at ${wordsOf(archive.end)}`;
  return isAccepted || compareLogs(archive.end, survivor) <= 0
    ? { kind: "go", found: [words] }
    : {
        kind: "refuse",
        reason: "ArchiveIsFurther",
        why: `${words}, but ${end}: a recovery would lose acknowledged writes that the archive has`,
        next: `Restore the cluster from the archive, with spec.restoreFrom. Or accept that loss: ${accept}`,
      };
}

function wordsOf({ lastIndex, lastTerm, revision, wallMs }: ArchiveEnd): string {
  const more = [
    ...(revision === null ? [] : [`revision ${revision}`]),
    ...(wallMs === null ? [] : [new Date(wallMs).toISOString()]),
  ];
  return `index ${lastIndex} of term ${lastTerm}${more.length === 0 ? "" : ` (${more.join(", ")})`}`;
}
