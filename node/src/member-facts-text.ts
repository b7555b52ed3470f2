/** What a stopped member knows, for people: as a list, and beside that of others as a table. */

import { isFurther, type MemberFacts } from "./storage/index.ts";

/** One directory of a comparison: what its member knows, or why its data cannot be used. */
export type ComparedDirectory =
  | { readonly directory: string; readonly facts: MemberFacts; readonly problem: null }
  | { readonly directory: string; readonly facts: null; readonly problem: string };

const COLUMNS: readonly (readonly [title: string, of: (facts: MemberFacts) => string])[] = [
  ["MEMBER", ({ name, memberId }) => `${name} (${memberId})`],
  ["LAST TERM", ({ lastTerm }) => String(lastTerm)],
  ["LAST INDEX", ({ lastIndex }) => String(lastIndex)],
  ["COMMITTED", ({ commitIndex }) => String(commitIndex)],
  ["APPLIED", ({ appliedIndex }) => String(appliedIndex)],
  ["WRITTEN", ({ writtenAtMs }) => timeOf(writtenAtMs)],
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

/** The table, and what it says about which member to recover from. */
export function describeComparison(compared: readonly ComparedDirectory[]): string[] {
  const usable = compared.filter((one) => one.facts !== null);
  const rows = [
    [...COLUMNS.map(([title]) => title), "DIRECTORY"],
    ...usable.map(({ facts, directory }) => [...COLUMNS.map(([, of]) => of(facts)), directory]),
  ];
  const widths = COLUMNS.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const table = rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  "));
  const unusable = compared.filter((one) => one.problem !== null).map(({ problem }) => `not usable: ${problem}`);
  return [...(usable.length > 0 ? table : []), ...unusable, choiceOf(usable)];
}

/** The directory whose last entry has the greatest term, and among those the greatest index. */
function choiceOf(usable: readonly (ComparedDirectory & { readonly facts: MemberFacts })[]): string {
  const [first, ...others] = usable;
  if (first === undefined) {
    return "no directory can be recovered from";
  }
  const best = others.reduce((chosen, one) => (isFurther(one.facts, chosen.facts) ? one : chosen), first);
  const equals = usable.filter(({ facts }) => !isFurther(best.facts, facts));
  const { lastIndex, lastTerm } = best.facts;
  const why = `it has the greatest last term, ${lastTerm}, and with it the greatest last index, ${lastIndex}`;
  return equals.length > 1
    ? `recover from any of ${equals.map(({ directory }) => directory).join(", ")}: they end at the same entry`
    : `recover from ${best.directory}: ${why}`;
}

function timeOf(ms: number): string {
  return ms === 0 ? "never" : new Date(ms).toISOString();
}
