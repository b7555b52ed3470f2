/** The facts of a member, for people: as a list, and compared with other members as a table. */

import { isFurther, type MemberFacts } from "../storage/index.ts";
import type { ArchiveEnd, ComparedArchive } from "./compared-archive.ts";

/** The compared facts of a member, stopped or running. */
export interface ComparedFacts
  extends Pick<MemberFacts, "clusterId" | "name" | "memberId" | "lastIndex" | "lastTerm" | "commitIndex"> {
  readonly appliedIndex: number;
  /** Time of the last write to its log, in milliseconds; null = the member runs. */
  readonly writtenAtMs: number | null;
}

/** One member of a comparison: its facts, or why its data is not usable. */
export type ComparedMember =
  /** A data directory, or the address of a running member. */
  | { readonly location: string; readonly facts: ComparedFacts; readonly problem: null }
  | { readonly location: string; readonly facts: null; readonly problem: string };

type LastEntry = Pick<ComparedFacts, "lastTerm" | "lastIndex">;

const COLUMNS: readonly (readonly [title: string, of: (facts: ComparedFacts) => string])[] = [
  ["MEMBER", ({ name, memberId }) => `${name} (${memberId})`],
  ["LAST TERM", ({ lastTerm }) => String(lastTerm)],
  ["LAST INDEX", ({ lastIndex }) => String(lastIndex)],
  ["COMMITTED", ({ commitIndex }) => String(commitIndex)],
  ["APPLIED", ({ appliedIndex }) => String(appliedIndex)],
  ["WRITTEN", ({ writtenAtMs }) => (writtenAtMs === null ? "running" : timeOf(writtenAtMs))],
];

/** The lines that describe the member. */
export function describeFacts(directory: string, facts: MemberFacts): string[] {
  const { cluster, name, memberId, lastIndex, lastTerm, commitIndex, appliedIndex, appliedTerm } = facts;
  const { voters = [], outgoing = [] } = cluster?.configuration ?? {};
  const members = cluster?.members.map((member) => {
    const isVoter = voters.includes(member.id) || outgoing.includes(member.id);
    return `  member      ${member.name} (${member.id}), ${isVoter ? "voter" : "learner"}, ${member.address.peerEndpoint || "not started yet"}`;
  });
  return [
    `directory     ${directory}`,
    `cluster       ${facts.clusterName}, ${facts.clusterId}`,
    `this member   ${name} (${memberId})`,
    `last entry    index ${lastIndex}, term ${lastTerm}`,
    `committed     at least up to index ${commitIndex}`,
    `applied       up to index ${appliedIndex}, term ${appliedTerm}; revision ${facts.revision}`,
    `last written  ${timeOf(facts.writtenAtMs)}`,
    "members, as of the applied state:",
    ...(members ?? ["  none"]),
  ];
}

/** The table, and which member to recover from. */
export function describeComparison(compared: readonly ComparedMember[]): string[] {
  const usable = compared.filter((one) => one.facts !== null);
  const isOfDirectories = usable.every(({ facts }) => facts.writtenAtMs !== null);
  const rows = [
    [...COLUMNS.map(([title]) => title), isOfDirectories ? "DIRECTORY" : "DIRECTORY OR ADDRESS"],
    ...usable.map(({ facts, location: place }) => [...COLUMNS.map(([, of]) => of(facts)), place]),
  ];
  const widths = COLUMNS.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const table = rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  "));
  const unusable = compared.filter((one) => one.problem !== null).map(({ problem }) => `not usable: ${problem}`);
  return [...(usable.length > 0 ? table : []), ...unusable];
}

/** The member to recover from: the greatest term of the last entry, and with that term the greatest index. */
export function describeChoice(compared: readonly ComparedMember[]): string[] {
  const usable = compared.filter((one) => one.facts !== null);
  const [first, ...others] = usable;
  if (first === undefined) {
    return ["none of these members is usable for a recovery"];
  }
  const best = furthest([first, ...others]);
  const equals = usable.filter(({ facts }) => !isFurther(best.facts, facts));
  const { lastIndex, lastTerm } = best.facts;
  const why = `it has the greatest last term, ${lastTerm}, and with it the greatest last index, ${lastIndex}`;
  const choice =
    equals.length > 1
      ? `recover from any of ${equals.map(({ location: place }) => place).join(", ")}: they end at the same entry`
      : `recover from ${best.location}: ${why}`;
  const isRunning = equals.some(({ facts }) => facts.writtenAtMs === null);
  return isRunning
    ? [choice, "next: stop all members, and compare their data directories again: a running member may still write"]
    : [choice];
}

/**
 * Describes whether the archive has more entries than the member to recover from.
 *
 * @param member the end of its log
 */
export function describeArchive(member: LastEntry, archive: ComparedArchive): string[] {
  if ("problem" in archive) {
    return [`the archive cannot be compared: ${archive.problem}`];
  }
  const { end } = archive;
  if (end === null) {
    return ["the store has no backup of this cluster"];
  }
  if (!isFurther(end, member)) {
    return [`the archive has no more than this: it ends at ${endOf(end)}`];
  }
  return [
    `the archive reaches further, to ${endOf(end)}: a recovery from index ${member.lastIndex} of term ${member.lastTerm} ` +
      "loses acknowledged writes that the archive has",
    "next: restore the cluster from the archive instead, with quoin-node restore",
  ];
}

function endOf({ lastIndex, lastTerm, revision, wallMs }: ArchiveEnd): string {
  const more = [...(revision === null ? [] : [`revision ${revision}`]), ...(wallMs === null ? [] : [timeOf(wallMs)])];
  return `index ${lastIndex} of term ${lastTerm}${more.length === 0 ? "" : ` (${more.join(", ")})`}`;
}

/** The member that a cluster continues from. */
export function furthest<Facts extends LastEntry, One extends { readonly facts: Facts }>([first, ...others]: readonly [
  One,
  ...One[],
]): One {
  return others.reduce((chosen, one) => (isFurther(one.facts, chosen.facts) ? one : chosen), first);
}

function timeOf(ms: number): string {
  return ms === 0 ? "never" : new Date(ms).toISOString();
}
