/**
 * Creates the data directory of the first member of a cluster that succeeds another one.
 *
 * The successor is created completely beside the existing data, and then replaces it. Nothing of the former cluster is
 * deleted:
 *
 *     successor.new/         being created; may be deleted after a crash
 *     successor/             complete and durable: from here on the former data is never served again
 *     former-cluster-<id>/   the former data, moved away and marked as not to be served
 *     successor-placing/     all former data is moved: the successor's files move to their places, identity last
 *
 * Each step is one rename. After a crash the next run repeats the moves that are missing. A member does not start on a
 * directory in between.
 */

import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { crashPoint, DIRECTORY_MODE, MIRROR_FILE, StartFailure, StoreError, syncDirectory } from "../files/index.ts";
import {
  type Identity,
  isIdentityDraft,
  mintIdentity,
  Refused,
  readIdentity,
  writeIdentity,
} from "../identity/index.ts";
import { emptyLogMeta, LOG_DIRECTORY, openLog, SegmentLogStore } from "../log/index.ts";
import { takeLock } from "../rocks/index.ts";
import { firstState, nameLiveState, SUCCESSOR_DRAFT } from "../state/index.ts";

const MADE = "successor";
const PLACING = "successor-placing";
/** Lock of the process that performs a succession. */
export const SUCCESSION_LOCK = "successor-lock";
const FORMER_PREFIX = "former-cluster-";
const IDENTITY_FILE = "identity";
/** Names that do not belong to a cluster's data and stay: `lost+found`, the reserve, and the parts of a succession. */
const STAYS: ReadonlySet<string> = new Set(["lost+found", "reserve", SUCCESSOR_DRAFT, MADE, PLACING, SUCCESSION_LOCK]);

/** The new member, and where its log begins. */
export interface NewSuccessor {
  readonly clusterId: string;
  readonly clusterName: string;
  /** Name of the member. */
  readonly name: string;
  /** 32 hexadecimal digits. */
  readonly incarnation: string;
  /** Index of the succession entry, which is the member's id. */
  readonly memberId: number;
  /** The last entry that the state has applied, and its term; the log begins after it. */
  readonly lastIndex: number;
  readonly term: number;
}

/**
 * Prepares a succession. Returns the path at which to create the state. Deletes the leftovers of an earlier attempt.
 */
export function beginSuccessor(directory: string): string {
  const making = join(directory, SUCCESSOR_DRAFT);
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { mode: DIRECTORY_MODE });
  crashPoint("successor.begin.after");
  return firstState(making);
}

/**
 * The message, for people, if a succession was decided and is not complete: nothing else may use the directory. Null if
 * there is none.
 */
export function unfinishedSuccession(directory: string): string | null {
  if (!isUnfinished(directory)) {
    return null;
  }
  return hasFormerData(directory)
    ? `the recovery of ${directory} was interrupted after its decision. Run \`quoin-node recover --data-dir ${directory}\` ` +
        "again: it completes the recovery"
    : `the restore into ${directory} was interrupted after its decision. Start the member, or restore again: both complete it`;
}

/**
 * Completes a restore that was interrupted after its decision. Does nothing for a recovery, which replaces the data of
 * a former cluster: a person has to run its command again. Raises a StoreError of kind "locked" if another process does
 * the same.
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

/**
 * Whether a former cluster's data is, or was, in the directory. A recovery creates its directory before it moves the
 * data.
 */
function hasFormerData(directory: string): boolean {
  const identity = readIdentity(directory);
  const isServed = identity !== null && identity.phase !== "empty";
  return (isServed && !isPlaced(directory)) || readdirSync(directory).some((name) => name.startsWith(FORMER_PREFIX));
}

/** Whether the successor's identity is in place already. It moves last. */
function isPlaced(directory: string): boolean {
  const placing = join(directory, PLACING);
  return existsSync(placing) && readdirSync(placing).length === 0;
}

/** A new, unique incarnation. */
export function mintIncarnation(): string {
  return mintIdentity("", "").incarnation;
}

/**
 * Completes the successor around its state, which must be durable and closed: creates a log that begins after the
 * succession, the mirror, and the identity. On return the decision is made. Raises a StoreError, or what the file system
 * raises.
 */
export async function completeSuccessor(directory: string, newSuccessor: NewSuccessor): Promise<void> {
  const making = join(directory, SUCCESSOR_DRAFT);
  nameLiveState(firstState(making));
  await writeLog(making, newSuccessor);
  crashPoint("successor.log.after");
  writeIdentity(making, { ...mintIdentity(newSuccessor.clusterName, newSuccessor.name), ...memberOf(newSuccessor) });
  syncDirectory(making);
  crashPoint("successor.made.before");
  renameSync(making, join(directory, MADE));
  syncDirectory(directory);
  crashPoint("successor.made.after");
}

/** Puts the successor in place of the former data. Continues from any point of a crash. Returns its identity. */
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
 * Runs the action under an exclusive lock of this directory. Raises a StoreError of kind "locked". The next start of the
 * member deletes the lock.
 */
export async function withSuccessionLock<T>(directory: string, action: () => Promise<T>): Promise<T> {
  const lock = await takeLock(join(directory, SUCCESSION_LOCK));
  try {
    return await action();
  } finally {
    await lock.close();
  }
}

/** Removes the lock. Only for a start that holds the lock of the member's log: then no recovery is in progress. */
export function removeSuccessionLock(directory: string): void {
  rmSync(join(directory, SUCCESSION_LOCK), { recursive: true, force: true });
}

/** Directory to which the data of this former cluster is moved. */
export function formerDirectory(directory: string, clusterId: string): string {
  return join(directory, `${FORMER_PREFIX}${clusterId}`);
}

/**
 * The identity of a directory that belongs to no cluster yet; null if it is empty. Raises Refused if it contains data
 * that a restore would replace, a StoreError of kind "locked" if its member runs.
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
  if (identity !== null) {
    const log = await openLog(directory, true);
    await log.close();
    if (log.meta !== null) {
      throw notUnused(directory, "it holds the log of a founding that was interrupted");
    }
  }
  return identity;
}

function notUnused(directory: string, why: string): Refused {
  return new Refused("MEMBER_REFUSED", `${directory} cannot be restored into: ${why}. Name an empty directory`);
}

/** Removes the identity and the empty log of a directory that belongs to no cluster. Both are created again. */
function removeUnused(directory: string): void {
  rmSync(join(directory, LOG_DIRECTORY), { recursive: true, force: true });
  rmSync(join(directory, IDENTITY_FILE), { force: true });
  syncDirectory(directory);
}

/**
 * Moves the former data away. The identity goes last, so that a run after a crash still knows where the rest belongs.
 */
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

function memberOf({ clusterId, memberId, incarnation }: NewSuccessor) {
  return { phase: "member", clusterId, memberId, incarnation } as const;
}

function requireIdentity(directory: string): Identity {
  const identity = readIdentity(directory);
  if (identity === null) {
    throw new StoreError("missing", `${directory} has no identity, although it was made`);
  }
  return identity;
}

/** Creates an empty log that begins after the succession. No member has voted in its term, or has an entry of it. */
async function writeLog(making: string, newSuccessor: NewSuccessor): Promise<void> {
  const { clusterId, memberId, incarnation, lastIndex, term } = newSuccessor;
  const files = await openLog(making, true);
  const failure = new StartFailure();
  const log = new SegmentLogStore({
    files,
    mirrorPath: join(making, MIRROR_FILE),
    meta: emptyLogMeta({ clusterId, memberId, incarnation }),
    mirror: { counter: 0, damaged: false, isSoleVoter: true },
    onFatal: failure.reporting(() => undefined),
  });
  const resetTo = { index: lastIndex, term };
  try {
    await failure.orDone((done) => log.writeStart({ boot: 1, term, vote: 0, commit: 0, resetTo }, done));
  } finally {
    await log.close();
    await files.close();
  }
}
