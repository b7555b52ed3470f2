/**
 * The planner's view of the recovery of a lost quorum: the request of a person, the operator's note, what the stopped
 * members know, and which of them becomes the survivor.
 */
import { quorumOf } from "./quorum.ts";

/**
 * The annotation by which a person requests a recovery. Its value is the id of the cluster, to prevent accidents.
 * A suffix accepts the loss of writes that the archive has and the survivor lacks: `ID:lose-writes-after-INDEX`.
 */
export const RECOVER_QUORUM = "quoin.dev/recover-quorum";
const ACCEPTED = /^(?<clusterId>[^:]*):lose-writes-after-(?<index>[0-9]{1,15})$/;

/** The request of a person. */
export interface RecoveryRequest {
  readonly clusterId: string;
  /** The last index of the survivor, if the loss of later writes is accepted; else null. */
  readonly acceptedIndex: number | null;
}

/** @param value of the annotation */
export function requestOf(value: string): RecoveryRequest {
  const { clusterId, index } = ACCEPTED.exec(value)?.groups ?? {};
  return clusterId === undefined
    ? { clusterId: value, acceptedIndex: null }
    : { clusterId, acceptedIndex: Number(index) };
}

/** @returns the value by which a person accepts the loss of writes after an index */
export function acceptingValue(clusterId: string, index: number | "INDEX"): string {
  return `${clusterId}:lose-writes-after-${index}`;
}

/**
 * - `Surveying`: members stop, and each volume is read.
 * - `Recovering`: the survivor is chosen, and its data becomes that of the new cluster.
 * - `Starting`: the identity names the new cluster, and no leader has confirmed its quorum yet.
 * - `CallingOff`: pods on volumes end; then the members start as before.
 * - `Finished`, `CalledOff`, `Refused`: the recovery has ended.
 */
export type RecoveryPhase =
  | "Surveying"
  | "Recovering"
  | "Starting"
  | "CallingOff"
  | "Finished"
  | "CalledOff"
  | "Refused";

/** The operator's note. It outlives pods and operators. */
export interface RecoveryNote {
  readonly phase: RecoveryPhase;
  readonly formerId: string;
  /** Id of the new cluster, which also identifies this recovery; empty if the request was refused before it began. */
  readonly clusterId: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Clusters from which the former one was itself recovered; absent in notes of older operators. */
  readonly formerIds?: readonly string[];
  /** Absent until it is chosen. */
  readonly survivor?: Survivor;
  /** Why it was refused or called off. */
  readonly reason?: string;
  /** The last progress, for people. */
  readonly message: string;
}

/** The member whose data the new cluster continues. */
export interface Survivor {
  readonly ordinal: number;
  readonly lastIndex: number;
  readonly lastTerm: number;
  readonly commitIndex: number;
}

export interface RecoveryView {
  /** Null before the first recovery of the cluster. */
  readonly note: RecoveryNote | null;
  /** Pods on volumes of stopped members; read only during a recovery. */
  readonly pods: readonly RecoveryPodView[];
}

export const NO_RECOVERY: RecoveryView = { note: null, pods: [] };

/** A pod on the volume of a stopped member. */
export interface RecoveryPodView {
  readonly ordinal: number;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Id of the new cluster of the recovery that created the pod. */
  readonly attempt: string;
  readonly stage: RecoveryStage;
  readonly terminating: boolean;
  /** Why the pod does not run yet; null if it runs or has ended. */
  readonly waitsFor: string | null;
  /** Null until it has ended. */
  readonly end: RecoveryEnd | null;
}

/** Whether a pod only reads the data, or converts it to that of the new cluster. */
export type RecoveryStage = "survey" | "recover";

export interface RecoveryEnd {
  readonly exitCode: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly report: RecoveryReport;
}

/** The report of `quoin-node recover`. */
export type RecoveryReport =
  | {
      readonly kind: "member";
      readonly member: StoppedMember;
      /** Null for a cluster without a backup store. */
      readonly archive: ArchiveReport | null;
    }
  | { readonly kind: "successor"; readonly clusterId: string; readonly memberId: number }
  /** `mayPass`: another try may succeed. */
  | { readonly kind: "problem"; readonly problem: string; readonly mayPass: boolean };

/** How far the cluster's archive reaches: a null end if the store has no backup, or why the end is unknown. */
export type ArchiveReport = { readonly end: ArchiveEnd | null } | { readonly problem: string };

/** The last entry from which the cluster can be restored. Entries in the archive are committed. */
export interface ArchiveEnd {
  readonly lastIndex: number;
  readonly lastTerm: number;
  /** Null if the archive does not contain it. */
  readonly revision: number | null;
  /** Milliseconds since 1970; null if the archive does not contain it. */
  readonly wallMs: number | null;
}

/** What a stopped member knows. */
export interface StoppedMember {
  readonly clusterId: string;
  readonly memberId: number;
  readonly lastIndex: number;
  readonly lastTerm: number;
  readonly commitIndex: number;
  /** Ids. */
  readonly voters: readonly number[];
  /** Ids of the previous voters during a configuration change. */
  readonly outgoing: readonly number[];
}

/** Content of one volume. */
export interface Surveyed {
  readonly ordinal: number;
  readonly report: Exclude<RecoveryReport, { kind: "successor" }>;
}

export type Choice =
  /** `archive`: null if there is none to compare with. */
  | { readonly kind: "survivor"; readonly survivor: Survivor; readonly archive: ArchiveReport | null }
  | { readonly kind: "none" }
  /** A majority of the voters has its data. */
  | { readonly kind: "quorum"; readonly whole: number; readonly voters: number };

/**
 * Chooses the member whose last entry has the greatest term and, among equals, the greatest index. Its log contains
 * every acknowledged write that any survivor has. It chooses none if a majority has its data: that cluster has lost
 * nothing.
 */
export function choose(formerId: string, surveyed: readonly Surveyed[]): Choice {
  const members = surveyed.flatMap(({ ordinal, report }) =>
    report.kind === "member" && report.member.clusterId === formerId
      ? [{ ordinal, ...report.member, archive: report.archive }]
      : [],
  );
  const [best] = members.toSorted((a, b) => compareLogs(b, a));
  if (best === undefined) {
    return { kind: "none" };
  }
  const whole = new Set(members.map(({ memberId }) => memberId));
  const groups = [best.voters, best.outgoing].filter((ids) => ids.length > 0);
  const wholeOf = (ids: readonly number[]): number => ids.filter((id) => whole.has(id)).length;
  if (groups.length > 0 && groups.every((ids) => wholeOf(ids) >= quorumOf(ids.length))) {
    return { kind: "quorum", whole: wholeOf(best.voters), voters: best.voters.length };
  }
  const { ordinal, lastIndex, lastTerm, commitIndex } = best;
  const survivor = { ordinal, lastIndex, lastTerm, commitIndex };
  return { kind: "survivor", survivor, archive: archiveOf(members.flatMap(({ archive }) => archive ?? [])) };
}

/** One pod that could read the archive is enough, whatever prevented the others. */
function archiveOf(reports: readonly ArchiveReport[]): ArchiveReport | null {
  const ends = reports.flatMap((report) => ("end" in report && report.end !== null ? report.end : []));
  const [end] = ends.toSorted((a, b) => compareLogs(b, a));
  return end === undefined ? (reports.find((report) => "end" in report) ?? reports[0] ?? null) : { end };
}

type LastEntry = Pick<ArchiveEnd, "lastIndex" | "lastTerm">;

/** Positive if the first log has entries that the second lacks, as far as both are committed. */
export function compareLogs(one: LastEntry, other: LastEntry): number {
  return one.lastTerm - other.lastTerm || one.lastIndex - other.lastIndex;
}

/**
 * The clusters from which this one was recovered, oldest first. Their data is no longer needed.
 *
 * @param clusterId of the identity
 */
export function formerIdsOf(note: RecoveryNote | null, clusterId: string): readonly string[] {
  if (note === null) {
    return [];
  }
  const { formerIds = [], formerId } = note;
  // The note of a refused recovery keeps the earlier clusters.
  return note.clusterId === clusterId ? [...formerIds, formerId] : formerId === clusterId ? formerIds : [];
}

/** Whether the members are stopped for a recovery, or soon will be. */
export function isRecovering({ note }: RecoveryView): boolean {
  return note?.phase === "Surveying" || note?.phase === "Recovering" || note?.phase === "CallingOff";
}
