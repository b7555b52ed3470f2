/**
 * The result of `quoin-node recover`, as JSON for programs. In a pod, the file is its termination message, which has
 * 4,096 bytes.
 */

import { writeFileSync } from "node:fs";
import type { Identity, MemberFacts } from "../storage/index.ts";
import type { ComparedArchive } from "./compared-archive.ts";
import type { Comparison } from "./survivor-comparison.ts";

/** Maximum length of a message in characters, so that the report stays small. */
const PROBLEM_LENGTH_MAX = 1_000;

/** One of: the content of directories, the new owner of the directory, or why nothing was done. */
export type RecoveryReport =
  | {
      readonly directories: readonly DirectoryReport[];
      /** Absent unless the flags name an archive, and a directory contains the data of a member. */
      readonly archive?: ComparedArchive;
    }
  | { readonly successor: { readonly clusterId: string; readonly memberId: number; readonly name: string } }
  | { readonly problem: string };

/** The facts of the member in one directory, or why its data is not usable. */
type DirectoryReport =
  | { readonly directory: string; readonly member: MemberReport }
  | { readonly directory: string; readonly problem: string; readonly mayPass: boolean };

interface MemberReport
  extends Pick<
    MemberFacts,
    "clusterId" | "name" | "memberId" | "lastIndex" | "lastTerm" | "commitIndex" | "writtenAtMs"
  > {
  /** Ids of the voters in the applied state; during a change of them, also those before. */
  readonly voters: readonly number[];
  readonly outgoing: readonly number[];
}

export function comparisonReport({ directories, archive }: Comparison): RecoveryReport {
  return {
    ...(archive === null ? {} : { archive: clipped(archive) }),
    directories: directories.map((one) => {
      const { location: directory } = one;
      return one.facts === null
        ? { directory, problem: one.problem.slice(0, PROBLEM_LENGTH_MAX), mayPass: one.mayPass }
        : { directory, member: memberReport(one.facts) };
    }),
  };
}

function clipped(archive: ComparedArchive): ComparedArchive {
  return "problem" in archive ? { problem: archive.problem.slice(0, PROBLEM_LENGTH_MAX) } : archive;
}

export function successorReport({ clusterId, memberId, name }: Identity): RecoveryReport {
  return { successor: { clusterId, memberId, name } };
}

export function problemReport(problem: string): RecoveryReport {
  return { problem: problem.slice(0, PROBLEM_LENGTH_MAX) };
}

/** Does nothing without a file. Raises the errors of the file system. */
export function writeReport(file: string | null, report: RecoveryReport): void {
  if (file !== null) {
    writeFileSync(file, `${JSON.stringify(report)}\n`);
  }
}

function memberReport({ cluster, ...facts }: MemberFacts): MemberReport {
  const { clusterId, name, memberId, lastIndex, lastTerm, commitIndex, writtenAtMs } = facts;
  const { voters = [], outgoing = [] } = cluster?.configuration ?? {};
  return { clusterId, name, memberId, lastIndex, lastTerm, commitIndex, writtenAtMs, voters, outgoing };
}
