/**
 * The data directory of the first member of a cluster that succeeds another one, and how it comes into being.
 *
 * The successor is made whole beside what is there, and then takes its place. Nothing of the former cluster is deleted:
 *
 *     successor.new/         being made; worth nothing after a crash
 *     successor/             made and durable: from here on the former data is never served again
 *     former-cluster-<id>/   what was there before, moved away, marked as not to be served
 *     successor-placing/     everything former is away: the successor's files move to their places, identity last
 *
 * Each arrow between them is one rename, and each move is repeated by the next run where a crash cut it short. A member
 * does not start on a directory in between.
 */

import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { crashPoint } from "./crash-point.ts";
import { syncDirectory } from "./durable-file.ts";
import { FENCE_FILE } from "./fence.ts";
import { type Identity, isIdentityDraft, mintIdentity, readIdentity, writeIdentity } from "./identity.ts";
import { emptyLogMeta } from "./log-meta.ts";
import {
  DIRECTORY_MODE,
  firstState,
  nameLiveState,
  openRaft,
  RAFT_DIRECTORY,
  SUCCESSOR_DRAFT,
} from "./member-stores.ts";
import { Refused } from "./refusal.ts";
import { Rocks } from "./rocks.ts";
import { LOG_META_KEY, RocksLogStore } from "./rocks-log-store.ts";
import { StartFailure } from "./start-failure.ts";
import { StoreError } from "./store-error.ts";

const MADE = "successor";
const PLACING = "successor-placing";
/** Held by the process that is about a succession. */
export const SUCCESSION_LOCK = "successor-lock";
const FORMER_PREFIX = "former-cluster-";
const IDENTITY_FILE = "identity";
/** What a file system brings by itself, and room that is kept back: neither belongs to a cluster. */
const STAYS: ReadonlySet<string> = new Set(["lost+found", "reserve", SUCCESSOR_DRAFT, MADE, PLACING, SUCCESSION_LOCK]);
const LOCK_OPTIONS = { createIfMissing: true, compression: false, memtableBytes: 1024 * 1024, cacheBytes: 1024 * 1024 };

/** Whose data the directory becomes, and where its log begins. */
export interface SuccessorBirth {
  readonly clusterId: string;
  readonly clusterName: string;
  /** Name of the member. */
  readonly name: string;
  /** 32 hexadecimal digits. */
  readonly incarnation: string;
  /** Index of the succession, which is the member's id. */
  readonly memberId: number;
  /** The last entry that the state has applied, and its term; the log begins behind it. */
  readonly lastIndex: number;
  readonly term: number;
}

/** Where the state of the successor is made: a path that is not there yet. Deletes what an earlier try has left. */
export function beginSuccessor(directory: string): string {
  const making = join(directory, SUCCESSOR_DRAFT);
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { mode: DIRECTORY_MODE });
  crashPoint("successor.begin.after");
  return firstState(making);
}

/**
 * Why nothing must be done here yet, for people: a succession was decided and is not complete. Null if there is none.
 */
export function unfinishedSuccession(directory: string): string | null {
  if (!isUnfinished(directory)) {
    return null;
  }
  return hasFormerData(directory)
    ? `the recovery of ${directory} was cut short after its decision. Run \`quoin-node recover --data-dir ${directory}\` ` +
        "again: it completes the recovery"
    : `the restore into ${directory} was cut short after its decision. Start the member, or restore again: both complete it`;
}

/**
 * Completes a restore that was cut short after its decision. What replaces the data of a former cluster is left to the command
 * that a person has begun it with. Raises a StoreError of kind "locked" if another process is about it.
 */
export async function completeRestoration(directory: string): Promise<Identity | null> {
  if (!isUnfinished(directory) || hasFormerData(directory)) {
    return null;
  }
  return withSuccessionLock(directory, async () => placeSuccessor(directory));
}

function isUnfinished(directory: string): boolean {
  return existsSync(join(directory, MADE)) || existsSync(join(directory, PLACING));
}

/** Whether a former cluster's data is, or was, in the directory. A recovery makes the place for it before it is moved. */
function hasFormerData(directory: string): boolean {
  const identity = readIdentity(directory);
  const isServed = identity !== null && identity.phase !== "empty";
  return (isServed && !isPlaced(directory)) || readdirSync(directory).some((name) => name.startsWith(FORMER_PREFIX));
}

/** Whether the identity of the successor is in its place already: it moves last. */
function isPlaced(directory: string): boolean {
  const placing = join(directory, PLACING);
  return existsSync(placing) && readdirSync(placing).length === 0;
}

/** An incarnation that no data directory had before. */
export function mintIncarnation(): string {
  return mintIdentity("", "").incarnation;
}

/**
 * Completes the successor around its state, which must be durable and closed: a log that begins behind the succession, the
 * fence, the identity. On return the decision is made. Raises a StoreError, or what the file system raises.
 */
export async function completeSuccessor(directory: string, birth: SuccessorBirth): Promise<void> {
  const making = join(directory, SUCCESSOR_DRAFT);
  nameLiveState(firstState(making));
  await writeLog(making, birth);
  crashPoint("successor.log.after");
  writeIdentity(making, { ...mintIdentity(birth.clusterName, birth.name), ...memberOf(birth) });
  syncDirectory(making);
  crashPoint("successor.made.before");
  renameSync(making, join(directory, MADE));
  syncDirectory(directory);
  crashPoint("successor.made.after");
}

/** Puts the successor in place of the former data, from wherever a crash has left it. Returns its identity. */
export function placeSuccessor(directory: string): Identity {
  const made = join(directory, MADE);
  const placing = join(directory, PLACING);
  if (existsSync(made)) {
    moveFormerAway(directory, requireIdentity(made));
    crashPoint("successor.away.after");
    renameSync(made, placing);
    syncDirectory(directory);
    crashPoint("successor.placing.after");
  }
  if (existsSync(placing)) {
    moveIntoPlace(directory, placing);
  }
  return requireIdentity(directory);
}

/**
 * Runs the action while no other process does the same in this directory. Raises a StoreError of kind "locked". The lock is
 * a store, because the system takes its lock away from a process that ends; the next start of the member deletes it.
 */
export async function withSuccessionLock<T>(directory: string, action: () => Promise<T>): Promise<T> {
  const lock = await Rocks.open(join(directory, SUCCESSION_LOCK), LOCK_OPTIONS);
  try {
    return await action();
  } finally {
    await lock.close();
  }
}

/** For a start that holds the lock of the member's log: then no recovery goes on. */
export function removeSuccessionLock(directory: string): void {
  rmSync(join(directory, SUCCESSION_LOCK), { recursive: true, force: true });
}

/** Where the data of this cluster lies after it was moved away. */
export function formerDirectory(directory: string, clusterId: string): string {
  return join(directory, `${FORMER_PREFIX}${clusterId}`);
}

/**
 * The identity of a directory that belongs to no cluster yet; null if it is empty. Raises Refused if there is anything in
 * it that a restore would have to replace, a StoreError of kind "locked" if its member runs.
 */
export async function requireUnused(directory: string): Promise<Identity | null> {
  const identity = readIdentity(directory);
  const isData = (name: string) => !STAYS.has(name) && !isIdentityDraft(name);
  if (identity === null && existsSync(directory) && readdirSync(directory).some(isData)) {
    throw notUnused(directory, "it is not empty");
  }
  if (identity !== null && identity.phase !== "empty") {
    throw notUnused(directory, `it belongs to member "${identity.name}" of cluster ${identity.clusterId}`);
  }
  if (identity !== null && existsSync(join(directory, RAFT_DIRECTORY))) {
    const raft = await openRaft(directory, true);
    const hasLog = raft.get(LOG_META_KEY) !== undefined;
    await raft.close();
    if (hasLog) {
      throw notUnused(directory, "it holds the log of a founding that was cut short");
    }
  }
  return identity;
}

function notUnused(directory: string, why: string): Refused {
  return new Refused("MEMBER_REFUSED", `${directory} cannot be restored into: ${why}. Name an empty directory`);
}

/** A directory that belongs to no cluster holds an identity and a log without a row, and both are made again. */
function removeUnused(directory: string): void {
  rmSync(join(directory, RAFT_DIRECTORY), { recursive: true, force: true });
  rmSync(join(directory, IDENTITY_FILE), { force: true });
  syncDirectory(directory);
}

/** The former identity goes last, so that a run after a crash still knows where the rest belongs. */
function moveFormerAway(directory: string, successor: Identity): void {
  const former = readIdentity(directory);
  if (former === null || former.phase === "empty") {
    removeUnused(directory);
    return;
  }
  const away = formerDirectory(directory, former.clusterId);
  mkdirSync(away, { recursive: true, mode: DIRECTORY_MODE });
  syncDirectory(directory);
  const isFormer = (name: string) => !STAYS.has(name) && !name.startsWith(FORMER_PREFIX) && name !== IDENTITY_FILE;
  for (const name of readdirSync(directory).filter(isFormer)) {
    move(name, directory, away);
  }
  syncDirectory(away);
  const reason = `cluster ${former.clusterId} was recovered as cluster ${successor.clusterId}, and this is the data from before`;
  writeIdentity(away, { ...former, phase: "refused", reason });
  crashPoint("successor.retired.after");
  rmSync(join(directory, IDENTITY_FILE));
  syncDirectory(directory);
}

function moveIntoPlace(directory: string, placing: string): void {
  const names = readdirSync(placing).filter((name) => name !== IDENTITY_FILE);
  for (const name of names) {
    move(name, placing, directory);
  }
  syncDirectory(directory);
  if (existsSync(join(placing, IDENTITY_FILE))) {
    move(IDENTITY_FILE, placing, directory);
  }
  syncDirectory(directory);
  rmdirSync(placing);
  syncDirectory(directory);
  crashPoint("successor.placed.after");
}

function move(name: string, from: string, to: string): void {
  crashPoint("successor.move.before");
  renameSync(join(from, name), join(to, name));
  crashPoint("successor.move.after");
}

function memberOf({ clusterId, memberId, incarnation }: SuccessorBirth) {
  return { phase: "member", clusterId, memberId, incarnation } as const;
}

function requireIdentity(directory: string): Identity {
  const identity = readIdentity(directory);
  if (identity === null) {
    throw new StoreError("missing", `${directory} has no identity, although it was made`);
  }
  return identity;
}

/** An empty log behind the succession. No member voted in its term or has an entry of it. */
async function writeLog(making: string, birth: SuccessorBirth): Promise<void> {
  const { clusterId, memberId, incarnation, lastIndex, term } = birth;
  const raft = await openRaft(making, true);
  const failure = new StartFailure();
  const log = new RocksLogStore({
    rocks: raft,
    fencePath: join(making, FENCE_FILE),
    meta: emptyLogMeta({ clusterId, memberId, incarnation }),
    fence: { counter: 0, damaged: false, sole: true },
    onFatal: failure.reporting(() => undefined),
  });
  const resetTo = { index: lastIndex, term };
  try {
    await failure.orDone((done) => log.writeStart({ boot: 1, term, vote: 0, commit: 0, resetTo }, done));
  } finally {
    await log.close();
    await raft.close();
  }
}
