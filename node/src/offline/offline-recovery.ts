/**
 * `quoin-node recover`: a cluster that has lost its quorum continues from the data of one stopped member, as a new
 * cluster with that single member.
 *
 * Acknowledged writes that only the lost members had are lost, so a person must confirm. The command keeps the old data
 * beside the new data. With `--compare` it only reports which of several members to recover from.
 */

import { randomBytes, randomUUID } from "node:crypto";
import { createInterface } from "node:readline/promises";
import { Command } from "commander";
import { generateSigningKey } from "../access/index.ts";
import {
  addFlags,
  type FlagValues,
  flag,
  parseArguments,
  parseCount,
  toggle,
  UsageError,
  valuesOf,
} from "../command-line/index.ts";
import { ExitCode, parseClusterId } from "../process/index.ts";
import { systemClock } from "../replica/index.ts";
import { REVISION_JUMP_DEFAULT, revisionJumpObjection } from "../state/index.ts";
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
} from "../storage/index.ts";
import { ARCHIVE_FLAGS, compareArchive, requireArchiveFlags } from "./compared-archive.ts";
import { describeArchive, describeFacts } from "./member-facts-text.ts";
import { describeError, reportFailure } from "./offline-failure.ts";
import { comparisonReport, problemReport, successorReport, writeReport } from "./offline-report.ts";
import { probeOthers } from "./ready-members.ts";
import { compareMembers } from "./survivor-comparison.ts";

/** The first argument of the program, instead of a flag. */
export const RECOVER = "recover";

const PAGE_TOKEN_KEY_BYTES = 32;

const FLAGS = {
  ...ARCHIVE_FLAGS,
  directory: flag("--data-dir <directory>", "data directory of the stopped member"),
  compare: flag(
    "--compare <member...>",
    "only compare members, and report which one to recover from: data directories of stopped members, or the " +
      "host:port of the admin port of running ones",
  ),
  adminTokenFile: flag("--admin-token-file <file>", "file with an admin token, for running members"),
  caFile: flag(
    "--ca-file <file>",
    "authorities that signed the certificates of running members; without it, no TLS is used",
  ),
  yesLoseWritesAfter: flag(
    "--yes-lose-writes-after <index>",
    "confirm without a prompt; the index must be that of this member's last entry",
    parseCount,
  ),
  newClusterId: flag("--new-cluster-id <uuid>", "id of the new cluster; by default a random one", parseClusterId),
  revisionJump: flag(
    "--revision-jump <count>",
    "increase of revisions and fencing tokens; must exceed what the lost members may have issued",
    parseCount,
  ).byDefault(`${REVISION_JUMP_DEFAULT}`),
  keepSigningKeys: toggle("--keep-signing-keys", "keep the keys that sign tokens, so that existing logins stay valid"),
  ignoreReadyMembers: toggle(
    "--ignore-ready-members",
    "recover although other members report that they serve the cluster",
  ),
  report: flag("--report <file>", "also write the result as JSON into this file, for programs"),
};

type Flags = FlagValues<typeof FLAGS>;

/** Runs the command, prints its progress, and returns the exit code. */
export async function recoverOffline(args: readonly string[]): Promise<number> {
  let report: string | null = null;
  try {
    const flags = parseFlags(args);
    report = flags?.report ?? null;
    if (flags !== null) {
      await run(flags);
    }
    return ExitCode.Stopped;
  } catch (error) {
    const code = reportFailure(error);
    writeReport(report, problemReport(describeError(error)));
    return code;
  }
}

/** Returns null for --help. Raises UsageError. */
function parseFlags(args: readonly string[]): Flags | null {
  const program = addFlags(new Command(`quoin-node ${RECOVER}`), FLAGS).description(
    "Recovers a cluster that has lost its quorum: creates a new cluster from the data of one stopped member. " +
      "It is the only member. Writes that this member does not have are lost. Run it as the user of the member's process.",
  );
  if (!parseArguments(program, args)) {
    return null;
  }
  const flags = valuesOf(program, FLAGS);
  if ((flags.directory === null) === (flags.compare === null)) {
    throw new UsageError("name one data directory with --data-dir, or several to compare with --compare");
  }
  if (flags.compare === null && (flags.adminTokenFile ?? flags.caFile) !== null) {
    throw new UsageError("--admin-token-file and --ca-file need --compare");
  }
  requireArchiveFlags(flags);
  return flags;
}

async function run(flags: Flags): Promise<void> {
  const { directory, compare, report } = flags;
  if (compare !== null) {
    const { adminTokenFile, caFile } = flags;
    const comparison = await compareMembers(compare, { adminTokenFile, caFile, archive: flags, print });
    writeReport(report, comparisonReport(comparison));
  } else if (directory !== null) {
    if (unfinishedSuccession(directory) === null) {
      // Does not write to a directory without data, and does not create one.
      requireMemberData(directory, false);
    }
    const successor = await withSuccessionLock(directory, () => recover(directory, flags));
    writeReport(report, successorReport(successor));
  }
}

/** Returns the identity of the directory afterwards. */
async function recover(directory: string, flags: Flags): Promise<Identity> {
  if (unfinishedSuccession(directory) !== null) {
    print([`the recovery of ${directory} was confirmed earlier and interrupted; it is completed now`]);
    return finish(directory, null);
  }
  const member = await StoppedMember.open(directory, { acceptRetired: false });
  let formerId: string;
  try {
    const { facts } = member;
    formerId = facts.clusterId;
    if (formerId === flags.newClusterId) {
      print([`${directory} contains the data of cluster ${formerId}: the recovery is complete`]);
      return member.identity;
    }
    requireJump(facts, flags);
    print(describeFacts(directory, facts));
    requireLostVoters(member);
    await requireLostQuorum(facts, flags);
    await printArchive(facts, flags);
    await confirm(facts, flags);
    const { progress, formerRevision } = await stageRecovery(member, await planOf(flags));
    print([
      `the log was applied up to its end, index ${facts.lastIndex}; ${facts.lastIndex - facts.commitIndex} of its entries ` +
        "were not known to be committed",
      `the revision increased from ${formerRevision} to ${progress.revision}`,
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
    `the old data is in ${former}; delete it when you no longer need it`,
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

/** Raises Refused if another member reports that it serves the cluster. */
async function requireLostQuorum({ cluster, memberId }: MemberFacts, { ignoreReadyMembers }: Flags): Promise<void> {
  const probed = await probeOthers(cluster, memberId);
  for (const { name, endpoint, answer } of probed) {
    print([`  ${name} at ${endpoint || "an unknown address"}: ${ANSWERS[answer]}`]);
  }
  const ready = probed.filter(({ answer }) => answer === "ready");
  if (ready.length > 0 && !ignoreReadyMembers) {
    throw new Refused(
      "MEMBER_REFUSED",
      `${ready.map(({ name, endpoint }) => `${name} at ${endpoint}`).join(", ")} reports that it serves the cluster, so ` +
        "the quorum is not lost. Start this member. If those addresses belong to another cluster, use --ignore-ready-members",
    );
  }
  print(["a member that gives no answer may still run: make sure that no other member of this cluster is running"]);
}

/** Prints whether the archive has more. Raises Refused if the flags name an archive that is not readable. */
async function printArchive(facts: MemberFacts, flags: Flags): Promise<void> {
  const archive = await compareArchive(flags, facts.clusterId);
  if (archive === null) {
    return;
  }
  const lines = describeArchive(facts, archive);
  if ("problem" in archive) {
    throw new Refused(
      "MEMBER_REFUSED",
      `${lines.join(". ")}. Nothing was changed. To recover without a comparison, omit --backup-store`,
    );
  }
  print(lines);
}

const ANSWERS = {
  ready: "serves the cluster",
  "not-ready": "runs, but does not serve the cluster",
  "no-answer": "gives no answer",
} as const;

/** Raises UsageError unless a person confirms, by the flag or by typing the id of the cluster. */
async function confirm({ lastIndex, clusterId }: MemberFacts, { yesLoseWritesAfter }: Flags): Promise<void> {
  if (yesLoseWritesAfter !== null) {
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
      `the id of the cluster, ${clusterId}, was not typed. Nothing was changed. To confirm without a prompt, use ` +
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
