/**
 * `quoin-node recover --compare`: which member of a cluster that has lost its quorum to recover from. Members are data directories
 * of stopped ones, or addresses of running ones.
 */

import { existsSync } from "node:fs";
import { UsageError } from "./command-line/index.ts";
import { type ComparedMember, describeChoice, describeComparison } from "./member-facts-text.ts";
import { wordsOf } from "./offline-end.ts";
import {
  askMember,
  comparedRunning,
  isAddress,
  livingQuorum,
  type RunningMember,
  readAccess,
} from "./running-member.ts";
import { UnknownVersion } from "./state/index.ts";
import { type MemberFacts, Refused, StoppedMember, StoreError } from "./storage/index.ts";

export interface ComparisonOptions {
  /** How running members are asked; undefined = none may be named. */
  readonly adminTokenFile: string | undefined;
  readonly caFile: string | undefined;
  readonly print: (lines: readonly string[]) => void;
}

/** What a data directory holds, or why it cannot be used. */
export type ComparedDirectory =
  | { readonly place: string; readonly facts: MemberFacts; readonly problem: null }
  | {
      readonly place: string;
      readonly facts: null;
      readonly problem: string;
      /** Whether it may hold a member's data that another try or another release can read. */
      readonly mayPass: boolean;
    };

/**
 * Prints the comparison and the choice, and returns what the directories hold. Raises UsageError if members are of different clusters or cannot be asked, and Refused if
 * they show that the quorum is not lost.
 */
export async function compareMembers(
  places: readonly string[],
  options: ComparisonOptions,
): Promise<readonly ComparedDirectory[]> {
  const [directories, addresses] = [places.filter((place) => !isOfRunning(place)), places.filter(isOfRunning)];
  const answers = await askAll(addresses, options);
  const running = answers.filter((answer) => typeof answer !== "string");
  const stopped: ComparedDirectory[] = [];
  for (const directory of directories) {
    stopped.push(await look(directory));
  }
  const compared: ComparedMember[] = [...stopped];
  for (const [at, answer] of answers.entries()) {
    const place = addresses[at] as string;
    compared.push(typeof answer === "string" ? { place, facts: null, problem: answer } : comparedRunning(answer));
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
  return stopped;
}

/** What exists on this machine is a directory, whatever its name looks like. */
function isOfRunning(place: string): boolean {
  return isAddress(place) && !existsSync(place);
}

function askAll(
  addresses: readonly string[],
  { adminTokenFile, caFile }: ComparisonOptions,
): Promise<(RunningMember | string)[]> {
  if (addresses.length === 0) {
    return Promise.resolve([]);
  }
  if (adminTokenFile === undefined) {
    throw new UsageError(
      `${addresses[0]} is asked at its port for administration: name the file with an admin token by --admin-token-file`,
    );
  }
  const security = readAccess({ adminTokenFile, caFile });
  return Promise.all(addresses.map((address) => askMember(address, security)));
}

async function look(directory: string): Promise<ComparedDirectory> {
  try {
    const member = await StoppedMember.open(directory, { acceptRetired: false });
    await member.close();
    return { place: directory, facts: member.facts, problem: null };
  } catch (error) {
    if (error instanceof Refused || error instanceof StoreError || error instanceof UnknownVersion) {
      return { place: directory, facts: null, problem: wordsOf(error), mayPass: !(error instanceof Refused) };
    }
    throw error;
  }
}
