/**
 * The data directory of a sole voter that was killed: its log holds a whole golden log, its state the entries up to the
 * mark, and both stores have rows in tables and in write-ahead logs.
 */

import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { invariant } from "../../src/primitives/index.ts";
import { entryTerm, entryTickMs, entryWallMs } from "../../src/raft/index.ts";
import {
  createIdentity,
  type DataDirectory,
  type MemberData,
  mintIdentity,
  openDataDirectory,
} from "../../src/storage/index.ts";
import { machineOver } from "../index.ts";
import { reconfigureFrom } from "./golden-log.ts";
import { CLUSTER_NAME, goldenFounding, MEMBER_NAME } from "./identities.ts";

const FOUNDER_ID = 1;
const FOUNDING_TERM = 1;
/** Entries that are written at once. */
const BATCH = 16;

/** How the directory is opened. */
export const OPENING = { clusterName: CLUSTER_NAME, name: MEMBER_NAME, acceptMissingFence: false } as const;

/** Makes the member in `live`, and returns the directory with a copy of it, as a kill of its process leaves it. */
export async function makeStoppedMember(
  directory: string,
  entries: readonly Uint8Array[],
  mark: number,
): Promise<string> {
  const live = join(directory, "live");
  await found(live, entries);
  const half = Math.floor(mark / 2);
  const before = await openMember(live);
  await append(before, entries.slice(0, half));
  apply(before, half);
  await before.close();
  const data = await openMember(live);
  await append(data, entries);
  apply(data, mark);
  await new Promise<void>((resolve) => data.state.sync(resolve));
  const killed = join(directory, "killed");
  cpSync(live, killed, { recursive: true });
  await data.close();
  return killed;
}

/** Opens the directory, which must be that of a member. */
export async function openMember(directory: string): Promise<MemberData> {
  const opened = await open(directory);
  if (opened.phase !== "member") {
    throw new Error(`the directory is ${opened.phase}: ${opened.phase === "refused" ? opened.reason : ""}`);
  }
  return opened.data;
}

/** The founding of the member itself writes the first entry. */
async function found(directory: string, entries: readonly Uint8Array[]): Promise<void> {
  const founding = await goldenFounding();
  mkdirSync(directory, { recursive: true });
  const incarnation = Buffer.from(founding.incarnation).toString("hex");
  createIdentity(directory, { ...mintIdentity(CLUSTER_NAME, MEMBER_NAME), incarnation });
  const opened = await open(directory);
  invariant(opened.phase === "empty", "a new directory is empty");
  const [first] = entries;
  invariant(first !== undefined, "a log begins with its founding");
  const data = await opened.found(founding, { tickMs: entryTickMs(first), wallMs: entryWallMs(first) });
  invariant(Buffer.compare(data.log.entries(1, 1, 1)[0] ?? first.subarray(1), first) === 0, "both foundings are one");
  await data.close();
}

function open(directory: string): Promise<DataDirectory> {
  return openDataDirectory({
    directory,
    ...OPENING,
    onFatal: (error) => {
      throw error;
    },
  });
}

/** Writes what is missing of the entries into the log. */
async function append(data: MemberData, entries: readonly Uint8Array[]): Promise<void> {
  for (let from = data.log.bounds.last + 1; from <= entries.length; from += BATCH) {
    const rows = entries.slice(from - 1, from - 1 + BATCH);
    const term = Math.max(FOUNDING_TERM, ...rows.map(entryTerm));
    const writeSeq = data.log.meta.writeSeq + 1;
    const hardState = { term: Math.max(term, data.log.meta.term), vote: FOUNDER_ID, commit: from - 1 };
    await new Promise<void>((resolve) => {
      data.log.write({ writeSeq, ...hardState, from, rows, resetTo: null }, () => resolve());
    });
  }
}

/** Applies what the log holds up to the index. */
function apply(data: MemberData, to: number): void {
  const machine = machineOver(data.state);
  const reconfigure = reconfigureFrom(data.state);
  for (let index = machine.progress.appliedIndex + 1; index <= to; index++) {
    const [row] = data.log.entries(index, index, 1);
    invariant(row !== undefined, "the log holds what is applied");
    machine.apply(row, reconfigure);
  }
  machine.commit();
}
