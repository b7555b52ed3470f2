/**
 * Judges the data that a start finds: what is lost, whether it can come back, and where log and state continue.
 *
 * Nothing is changed here. Acknowledged data that is missing is lost. Then a sole voter is refused, because no other
 * member has its data, and so is a member whose votes may be lost. When RocksDB truncates a write-ahead log at damage
 * in its middle, the result looks like a log whose end was never written. Only the mirror shows the difference (P33).
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { invariant } from "../../primitives/index.ts";
import { entryIndex, entryTerm, isIntactEntry, type LogReset } from "../../raft/index.ts";
import {
  CLUSTER_VERSIONS,
  describeKnownVersions,
  findClusterVersion,
  readProgress,
  UnknownVersion,
  type VersionFinding,
} from "../../state/index.ts";
import {
  damagedFiles,
  type HardStateMirror,
  isMirrorIntact,
  MIRROR_FILE,
  readMirror,
  StoreError,
} from "../files/index.ts";
import { type Identity, lostForGood, mirrorMissing, Refused, votesUnknown } from "../identity/index.ts";
import { emptyLogMeta, type LogFiles, type LogMeta } from "../log/index.ts";
import type { Rocks } from "../rocks/index.ts";
import { readSnapshotOrigin, SequenceMarkers, type SnapshotOrigin } from "../state/index.ts";
import { type LostStore, SUSPECT_LOG, SUSPECT_STATE } from "./damage.ts";

/** The directory to judge, and the rule for a missing mirror. */
export interface StartupRecoveryInput {
  readonly directory: string;
  readonly identity: Identity;
  /** The value of `sole` to assume if the mirror is missing; null if a start without a mirror is refused. */
  readonly soleVoterWithoutMirror: boolean | null;
}

/** A value that a start reads, or a description of the damage that it finds instead. */
export type ReadResult<T> =
  | { readonly value: T; readonly damage: null }
  | { readonly value: null; readonly damage: string };

interface HardState {
  readonly term: number;
  readonly vote: number;
}

/** The progress of the state. */
interface StatePosition {
  readonly appliedIndex: number;
  readonly appliedTerm: number;
  readonly snapshotOrigin: SnapshotOrigin | null;
}

/** A loss and its evidence. `store` is "log" if only the log is lost; "state" means that both stores are replaced. */
interface DataLoss {
  readonly store: LostStore;
  readonly problem: string;
}

/** Where a start begins. Lost stores have to be created again first. */
export interface StartupRecoveryPlan {
  readonly loss: DataLoss | null;
  readonly mirror: HardStateMirror;
  readonly meta: LogMeta;
  readonly position: StatePosition;
  readonly hardState: HardState;
  readonly resetTo: LogReset | null;
}

/** Bytes of entries that are read at a time. */
const PIECE_BYTES = 1024 * 1024;
const NOTHING_APPLIED: StatePosition = { appliedIndex: 0, appliedTerm: 0, snapshotOrigin: null };

/** Judges all data of the directory. Raises Refused, or UnknownVersion. */
export async function planStartupRecovery(
  start: StartupRecoveryInput,
  raft: ReadResult<LogFiles>,
  state: ReadResult<Rocks>,
): Promise<StartupRecoveryPlan> {
  const { directory, identity } = start;
  const version = await readIfIntact(state, findClusterVersion);
  if (version.value !== null) {
    requireKnownVersion(directory, version.value);
  }
  const row = await readIfIntact(raft, readMeta);
  const mirror = findMirror(start, row);
  requireOneOwner(directory, [identity, mirror, row.value ?? mirror]);
  const log = await readIfIntact(raft, (files) => readLog(directory, files, mirror));
  const applied = await readIfIntact(state, (rocks) => readPosition(directory, rocks, row.value));

  const loss = lossOf(directory, log, applied);
  if (loss !== null) {
    requireRecoverable(directory, mirror, loss.problem);
  }
  const position = applied.value ?? NOTHING_APPLIED;
  const meta = (loss === null ? log.value : null) ?? logFromMirror(mirror);
  const newer = newerHardState(meta, mirror);
  const resetTo = isInLog(position, meta, loss === null ? raft.value : null)
    ? null
    : resetBehind(directory, position, { meta, term: newer.term, mirror, isDamaged: mirror.damaged || loss !== null });
  // No vote was ever sent in a term that is not durable (P1).
  const hardState = position.appliedTerm > newer.term ? { term: position.appliedTerm, vote: 0 } : newer;
  return { loss, mirror, meta, position, hardState, resetTo };
}

/** Reads something from a store, which may be lost itself. */
async function readIfIntact<Store, T>(store: ReadResult<Store>, read: (store: Store) => T): Promise<ReadResult<T>> {
  return store.damage !== null ? store : catchDamage(() => read(store.value));
}

function findMirror(start: StartupRecoveryInput, row: ReadResult<LogMeta>): HardStateMirror {
  const { directory, soleVoterWithoutMirror } = start;
  const mirror = readMirror(join(directory, MIRROR_FILE));
  if (mirror !== null) {
    return mirror;
  }
  if (soleVoterWithoutMirror === null) {
    throw mirrorMissing(directory);
  }
  if (row.value === null) {
    throw lostForGood(directory, row.damage);
  }
  return { ...row.value, counter: 0, damaged: false, isSoleVoter: soleVoterWithoutMirror };
}

function requireOneOwner(
  directory: string,
  [identity, mirror, log]: readonly [
    Identity,
    HardStateMirror,
    Pick<LogMeta, "clusterId" | "memberId" | "incarnation">,
  ],
): void {
  for (const part of [identity, mirror]) {
    if (part.clusterId !== log.clusterId || part.memberId !== log.memberId || part.incarnation !== log.incarnation) {
      throw new Refused(
        "MEMBER_REFUSED",
        `the files of ${directory} belong to different members: the log to member ${log.memberId} of cluster ` +
          `${log.clusterId}, identity or mirror to member ${part.memberId} of ${part.clusterId}`,
      );
    }
  }
}

/** Row `m`, if the log holds everything that was acknowledged. Reads every entry. Raises a StoreError otherwise. */
function readLog(directory: string, files: LogFiles, mirror: HardStateMirror): LogMeta {
  const meta = readMeta(files);
  // Never compare index or term: a log may correctly get shorter, and its last term lower (P57).
  if (meta.writeSeq < mirror.writeSeq) {
    throw new StoreError(
      "corruption",
      `the log ends at write ${meta.writeSeq}, but write ${mirror.writeSeq} was acknowledged; ${files.whereItEnds}`,
    );
  }
  requireDense(files, meta);
  requireUnsuspected(directory, SUSPECT_LOG, "the Raft log");
  return meta;
}

/** Raises a StoreError unless the log is dense from first to last, and intact. */
function requireDense(files: LogFiles, meta: LogMeta): void {
  let next = meta.first;
  let term = meta.prevTerm;
  while (next <= meta.last && files.has(next) && files.has(meta.last)) {
    for (const row of files.read(next, meta.last, PIECE_BYTES)) {
      if (!isIntactEntry(row, crc32) || entryIndex(row) !== next || entryTerm(row) < term) {
        throw missing(next, files);
      }
      term = entryTerm(row);
      next++;
    }
  }
  if (next <= meta.last) {
    throw missing(next, files);
  }
}

function missing(index: number, { whereItEnds }: LogFiles): StoreError {
  return new StoreError("corruption", `entry ${index} of the Raft log is missing or damaged; ${whereItEnds}`);
}

/** The progress of the state, if it is intact and leaves no gap before the log. Raises a StoreError otherwise. */
function readPosition(directory: string, state: Rocks, log: LogMeta | null): StatePosition {
  SequenceMarkers.read(state);
  const { appliedIndex, appliedTerm } = readProgress(state);
  if (log !== null && appliedIndex + 1 < log.first) {
    throw new StoreError("corruption", describeGap(appliedIndex, appliedTerm, log));
  }
  requireUnsuspected(directory, SUSPECT_STATE, "the state");
  return { appliedIndex, appliedTerm, snapshotOrigin: readSnapshotOrigin(state) };
}

function requireUnsuspected(directory: string, file: string, what: string): void {
  const note = readNote(join(directory, file));
  if (note !== null) {
    throw new StoreError(
      "corruption",
      `${what} was damaged while the member was running, as the file \`${file}\` says (${note}); if the disk was at ` +
        "fault and the store is whole, delete that file to clear the mark",
    );
  }
}

/** The note of a running member about its store; null if there is none. */
function readNote(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return null;
    }
    throw error;
  }
}

/** The loss, if there is any. Without its state a log is useless: the member then takes both from the others. */
function lossOf(directory: string, log: ReadResult<LogMeta>, state: ReadResult<StatePosition>): DataLoss | null {
  if (log.damage === null && state.damage === null) {
    return null;
  }
  // Opening a store may truncate files silently, so this names the damage in the copies from before.
  const problems = [log.damage, state.damage, ...damagedFiles(directory)].filter((damage) => damage !== null);
  return { store: state.damage === null ? "log" : "state", problem: problems.join("; ") };
}

/** Raises Refused unless other members have the lost data and no vote of this member may be lost. */
function requireRecoverable(directory: string, mirror: HardStateMirror, problem: string): void {
  if (mirror.isSoleVoter) {
    throw lostForGood(directory, problem);
  }
  if (!isMirrorIntact(join(directory, MIRROR_FILE))) {
    throw votesUnknown(directory, `${problem}; and of the two copies of its mirror one is unreadable`);
  }
}

/** An empty log that continues from the write sequence, boot, term and vote of the mirror. */
function logFromMirror(mirror: HardStateMirror): LogMeta {
  const { boot, writeSeq, term, vote } = mirror;
  return { ...emptyLogMeta(mirror), boot, writeSeq, term, vote };
}

/** Term and vote of the higher term; if the terms are equal, of the one that has voted. */
function newerHardState(meta: LogMeta, mirror: HardStateMirror): HardState {
  const [fromLog, fromMirror] = [meta, mirror].map(({ term, vote }) => ({ term, vote })) as [HardState, HardState];
  if (fromLog.term !== fromMirror.term) {
    return fromLog.term > fromMirror.term ? fromLog : fromMirror;
  }
  invariant(meta.vote === mirror.vote || meta.vote === 0 || mirror.vote === 0, "a member votes once in a term", () => {
    return `term ${meta.term}: ${meta.vote} and ${mirror.vote}`;
  });
  return meta.vote !== 0 ? fromLog : fromMirror;
}

/** Whether the log holds the last applied entry, or begins right after it. `files` is null if the log is lost. */
function isInLog(position: StatePosition, meta: LogMeta, files: LogFiles | null): boolean {
  const { appliedIndex: index, appliedTerm } = position;
  if (index === meta.first - 1) {
    return appliedTerm === meta.prevTerm;
  }
  if (files === null || index < meta.first || index > meta.last) {
    return false;
  }
  const [row] = files.read(index, index, 0);
  return row !== undefined && entryTerm(row) === appliedTerm;
}

/**
 * The last applied entry is not in the log. If a snapshot was placed and a crash came before the reset of the log, or
 * the log was lost, the log is reset to begin behind the state: all applied entries were committed (P58).
 *
 * Otherwise the mirror did not detect the loss. Entries are durable in the log before they are applied, and the mirror
 * records each term before its entries are acknowledged. So both mirror and log are older than the state, and a vote may
 * be lost. An old copy of the two files looks like that, without any bug of this process. So the start is refused with
 * an explanation, not by an invariant, and the member cannot heal.
 */
function resetBehind(
  directory: string,
  position: StatePosition,
  found: {
    readonly meta: LogMeta;
    readonly mirror: HardStateMirror;
    readonly term: number;
    readonly isDamaged: boolean;
  },
): LogReset {
  const { appliedIndex, appliedTerm, snapshotOrigin } = position;
  const isFromSnapshot = snapshotOrigin?.index === appliedIndex && snapshotOrigin.term === appliedTerm;
  if (isFromSnapshot || (found.isDamaged && appliedTerm <= found.term)) {
    return { index: appliedIndex, term: appliedTerm };
  }
  const problem = describeGap(appliedIndex, appliedTerm, found.meta);
  throw found.mirror.isSoleVoter ? lostForGood(directory, problem) : votesUnknown(directory, problem);
}

function describeGap(appliedIndex: number, appliedTerm: number, log: LogMeta): string {
  return (
    `the state has applied entry ${appliedIndex} of term ${appliedTerm}, but the log holds ${log.first}..${log.last} ` +
    `as of term ${log.term}`
  );
}

/**
 * Runs the action and returns its value, or the damage that it raises. Rethrows any other error, which ends the start.
 */
export async function catchDamage<T>(action: () => T | Promise<T>): Promise<ReadResult<T>> {
  try {
    return { value: await action(), damage: null };
  } catch (error) {
    if (error instanceof StoreError && (error.kind === "corruption" || error.kind === "missing")) {
      return { value: null, damage: error.message };
    }
    throw error;
  }
}

/** Row `m` of the log. Raises a StoreError of kind "corruption" if it is missing or damaged. */
function readMeta(files: LogFiles): LogMeta {
  if (files.meta === null) {
    throw new StoreError("corruption", `the Raft log has no whole record of a write; ${files.whereItEnds}`);
  }
  return files.meta;
}

/**
 * Checks that this release knows the cluster version of a state, before it uses anything else of the state; raises
 * UnknownVersion.
 *
 * @param where names the data, for people
 */
function requireKnownVersion(where: string, finding: VersionFinding | undefined): void {
  const { min, max } = CLUSTER_VERSIONS;
  if (finding === undefined || (finding.kind === "version" && finding.version >= min && finding.version <= max)) {
    return;
  }
  const written =
    finding.kind === "version"
      ? `by a cluster of version ${finding.version}`
      : "in a form of a cluster of another version";
  throw new UnknownVersion(
    `${where} was written ${written}, and this release knows ${describeKnownVersions()}. It is left as it is; use the release ` +
      "that wrote it, or a later one of the same major version",
  );
}
