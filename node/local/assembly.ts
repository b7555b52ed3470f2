/**
 * Makes one cluster of a fleet: starts its processes, founds it, adds who is missing, and promotes who has caught up.
 *
 * It looks at what is and does the next thing, again and again, until nothing is left to do. So it does not matter what
 * an earlier run has done already, or where it was interrupted: new clusters, larger ones and such that were only
 * stopped are the same to it. It removes nobody.
 */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type MemberSlot, type MemberStatus, type Membership, QuoinError } from "@quoin/client";
import { createRecord, type OwnerCredentials, readRecord } from "./cluster-files.ts";
import type { Fleet } from "./fleet.ts";
import { numberOf } from "./member-layout.ts";
import { describeExit, isUnanswered, type MemberProcess } from "./member-process.ts";
import { memberCountFor } from "./options.ts";
import { addressOf } from "./ports.ts";
import type { Restoring } from "./restoring.ts";
import { StartError } from "./start-error.ts";

/** A started process, and how it is. */
export interface Observed {
  readonly process: MemberProcess;
  readonly status: MemberStatus;
  /** The membership that it has applied, which may be old. */
  readonly known: Membership | undefined;
}

const POLL_MS = 100;
/** Members that replay a long log, or catch up, on a slow disk need their time. */
const START_TIMEOUT_MS = 120_000;
const FOUNDING_TIMEOUT_MS = START_TIMEOUT_MS / 2;
/** A founding from a backup goes on when its call has ended. The launcher repeats the call, and shows the progress in between. */
const RESTORE_POLL_MS = 3_000;

/** States in which a voter votes. */
const VOTING_STATES = new Set(["JOINING", "RUNNING"]);
/** States out of which a process comes to serve by itself, if there is a cluster that it belongs to. */
const SERVICEABLE_STATES = new Set([...VOTING_STATES, "EMPTY"]);
/** Refusals of changes that may be accepted a little later. */
const PASSING_REASONS = new Set([
  "LEARNER_NOT_READY",
  "CONFIG_CHANGE_IN_PROGRESS",
  "CONFIG_CHANGED",
  "QUORUM_UNSAFE",
  "MEMBER_EXISTS",
]);

/**
 * Returns the members as they are once all of them serve, but for those that cannot without a person: the cluster goes
 * on without them as long as it has a majority. Raises StartError.
 *
 * @param directory of the launcher's files.
 * @param interrupted gives up, with its reason.
 * @param restoring the cluster begins with a backup, and null if it begins empty
 */
export async function assemble(
  directory: string,
  fleet: Fleet,
  credentials: OwnerCredentials,
  interrupted: AbortSignal,
  restoring: Restoring | null,
): Promise<readonly Observed[]> {
  let deadlineMs = performance.now() + START_TIMEOUT_MS;
  fleet.startKnown();
  for (;;) {
    interrupted.throwIfAborted();
    const { observed, silent } = await observe(fleet.processes);
    const obstacle =
      silent.length > 0
        ? `${silent.join(", ")} did not answer`
        : await advance(directory, fleet, observed, credentials, restoring);
    if (obstacle === null) {
      return observed;
    }
    if (restoring?.isUnderWay(observed) === true) {
      // A backup may be of any size.
      deadlineMs = performance.now() + START_TIMEOUT_MS;
    }
    if (performance.now() > deadlineMs) {
      throw new StartError(`the cluster did not become ready in time: ${obstacle}`);
    }
    await sleep(POLL_MS);
  }
}

/** How they are, and the names of those that do not answer. Raises StartError when one has ended. */
async function observe(
  processes: readonly MemberProcess[],
): Promise<{ readonly observed: readonly Observed[]; readonly silent: readonly string[] }> {
  const answers = await Promise.all(processes.map((process) => process.status()));
  for (const process of processes) {
    if (process.exit !== null) {
      throw new StartError(
        `member ${process.name} did not start (${describeExit(process.exit)}):\n${process.logTail()}`,
      );
    }
  }
  const observed: Observed[] = [];
  const silent: string[] = [];
  for (const [at, process] of processes.entries()) {
    const answer = answers[at] ?? null;
    if (answer === null) {
      silent.push(process.name);
    } else {
      observed.push({ process, status: answer.status, known: answer.known });
    }
  }
  return { observed, silent };
}

/** Does what can be done now. Returns what is waited for, null if nothing is. */
async function advance(
  directory: string,
  fleet: Fleet,
  observed: readonly Observed[],
  credentials: OwnerCredentials,
  restoring: Restoring | null,
): Promise<string | null> {
  const known = freshest(observed)?.members ?? [];
  refuseLoss(fleet, observed, known);
  refuseLeftOut(fleet, known);
  refuseMove(fleet, known);
  const running = observed.filter(({ status }) => status.state === "RUNNING");
  const speaker = running.find(({ status }) => status.role === "LEADER") ?? running[0];
  try {
    if (speaker === undefined) {
      return await found(directory, observed, credentials, restoring);
    }
    return (await enlarge(speaker, fleet, observed)) ?? (await findUnready(observed));
  } catch (error) {
    if (error instanceof QuoinError && error.reason === "BACKUP_STORE_UNAVAILABLE") {
      throw new StartError(error.message, { cause: error });
    }
    if (error instanceof QuoinError && (isUnanswered(error) || PASSING_REASONS.has(error.reason))) {
      return error.message;
    }
    throw error;
  }
}

/** Raises StartError if so many voters are lost that there will be no leader until a person does something about it. */
function refuseLoss(fleet: Fleet, observed: readonly Observed[], known: readonly MemberSlot[]): void {
  const isHopeless = !observed.some(({ status }) => SERVICEABLE_STATES.has(status.state));
  const ours = fleet.layouts.map(({ name }) => name);
  const voters = known.filter(({ voter }) => voter);
  const voting = observed.filter(({ status }) => VOTING_STATES.has(status.state)).map(({ process }) => process.name);
  const lost = voters.map(({ name }) => name).filter((name) => ours.includes(name) && !voting.includes(name));
  if (!isHopeless && (lost.length === 0 || lost.length * 2 < voters.length)) {
    return;
  }
  const gone = lost.filter((name) => !observed.some(({ process }) => process.name === name));
  const lines = [
    ...observed.filter(({ process }) => !voting.includes(process.name)).map(describe),
    ...gone.map((name) => `the data of member ${name} is gone`),
  ];
  if (voters.length > 1) {
    lines.push(`the cluster has ${voters.length} voters, and needs more than half of them`);
  }
  throw new StartError(lines.join("\n"));
}

/** Raises StartError if the cluster has members of the launcher that it was not told to start. */
function refuseLeftOut({ layouts }: Fleet, known: readonly MemberSlot[]): void {
  const names = layouts.map(({ name }) => name);
  const leftOut = known
    .filter(isClaimed)
    .map(({ name }) => name)
    .filter((name) => numberOf(name) !== null && !names.includes(name));
  if (leftOut.length > 0) {
    const enough = memberCountFor(Math.max(...leftOut.map((name) => numberOf(name) ?? 0)));
    throw new StartError(
      `the cluster has the members ${leftOut.join(", ")} as well, which --members ${names.length} does not start. ` +
        `${enough === null ? "" : `Start it with --members ${enough}. `}To make it smaller for good, remove them ` +
        `first, while all run: npx quoinctl member remove ${leftOut.join(" ")}`,
    );
  }
}

/**
 * Raises StartError if the members would look for each other where they were and not where they are: they can agree
 * about one new address at a time, but not when all of them have moved.
 */
function refuseMove({ layouts }: Fleet, known: readonly MemberSlot[]): void {
  const claimed = known.filter(isClaimed);
  for (const { name, ports } of layouts) {
    const endpoint = claimed.find((slot) => slot.name === name)?.peerEndpoint;
    if (claimed.length > 1 && endpoint !== undefined && endpoint !== addressOf(ports.peer)) {
      const [first] = layouts;
      const basePort = Number(endpoint.split(":").at(-1)) - (ports.peer - (first?.ports.grpc ?? 0));
      throw new StartError(
        `the members know each other by other ports (${name} by ${endpoint}): start the cluster with ` +
          `--base-port ${basePort}`,
      );
    }
  }
}

function isClaimed({ incarnation }: MemberSlot): boolean {
  return incarnation !== "";
}

/** The latest membership that one of them has applied. */
function freshest(observed: readonly Observed[]): Membership | undefined {
  const known = observed.flatMap((one) => one.known ?? []);
  return known.toSorted((left, right) => right.configIndex - left.configIndex)[0];
}

/**
 * The founding is recorded before it is asked for, and only the data directory that the record names may found. So a
 * crash anywhere in between is completed by the next start, and lost data is reported instead of replaced.
 */
async function found(
  directory: string,
  observed: readonly Observed[],
  { owner, apiKey }: OwnerCredentials,
  restoring: Restoring | null,
): Promise<string> {
  const [founder] = observed;
  if (founder?.status.state !== "EMPTY" || observed.some(({ status }) => status.clusterId !== "")) {
    return `no member serves: ${observed.map(describe).join("; ")}`;
  }
  const { incarnation } = founder.status;
  let record = readRecord(directory) ?? createRecord(directory, incarnation);
  if (record.founderIncarnation !== incarnation && restoring !== null) {
    // The cluster of that record is gone, and what is restored is another one.
    record = createRecord(directory, incarnation);
  }
  if (record.founderIncarnation !== incarnation) {
    throw new StartError(
      `the data of cluster ${record.clusterId} is gone: ${join(directory, founder.process.name)} is empty. Restore it ` +
        `from a backup with --restore, or move ${directory} away to start with an empty cluster`,
    );
  }
  const { clusterId } = record;
  await founder.process.admin.bootstrap({
    ...{ clusterId, incarnation, timeoutMs: restoring === null ? FOUNDING_TIMEOUT_MS : RESTORE_POLL_MS },
    owner: { ...owner, apiKey },
  });
  return "the cluster was founded just now";
}

/**
 * Gives each process a slot, and a vote when it has caught up. Returns what is waited for, null if nothing is.
 *
 * Those without data are started when they have their slots: a process that asks in vain asks again only after a while.
 */
async function enlarge(speaker: Observed, fleet: Fleet, observed: readonly Observed[]): Promise<string | null> {
  const { admin } = speaker.process;
  const slots = new Map((await admin.listMembers()).members.map((slot) => [slot.name, slot]));
  const empty = observed.filter(({ status }) => status.state === "EMPTY").map(({ process }) => process.name);
  for (const name of [...fleet.absent.map((layout) => layout.name), ...empty]) {
    if (!slots.has(name)) {
      await admin.addMember(name);
    }
  }
  if (fleet.absent.length > 0) {
    fleet.startAbsent();
    return "members were started just now";
  }
  const serviceable = observed.filter(({ status }) => SERVICEABLE_STATES.has(status.state));
  // Who finds its slot taken, or itself removed, soon says so.
  const waiting = serviceable.filter(
    ({ process, status }) => slots.get(process.name)?.incarnation !== status.incarnation,
  );
  if (waiting.length > 0) {
    return `${waiting.map(({ process }) => process.name).join(", ")} did not join`;
  }
  const learners = serviceable.flatMap(({ process }) => slots.get(process.name) ?? []).filter(({ voter }) => !voter);
  if (learners.length > 0) {
    // All in one step: two voters would stop when one of them fails.
    await admin.promoteMembers(learners.map(({ id }) => id));
    return "members were promoted just now";
  }
  return null;
}

/** Who will serve and does not yet, null if nobody. */
async function findUnready(observed: readonly Observed[]): Promise<string | null> {
  const serviceable = observed.filter(({ status }) => SERVICEABLE_STATES.has(status.state));
  const ready = await Promise.all(serviceable.map(({ process }) => process.isReady()));
  // Who serves may not have made durable yet that it is a member, and says that it is joining until then.
  const unready = serviceable
    .filter(({ status }, at) => ready[at] !== true || status.state !== "RUNNING")
    .map(({ process }) => process.name);
  return unready.length > 0 ? `${unready.join(", ")} did not become ready` : null;
}

function describe({ process, status }: Observed): string {
  return `member ${process.name} is ${describeState(status)}`;
}

/** The state of a member with what is wrong. */
export function describeState({ state, alarms }: MemberStatus): string {
  return [state, ...alarms].join(": ");
}
