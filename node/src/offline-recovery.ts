/**
 * `quoin-node recover`: a cluster that has lost its quorum goes on from the data of one stopped member, as a new cluster of
 * which that member is the only one.
 *
 * Acknowledged writes that only the lost members had are lost, so a person confirms it. The data from before is kept beside
 * the new data. With `--compare` it only says which of several members to recover from.
 */

import { randomBytes, randomUUID } from "node:crypto";
import { createInterface } from "node:readline/promises";
import { Command } from "commander";
import { generateSigningKey } from "./access/index.ts";
import { parseArguments, parseCount, UsageError } from "./command-line/index.ts";
import { type ArchiveFlags, addArchiveOptions, compareArchive, requireArchiveFlags } from "./compared-archive.ts";
import { ExitCode } from "./exit-code.ts";
import { describeArchive, describeFacts } from "./member-facts-text.ts";
import { endOffline, wordsOf } from "./offline-end.ts";
import { comparisonReport, problemReport, successorReport, writeReport } from "./offline-report.ts";
import { probeOthers } from "./ready-members.ts";
import { systemClock } from "./replica/index.ts";
import { parseClusterId } from "./restore-flags.ts";
import { REVISION_JUMP_DEFAULT, revisionJumpObjection } from "./state/index.ts";
import {
  formerDirectory,
  type Identity,
  type MemberFacts,
  placeSuccessor,
  Refused,
  requireLostVoters,
  requireMemberData,
  StoppedMember,
  type SuccessorPlan,
  stageRecovery,
  unfinishedSuccession,
  withSuccessionLock,
} from "./storage/index.ts";
import { compareMembers } from "./survivor-comparison.ts";

/** The first argument of the program, in place of a flag. */
export const RECOVER = "recover";

const PAGE_TOKEN_KEY_BYTES = 32;

interface Flags extends ArchiveFlags {
  readonly dataDir?: string;
  readonly compare?: readonly string[];
  readonly adminTokenFile?: string;
  readonly caFile?: string;
  readonly yesLoseWritesAfter?: number;
  readonly newClusterId?: string;
  readonly revisionJump: number;
  readonly keepSigningKeys: boolean;
  readonly ignoreReadyMembers: boolean;
  readonly report?: string;
}

/** Runs the command, prints what it does, and returns the exit code. */
export async function recoverOffline(args: readonly string[]): Promise<number> {
  let report: string | undefined;
  try {
    const flags = parseFlags(args);
    report = flags?.report;
    if (flags !== null) {
      await run(flags);
    }
    return ExitCode.Stopped;
  } catch (error) {
    const code = endOffline(error);
    writeReport(report, problemReport(wordsOf(error)));
    return code;
  }
}

/** Raises UsageError; null if only help was asked for. */
function parseFlags(args: readonly string[]): Flags | null {
  const program = addArchiveOptions(new Command(`quoin-node ${RECOVER}`))
    .description(
      "Recovers a cluster that has lost its quorum: makes a new cluster from the data of one stopped member. " +
        "That member is its only one. Writes that this member does not have are lost. Run it as the user that the member runs as.",
    )
    .option("--data-dir <directory>", "data directory of the stopped member")
    .option(
      "--compare <member...>",
      "only compare members, and say which to recover from: data directories of stopped ones, or host:port where running " +
        "ones are administered",
    )
    .option("--admin-token-file <file>", "file with an admin token, for members that run")
    .option(
      "--ca-file <file>",
      "authorities that signed the certificates of members that run; without it, no TLS is spoken",
    )
    .option(
      "--yes-lose-writes-after <index>",
      "confirm without a question; the index must be that of the last entry of this member",
      parseCount,
    )
    .option("--new-cluster-id <uuid>", "id of the new cluster; by default a random one", parseClusterId)
    .option(
      "--revision-jump <count>",
      "how far revisions and fencing tokens jump ahead; more than the lost members can have given out",
      parseCount,
      REVISION_JUMP_DEFAULT,
    )
    .option("--keep-signing-keys", "keep the keys that sign tokens, so that logins from before go on", false)
    .option("--ignore-ready-members", "recover although other members say that they serve the cluster", false)
    .option("--report <file>", "also write what was found or done as JSON into this file, for programs");
  if (!parseArguments(program, args)) {
    return null;
  }
  const flags = program.opts<Flags>();
  if ((flags.dataDir === undefined) === (flags.compare === undefined)) {
    throw new UsageError("name one data directory with --data-dir, or several to compare with --compare");
  }
  if (flags.compare === undefined && (flags.adminTokenFile ?? flags.caFile) !== undefined) {
    throw new UsageError("--admin-token-file and --ca-file belong to --compare");
  }
  requireArchiveFlags(flags);
  return flags;
}

async function run(flags: Flags): Promise<void> {
  const { dataDir, compare, report } = flags;
  if (compare !== undefined) {
    const { adminTokenFile, caFile } = flags;
    const comparison = await compareMembers(compare, { adminTokenFile, caFile, archive: flags, print });
    writeReport(report, comparisonReport(comparison));
  } else if (dataDir !== undefined) {
    if (unfinishedSuccession(dataDir) === null) {
      // A directory without data is not written to, and not made.
      requireMemberData(dataDir, false);
    }
    const successor = await withSuccessionLock(dataDir, () => recover(dataDir, flags));
    writeReport(report, successorReport(successor));
  }
}

/** Returns the identity that the directory has then. */
async function recover(directory: string, flags: Flags): Promise<Identity> {
  if (unfinishedSuccession(directory) !== null) {
    print([`the recovery of ${directory} was decided before and cut short; it is completed now`]);
    return finish(directory, null);
  }
  const member = await StoppedMember.open(directory, { acceptRetired: false });
  let formerId: string;
  try {
    const { facts } = member;
    formerId = facts.clusterId;
    if (formerId === flags.newClusterId) {
      print([`${directory} holds the data of cluster ${formerId}: the recovery is complete`]);
      return member.identity;
    }
    requireJump(facts, flags);
    print(describeFacts(directory, facts));
    requireLostVoters(member);
    await requireLostQuorum(facts, flags);
    await tellArchive(facts, flags);
    await confirm(facts, flags);
    const { progress, formerRevision } = await stageRecovery(member, await planOf(flags));
    print([
      `the log was applied up to its end, index ${facts.lastIndex}; ${facts.lastIndex - facts.commitIndex} of its entries ` +
        "were not known to be committed",
      `the revision went from ${formerRevision} to ${progress.revision}`,
    ]);
  } finally {
    await member.close();
  }
  return finish(directory, formerId);
}

function finish(directory: string, formerId: string | null): Identity {
  const identity = placeSuccessor(directory);
  const former = formerId === null ? `${directory}/former-cluster-*` : formerDirectory(directory, formerId);
  print([
    `cluster ${identity.clusterId} has one member, ${identity.name} (${identity.memberId})`,
    `the data from before is in ${former}; delete it when you do not need it any more`,
    "next: start this member; then empty the data directories of the other members, add their names and start them",
  ]);
  return identity;
}

function requireJump({ revision }: MemberFacts, { revisionJump }: Flags): void {
  const objection = revisionJumpObjection(revision, revisionJump);
  if (objection !== null) {
    throw new UsageError(`--revision-jump ${revisionJump} ${objection}`);
  }
}

/** Raises Refused if another member says that it serves the cluster. */
async function requireLostQuorum({ cluster, memberId }: MemberFacts, { ignoreReadyMembers }: Flags): Promise<void> {
  const probed = await probeOthers(cluster, memberId);
  for (const { name, endpoint, answer } of probed) {
    print([`  ${name} at ${endpoint || "an unknown address"}: ${ANSWERS[answer]}`]);
  }
  const ready = probed.filter(({ answer }) => answer === "ready");
  if (ready.length > 0 && !ignoreReadyMembers) {
    throw new Refused(
      "MEMBER_REFUSED",
      `${ready.map(({ name, endpoint }) => `${name} at ${endpoint}`).join(", ")} answers that it serves the cluster, so ` +
        "the quorum is not lost. Start this member. If those addresses belong to another cluster, use --ignore-ready-members",
    );
  }
  print(["a member that gives no answer may still run: make sure that no other member of this cluster runs anywhere"]);
}

/** Raises Refused if an archive was named and cannot be read. */
async function tellArchive(facts: MemberFacts, flags: Flags): Promise<void> {
  const archive = await compareArchive(flags, facts.clusterId);
  if (archive === null) {
    return;
  }
  const lines = describeArchive(facts, archive);
  if ("problem" in archive) {
    throw new Refused(
      "MEMBER_REFUSED",
      `${lines.join(". ")}. Nothing was changed. To recover without a comparison, leave out --backup-store`,
    );
  }
  print(lines);
}

const ANSWERS = {
  ready: "serves the cluster",
  "not-ready": "runs, and does not serve the cluster",
  "no-answer": "gives no answer",
} as const;

/** Raises UsageError unless a person has confirmed, by the flag or by typing the id of the cluster. */
async function confirm({ lastIndex, clusterId }: MemberFacts, { yesLoseWritesAfter }: Flags): Promise<void> {
  if (yesLoseWritesAfter !== undefined) {
    if (yesLoseWritesAfter !== lastIndex) {
      throw new UsageError(
        `--yes-lose-writes-after ${yesLoseWritesAfter} is not the last index of this member, which is ${lastIndex}. ` +
          "Nothing was changed",
      );
    }
    return;
  }
  print([
    `Writes after index ${lastIndex} of this cluster are lost for ever, whether they were acknowledged or not.`,
    "All logins end, and all locks are free. Type the id of the cluster to go on:",
  ]);
  const lines = createInterface({ input: process.stdin });
  const { value: typed = "" } = await lines[Symbol.asyncIterator]().next();
  lines.close();
  if (String(typed ?? "").trim() !== clusterId) {
    throw new UsageError(
      `the id of the cluster, ${clusterId}, was not typed. Nothing was changed. To confirm without a question, use ` +
        `--yes-lose-writes-after ${lastIndex}`,
    );
  }
}

async function planOf({ newClusterId, revisionJump, keepSigningKeys }: Flags): Promise<SuccessorPlan> {
  return {
    cause: "recovery",
    clusterId: newClusterId ?? randomUUID(),
    revisionJump,
    signingKey: keepSigningKeys ? null : await generateSigningKey(),
    pageTokenKey: randomBytes(PAGE_TOKEN_KEY_BYTES),
    owner: null,
    wallMs: systemClock.wallMs(),
  };
}

function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}
