/**
 * Makes one cluster of a fleet: starts its processes, founds it, adds missing members, and promotes those that caught
 * up.
 *
 * It reads the current state and takes the next step, repeatedly, until nothing is left to do. So it does not matter
 * what an earlier run has done, or where it was interrupted: new, larger and restarted clusters take the same path. It
 * never removes a member.
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
import type { RestoreProgress } from "./restore-progress.ts";
import { StartError } from "./start-error.ts";

/** A started process and its status. */
export interface Observed {
  readonly process: MemberProcess;
  readonly status: MemberStatus;
  /** The membership that it has applied, which may be outdated. */
  readonly known: Membership | undefined;
}

const POLL_MS = 100;
/** On a slow disk, members need time to replay a long log or to catch up. */
const START_TIMEOUT_MS = 120_000;
const FOUNDING_TIMEOUT_MS = START_TIMEOUT_MS / 2;
/**
 * A founding from a backup continues after its call has ended. The launcher repeats the call, and shows progress in
 * between.
 */
const RESTORE_POLL_MS = 3_000;

/** States in which a voter votes. */
const VOTING_STATES = new Set(["JOINING", "RUNNING"]);
/** States from which a process reaches service by itself, if a cluster exists that it belongs to. */
const SERVICEABLE_STATES = new Set([...VOTING_STATES, "EMPTY"]);
/** Refusals of changes that a later retry may pass. */
const PASSING_REASONS = new Set([
  "LEARNER_NOT_READY",
  "CONFIG_CHANGE_IN_PROGRESS",
  "CONFIG_CHANGED",
  "QUORUM_UNSAFE",
  "MEMBER_EXISTS",
]);

/**
 * Returns the members once all of them serve, except those that need a person: the cluster continues without them while
 * it has a majority. Raises StartError.
 *
 * @param directory folder of the launcher's files.
 * @param interrupted gives up, with its reason.
 * @param restoring the restore that founds the cluster; null for a cluster that starts empty
 */
export async function assemble(
  directory: string,
  fleet: Fleet,
  credentials: OwnerCredentials,
  interrupted: AbortSignal,
  restoring: RestoreProgress | null,
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
      // A backup may have any size.
      deadlineMs = performance.now() + START_TIMEOUT_MS;
    }
    if (performance.now() > deadlineMs) {
      throw new StartError(`the cluster did not become ready in time: ${obstacle}`);
    }
    await sleep(POLL_MS);
  }
}

/** The status of the processes, and the names of those that do not answer. Raises StartError when one has ended. */
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

/** Takes the steps that are possible now. Returns what the cluster still waits for, or null. */
async function advance(
  directory: string,
  fleet: Fleet,
  observed: readonly Observed[],
  credentials: OwnerCredentials,
  restoring: RestoreProgress | null,
): Promise<string | null> {
  const known = freshest(observed)?.members ?? [];
  refuseLoss(fleet, observed, known);
  refuseMissingMembers(fleet, known);
  refuseMove(fleet, known);
  const running = observed.filter(({ status }) => status.state === "RUNNING");
  const speaker = running.find(({ status }) => status.role === "LEADER") ?? running[0];
  try {
    if (speaker === undefined) {
      return await found(directory, observed, credentials, restoring);
    }
    return (await addMembers(speaker, fleet, observed)) ?? (await findUnready(observed));
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

/** Raises StartError if so many voters are lost that the cluster needs a person before it can have a leader. */
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

/** Raises StartError if the launcher's cluster has members that this run does not start. */
function refuseMissingMembers({ layouts }: Fleet, known: readonly MemberSlot[]): void {
  const names = layouts.map(({ name }) => name);
  const leftOut = known
    .filter(isClaimed)
    .map(({ name }) => name)
    .filter((name) => numberOf(name) !== null && !names.includes(name));
  if (leftOut.length > 0) {
    const enough = memberCountFor(Math.max(...leftOut.map((name) => numberOf(name) ?? 0)));
    throw new StartError(
      `the cluster has the members ${leftOut.join(", ")} too, which --members ${names.length} does not start.  ` +
        `${enough === null ? "" : `Start it with --members ${enough}. `}To make it smaller for good, remove them ` +
        `first, while all run: quoinctl member remove ${leftOut.join(" ")}`,
    );
  }
}

/**
 * Raises StartError if the members would look for each other at outdated addresses. They can agree on one new address
 * at a time, but not when all of them have moved.
 */
function refuseMove({ layouts }: Fleet, known: readonly MemberSlot[]): void {
  const claimed = known.filter(isClaimed);
  for (const { name, ports } of layouts) {
    const endpoint = claimed.find((slot) => slot.name === name)?.peerEndpoint;
    if (claimed.length > 1 && endpoint !== undefined && endpoint !== addressOf(ports.peer)) {
      const [first] = layouts;
      const basePort = Number(endpoint.split(":").at(-1)) - (ports.peer - (first?.ports.grpc ?? 0));
      throw new StartError(
        `the members know each other by different ports (${name} by ${endpoint}): start the cluster with ` +
          `--base-port ${basePort}`,
      );
    }
  }
}

function isClaimed({ incarnation }: MemberSlot): boolean {
  return incarnation !== "";
}

/** The latest membership that one of the processes has applied. */
function freshest(observed: readonly Observed[]): Membership | undefined {
  const known = observed.flatMap((one) => one.known ?? []);
  return known.toSorted((left, right) => right.configIndex - left.configIndex)[0];
}

/**
 * Records the founding before it requests it; only the data directory in the record may found. So the next start
 * completes a founding after a crash at any point, and reports lost data instead of replacing it.
 */
async function found(
  directory: string,
  observed: readonly Observed[],
  { owner, apiKey }: OwnerCredentials,
  restoring: RestoreProgress | null,
): Promise<string> {
  const [founder] = observed;
  if (founder?.status.state !== "EMPTY" || observed.some(({ status }) => status.clusterId !== "")) {
    return `no member serves: ${observed.map(describe).join("; ")}`;
  }
  const { incarnation } = founder.status;
  let record = readRecord(directory) ?? createRecord(directory, incarnation);
  if (record.founderIncarnation !== incarnation && restoring !== null) {
    // The cluster in that record is gone, and the restored one is a different cluster.
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
    clusterId,
    incarnation,
    timeoutMs: restoring === null ? FOUNDING_TIMEOUT_MS : RESTORE_POLL_MS,
    owner: { ...owner, apiKey },
  });
  return "the cluster was founded just now";
}

/**
 * Gives each process a slot, and a vote when it has caught up. Returns what the cluster still waits for, or null.
 *
 * Starts the processes without data once they have their slots: a process that asks in vain waits a while before it
 * retries.
 */
async function addMembers(speaker: Observed, fleet: Fleet, observed: readonly Observed[]): Promise<string | null> {
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
  // A process that finds its slot taken, or itself removed, soon reports that.
  const waiting = serviceable.filter(
    ({ process, status }) => slots.get(process.name)?.incarnation !== status.incarnation,
  );
  if (waiting.length > 0) {
    return `${waiting.map(({ process }) => process.name).join(", ")} did not join`;
  }
  const learners = serviceable.flatMap(({ process }) => slots.get(process.name) ?? []).filter(({ voter }) => !voter);
  if (learners.length > 0) {
    // All in one step: a cluster of two voters stops when one of them fails.
    await admin.promoteMembers(learners.map(({ id }) => id));
    return "members were promoted just now";
  }
  return null;
}

/** The members that should serve and do not serve yet, or null. */
async function findUnready(observed: readonly Observed[]): Promise<string | null> {
  const serviceable = observed.filter(({ status }) => SERVICEABLE_STATES.has(status.state));
  const ready = await Promise.all(serviceable.map(({ process }) => process.isReady()));
  // A member that serves may not have stored its membership durably yet; until then it reports that it is joining.
  const unready = serviceable
    .filter(({ status }, at) => ready[at] !== true || status.state !== "RUNNING")
    .map(({ process }) => process.name);
  return unready.length > 0 ? `${unready.join(", ")} did not become ready` : null;
}

function describe({ process, status }: Observed): string {
  return `member ${process.name} is ${describeState(status)}`;
}

/** The state of a member, with its problems. */
export function describeState({ state, alarms }: MemberStatus): string {
  return [state, ...alarms].join(": ");
}
