/**
 * `quoin-node recover --compare`: reports which member to recover a cluster from that has lost its quorum. A member is
 * the data directory of a stopped one, or the address of a running one.
 */

import { existsSync } from "node:fs";
import { UsageError } from "../command-line/index.ts";
import { UnknownVersion } from "../state/index.ts";
import { type MemberFacts, Refused, StoppedMember, StoreError } from "../storage/index.ts";
import { type ArchiveFlags, type ComparedArchive, compareArchive } from "./compared-archive.ts";
import {
  type ComparedMember,
  describeArchive,
  describeChoice,
  describeComparison,
  furthest,
} from "./member-facts-text.ts";
import { describeError } from "./offline-failure.ts";
import { comparedRunning, isAddress, livingQuorum, type RunningMember, readAccess } from "./running-member.ts";

export interface ComparisonOptions {
  /** File with the admin token for running members; null = no address is allowed. */
  readonly adminTokenFile: string | null;
  readonly caFile: string | null;
  readonly archive: ArchiveFlags;
  readonly print: (lines: readonly string[]) => void;
}

/** The content of a data directory, or why it is not usable. */
export type ComparedDirectory =
  | { readonly location: string; readonly facts: MemberFacts; readonly problem: null }
  | {
      readonly location: string;
      readonly facts: null;
      readonly problem: string;
      /** Whether it may contain a member's data that a retry or another release can read. */
      readonly mayPass: boolean;
    };

export interface Comparison {
  readonly directories: readonly ComparedDirectory[];
  /** Null if the flags name no archive, or if no member reports its cluster. */
  readonly archive: ComparedArchive | null;
}

/**
 * Prints the comparison and the choice, and returns the content of the directories and of the archive. Raises UsageError
 * if members belong to different clusters or cannot be asked. Raises Refused if they show that the quorum is not lost.
 */
export async function compareMembers(locations: readonly string[], options: ComparisonOptions): Promise<Comparison> {
  const [directories, addresses] = [
    locations.filter((location) => !isAddressOfRunning(location)),
    locations.filter(isAddressOfRunning),
  ];
  const answers = await queryAll(addresses, options);
  const running = answers.filter((answer) => typeof answer !== "string");
  const stopped: ComparedDirectory[] = [];
  for (const directory of directories) {
    stopped.push(await inspect(directory));
  }
  const compared: ComparedMember[] = [...stopped];
  for (const [at, answer] of answers.entries()) {
    const location = addresses[at] as string;
    compared.push(typeof answer === "string" ? { location, facts: null, problem: answer } : comparedRunning(answer));
  }
  const clusterIds = new Set(compared.flatMap(({ facts }) => (facts === null ? [] : [facts.clusterId])));
  if (clusterIds.size > 1) {
    throw new UsageError(`these members belong to different clusters: ${[...clusterIds].join(", ")}`);
  }
  options.print(describeComparison(compared));
  const quorum = livingQuorum(running);
  if (quorum !== null) {
    throw new Refused("MEMBER_REFUSED", `${quorum}. There is nothing to recover`);
  }
  options.print(describeChoice(compared));
  const [first, ...others] = compared.filter((one) => one.facts !== null);
  if (first === undefined) {
    return { directories: stopped, archive: null };
  }
  const { facts } = furthest([first, ...others]);
  const archive = await compareArchive(options.archive, facts.clusterId);
  options.print(archive === null ? [] : describeArchive(facts, archive));
  return { directories: stopped, archive };
}

/** An existing path on this machine is a directory, even if its name looks like an address. */
function isAddressOfRunning(location: string): boolean {
  return isAddress(location) && !existsSync(location);
}

async function queryAll(
  addresses: readonly string[],
  { adminTokenFile, caFile }: ComparisonOptions,
): Promise<(RunningMember | string)[]> {
  if (addresses.length === 0) {
    return [];
  }
  if (adminTokenFile === null) {
    throw new UsageError(`${addresses[0]} is an admin port: name the file with an admin token by --admin-token-file`);
  }
  const security = readAccess({ adminTokenFile, caFile });
  const { queryMember } = await import("./status-request.ts");
  return Promise.all(addresses.map((address) => queryMember(address, security)));
}

async function inspect(directory: string): Promise<ComparedDirectory> {
  try {
    const member = await StoppedMember.open(directory, { acceptRetired: false });
    await member.close();
    return { location: directory, facts: member.facts, problem: null };
  } catch (error) {
    if (error instanceof Refused || error instanceof StoreError || error instanceof UnknownVersion) {
      return { location: directory, facts: null, problem: describeError(error), mayPass: !(error instanceof Refused) };
    }
    throw error;
  }
}
