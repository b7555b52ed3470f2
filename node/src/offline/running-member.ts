/**
 * The status of a running member, requested at its admin port: whether it has a leader, and where its log ends. The
 * request needs no quorum.
 */

import { readFileSync } from "node:fs";
import { enumName, type GetStatusResponse, MemberState, type MemberStatus } from "@quoin/proto";
import { UsageError } from "../command-line/index.ts";
import type { ComparedMember } from "./member-facts-text.ts";

/** How to reach a member. */
export interface RunningMemberAccess {
  /** File with an admin token on its first line. */
  readonly adminTokenFile: string;
  /** File with the authorities that signed its certificate; null = its admin port uses no TLS. */
  readonly caFile: string | null;
}

/** A member that has answered. */
export interface RunningMember {
  readonly address: string;
  readonly status: MemberStatus;
  /** The members that it has applied, and the log index of that membership. */
  readonly known: GetStatusResponse["known"];
}

const ADDRESS = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:/[\]]+):(\d{1,5})$/;
const PORT_MAX = 65_535;

/** Whether the text has the form host:port. */
export function isAddress(text: string): boolean {
  const port = Number(ADDRESS.exec(text)?.[1]);
  return port >= 1 && port <= PORT_MAX;
}

/** The token and authorities of these files. Raises UsageError. */
export function readAccess({ adminTokenFile, caFile }: RunningMemberAccess): { token: string; ca: Buffer | null } {
  const token = read("--admin-token-file", adminTokenFile)
    .toString("utf8")
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line !== "");
  if (token === undefined) {
    throw new UsageError(`--admin-token-file: no token is in ${adminTokenFile}`);
  }
  return { token, ca: caFile === null ? null : read("--ca-file", caFile) };
}

function read(flag: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new UsageError(`${flag}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** The member for a comparison. A member with a wrong state is not usable for a recovery. */
export function comparedRunning({ address, status }: RunningMember): ComparedMember {
  const { id, name, clusterId, lastIndex, lastTerm, commitIndex, appliedIndex } = status;
  if (status.state !== MemberState.RUNNING) {
    const state = [enumName(MemberState, status.state), ...status.alarms].join(": ");
    return { location: address, facts: null, problem: `${address}: the member is ${state}` };
  }
  if (lastTerm === 0n && lastIndex > 0n) {
    const problem = `${address}: its release does not report the term of its last entry. Stop it, and use its data directory`;
    return { location: address, facts: null, problem };
  }
  return {
    location: address,
    facts: {
      clusterId,
      name,
      memberId: Number(id),
      lastIndex: Number(lastIndex),
      lastTerm: Number(lastTerm),
      commitIndex: Number(commitIndex),
      appliedIndex: Number(appliedIndex),
      writtenAtMs: null,
    },
    problem: null,
  };
}

/** Why the quorum is not lost, as far as these members show; null if they do not show it. */
export function livingQuorum(members: readonly RunningMember[]): string | null {
  const led = members.filter(({ status }) => status.state === MemberState.RUNNING && status.leaderId !== "");
  const [first] = led;
  if (first !== undefined) {
    const names = led.map(({ status, address }) => `${status.name} at ${address}`).join(" and ");
    return `the quorum is not lost: member ${first.status.leaderId} leads and a majority follows it, as ${names} knows`;
  }
  const newest = members.reduce<RunningMember["known"]>(
    (best, { known }) => (best === undefined || (known?.configIndex ?? 0n) > best.configIndex ? known : best),
    undefined,
  );
  const voters = newest?.members.filter(({ voter }) => voter) ?? [];
  const running = voters.filter(({ id }) => {
    return members.some(({ status }) => status.id === id && status.state === MemberState.RUNNING);
  });
  if (voters.length > 0 && running.length * 2 > voters.length) {
    return (
      `the quorum is not lost: ${running.length} of ${voters.length} voters run, and elect a leader as soon as they can ` +
      "connect to each other. Check what prevents that: their peer ports, network policies, certificates"
    );
  }
  return null;
}
