/**
 * The data directory of one member: what a start finds, what it may do with it, and founding.
 *
 * A start never guesses. Data that is not understood, that another process uses, that belongs to another member or
 * that has lost acknowledged writes is reported, with what to do, and not served; nothing here ever deletes data or
 * opens a damaged store as if it were empty.
 *
 * Contents while it is whole: `identity` · `fence` · `raft/` · `state` (name of the live state directory) · `state-<n>/`.
 */

import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import {
  EntryType,
  encodeEntry,
  entryIndex,
  entryTerm,
  invariant,
  isIntactEntry,
  type LogBounds,
  NO_ORIGIN,
  sealEntry,
} from "../raft/index.ts";
import { encodeFounding, type Founding, readProgress } from "../state/index.ts";
import { crashPoint } from "./crash-point.ts";
import { replaceFile, syncDirectory } from "./durable-file.ts";
import { FENCE_FILE, type Fence, readFence } from "./fence.ts";
import {
  createIdentity,
  type Identity,
  isIdentityDraft,
  mintIdentity,
  readIdentity,
  writeIdentity,
} from "./identity.ts";
import { dropKeptFiles, keepFiles, keptDirectory } from "./kept-files.ts";
import { decodeLogMeta, type LogMeta } from "./log-meta.ts";
import { Rocks, type RocksOptions } from "./rocks.ts";
import { entryKey, LOG_META_KEY, RocksLogStore } from "./rocks-log-store.ts";
import { RocksStateStore } from "./rocks-state-store.ts";
import { StoreError } from "./store-error.ts";

export interface DataDirectoryOptions {
  readonly directory: string;
  readonly clusterName: string;
  /** Name of the member; must be that of the directory if it has an identity. */
  readonly name: string;
  /**
   * Goes on without a fence if both its slots are gone. Only for the sole voter of a cluster, and by a person's word:
   * the fence is what would have shown that acknowledged writes are lost.
   */
  readonly acceptMissingFence: boolean;
  /** Called when a store failed while the member was running, maybe more than once; the process must end. */
  readonly onFatal: (error: StoreError) => void;
}

/** The stores of a running member, and where they stood when it started. */
export interface MemberData {
  readonly identity: Identity;
  readonly log: RocksLogStore;
  readonly state: RocksStateStore;
  readonly term: number;
  readonly vote: number;
  readonly commit: number;
  readonly bounds: LogBounds;
  readonly writeSeq: number;
  /** Number of this start of the directory, durable already. */
  readonly boot: number;
  close(): Promise<void>;
}

/** What the directory is to this start. */
export type DataDirectory =
  | {
      readonly phase: "empty";
      readonly identity: Identity;
      /** Makes this directory the first member of a new cluster; durable when the promise is fulfilled. */
      found(founding: Founding, now: { readonly tickMs: number; readonly wallMs: number }): Promise<MemberData>;
      close(): Promise<void>;
    }
  | { readonly phase: "member"; readonly data: MemberData }
  | {
      readonly phase: "refused";
      /** MEMBER_DAMAGED: acknowledged data is lost. MEMBER_REFUSED: the data is not this member's or not understood. */
      readonly state: "MEMBER_DAMAGED" | "MEMBER_REFUSED";
      readonly reason: string;
      readonly identity: Identity | null;
    };

const RAFT_DIRECTORY = "raft";
const STATE_POINTER = "state";
const FIRST_STATE_DIRECTORY = "state-1";
const STATE_DIRECTORY_PATTERN = /^state-[1-9][0-9]*$/;
/** What a new file system brings by itself. */
const NOT_DATA = new Set(["lost+found"]);
/** Only the owner may enter: the stores hold signing keys and password hashes. */
const DIRECTORY_MODE = 0o700;

const RAFT_OPTIONS: Omit<RocksOptions, "createIfMissing"> = {
  compression: false,
  memtableBytes: 64 * 1024 * 1024,
  cacheBytes: 8 * 1024 * 1024,
};
const STATE_OPTIONS: Omit<RocksOptions, "createIfMissing"> = {
  compression: true,
  memtableBytes: 128 * 1024 * 1024,
  cacheBytes: 128 * 1024 * 1024,
};

/** Why a directory is not served; ends the start. */
class Refused extends Error {
  readonly state: "MEMBER_DAMAGED" | "MEMBER_REFUSED";

  constructor(state: "MEMBER_DAMAGED" | "MEMBER_REFUSED", message: string) {
    super(message);
    this.state = state;
  }
}

/**
 * Opens the directory, makes an identity if it is new, and judges what is there.
 * Raises a StoreError of kind "locked" if another process uses it, of kind "io" if the disk fails.
 */
export async function openDataDirectory(options: DataDirectoryOptions): Promise<DataDirectory> {
  const { directory } = options;
  let identity: Identity | null = null;
  const opened: Rocks[] = [];
  try {
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    identity = readIdentity(directory);
    if (identity === null) {
      requireEmpty(directory);
      createIdentity(directory, mintIdentity(options.clusterName, options.name));
    }
    const isNew = identity === null || identity.phase === "empty";
    const raft = await openRaft(directory, isNew);
    opened.push(raft);
    // Read again with the store's lock held: another start may have made the identity, or founded, a moment ago.
    identity = readIdentity(directory);
    invariant(identity !== null, "the identity stays once it is written");
    requireOwner(options, identity);
    const meta = raft.get(LOG_META_KEY);
    if (identity.phase === "empty" && meta === undefined) {
      const empty = identity;
      return {
        phase: "empty",
        identity: empty,
        found: (founding, now) => found(options, empty, raft, founding, now),
        close: () => raft.close(),
      };
    }
    if (identity.phase === "empty") {
      // The founding was cut short after its log was durable: it is completed, not repeated.
      identity = await completeFounding(directory, identity, requireMeta(meta));
      // Nothing was acknowledged yet, so a fence that is not there hides nothing.
      const completing = { ...options, acceptMissingFence: true };
      return { phase: "member", data: await openMember(completing, identity, raft, requireMeta(meta), opened) };
    }
    return { phase: "member", data: await openMember(options, identity, raft, requireMeta(meta), opened) };
  } catch (error) {
    for (const rocks of opened.reverse()) {
      await rocks.close();
    }
    if (error instanceof Refused) {
      return { phase: "refused", state: error.state, reason: error.message, identity };
    }
    if (error instanceof StoreError && (error.kind === "corruption" || error.kind === "missing")) {
      return { phase: "refused", state: "MEMBER_DAMAGED", reason: damage(directory, error.message), identity };
    }
    throw asStoreError(directory, error);
  }
}

/** Failures of the file system as errors of kind "io"; violations and everything else as they are. */
function asStoreError(directory: string, error: unknown): unknown {
  if (error instanceof Error && "syscall" in error) {
    return new StoreError("io", `${directory} cannot be used: ${error.message}`, { cause: error });
  }
  return error;
}

async function openMember(
  options: DataDirectoryOptions,
  identity: Identity,
  raft: Rocks,
  meta: LogMeta,
  opened: Rocks[],
): Promise<MemberData> {
  const { directory, onFatal } = options;
  const fencePath = join(directory, FENCE_FILE);
  const fence = judgeFence(options, identity, meta, readFence(fencePath));
  checkEntries(directory, raft, meta);

  const stateRocks = await openState(directory);
  opened.push(stateRocks);
  const { appliedIndex, appliedTerm } = readProgress(stateRocks);
  const termAtApplied = appliedIndex === meta.first - 1 ? meta.prevTerm : termOf(raft, meta, appliedIndex);
  if (appliedIndex + 1 < meta.first || appliedIndex > meta.last || termAtApplied !== appliedTerm) {
    throw new Refused(
      "MEMBER_DAMAGED",
      damage(
        directory,
        `the state has applied entry ${appliedIndex} of term ${appliedTerm}, ` +
          `but the log holds ${meta.first}..${meta.last}`,
      ),
    );
  }

  const hardState = newerHardState(meta, fence);
  const boot = Math.max(meta.boot, fence.boot) + 1;
  const state = new RocksStateStore(stateRocks, onFatal);
  dropAllKeptFiles(directory);
  const log = new RocksLogStore({ rocks: raft, fencePath, meta, fenceCounter: fence.counter, onFatal });
  await new Promise<void>((resolve) => log.writeBoot(boot, hardState, () => resolve()));
  return memberData(identity, { raft, stateRocks, log, state, commit: Math.max(appliedIndex, meta.commit) });
}

/** Turns an empty directory into the first member: log and fence, then state, then the identity that says so. */
async function found(
  options: DataDirectoryOptions,
  identity: Identity,
  raft: Rocks,
  founding: Founding,
  now: { readonly tickMs: number; readonly wallMs: number },
): Promise<MemberData> {
  const { directory, onFatal } = options;
  const memberId = 1;
  const envelope = { tickMs: now.tickMs, wallMs: now.wallMs, origin: NO_ORIGIN };
  const entry = encodeEntry(EntryType.Bootstrap, envelope, encodeFounding(founding));
  sealEntry(entry, 1, memberId, crc32);
  const nothing: LogMeta = {
    clusterId: founding.clusterId,
    incarnation: identity.incarnation,
    memberId,
    boot: 1,
    writeSeq: 0,
    term: 0,
    vote: 0,
    commit: 0,
    first: 1,
    prevTerm: 0,
    last: 0,
    lastTerm: 0,
  };
  crashPoint("found.log.before");
  const log = new RocksLogStore({
    rocks: raft,
    fencePath: join(directory, FENCE_FILE),
    meta: nothing,
    fenceCounter: 0,
    onFatal,
  });
  try {
    await new Promise<void>((resolve) => {
      log.write({ writeSeq: 1, term: 1, vote: memberId, commit: 1, from: 1, rows: [entry], resetTo: null }, () =>
        resolve(),
      );
    });
    crashPoint("found.log.after");
    const member = await completeFounding(directory, identity, log.meta);
    const stateRocks = await openState(directory);
    const state = new RocksStateStore(stateRocks, onFatal);
    dropAllKeptFiles(directory);
    return memberData(member, { raft, stateRocks, log, state, commit: log.meta.commit });
  } catch (error) {
    await log.close();
    throw asStoreError(directory, error);
  }
}

async function completeFounding(directory: string, identity: Identity, meta: LogMeta): Promise<Identity> {
  const state = await Rocks.open(makeDirectory(directory, FIRST_STATE_DIRECTORY), {
    ...STATE_OPTIONS,
    createIfMissing: true,
  });
  await state.close();
  replaceFile(join(directory, STATE_POINTER), `${FIRST_STATE_DIRECTORY}\n`);
  crashPoint("found.state.after");
  const member: Identity = { ...identity, phase: "member", clusterId: meta.clusterId, memberId: meta.memberId };
  writeIdentity(directory, member);
  crashPoint("found.identity.after");
  return member;
}

function memberData(
  identity: Identity,
  parts: {
    readonly raft: Rocks;
    readonly stateRocks: Rocks;
    readonly log: RocksLogStore;
    readonly state: RocksStateStore;
    readonly commit: number;
  },
): MemberData {
  const { raft, stateRocks, log, state, commit } = parts;
  const { term, vote, writeSeq, boot } = log.meta;
  return {
    identity,
    log,
    state,
    term,
    vote,
    commit,
    bounds: log.bounds,
    writeSeq,
    boot,
    close: async () => {
      await Promise.all([log.close(), state.close()]);
      await Promise.all([raft.close(), stateRocks.close()]);
    },
  };
}

function requireEmpty(directory: string): void {
  const found = readdirSync(directory).filter((name) => !NOT_DATA.has(name) && !isIdentityDraft(name));
  // A start that runs at the same time may have made the identity since it was looked for.
  if (found.length > 0 && readIdentity(directory) === null) {
    throw new Refused(
      "MEMBER_REFUSED",
      `${directory} has no identity and is not empty (it holds ${found.slice(0, 5).join(", ")}). It is left as it is; ` +
        "name an empty directory, or restore the file `identity`",
    );
  }
}

function requireOwner(options: DataDirectoryOptions, identity: Identity): void {
  if (identity.name !== options.name || identity.clusterName !== options.clusterName) {
    throw new Refused(
      "MEMBER_REFUSED",
      `${options.directory} belongs to member "${identity.name}" of cluster "${identity.clusterName}", ` +
        `not to "${options.name}" of "${options.clusterName}"`,
    );
  }
}

async function openRaft(directory: string, isNew: boolean): Promise<Rocks> {
  const path = join(directory, RAFT_DIRECTORY);
  if (isNew) {
    makeDirectory(directory, RAFT_DIRECTORY);
  }
  const kept = !isNew && keepFiles(path);
  try {
    return await Rocks.open(path, { ...RAFT_OPTIONS, createIfMissing: isNew });
  } catch (error) {
    if (kept && error instanceof StoreError && error.kind === "locked") {
      // These are the files of a running member, which change; nothing was recovered.
      dropKeptFiles(path);
    }
    throw error;
  }
}

async function openState(directory: string): Promise<Rocks> {
  let name: string;
  try {
    name = readFileSync(join(directory, STATE_POINTER), "utf8").trim();
  } catch (error) {
    throw new StoreError("missing", "the file `state`, which names the live state directory, cannot be read", {
      cause: error,
    });
  }
  if (!STATE_DIRECTORY_PATTERN.test(name)) {
    throw new StoreError("corruption", "the file `state` does not name a state directory");
  }
  keepFiles(join(directory, name));
  return Rocks.open(join(directory, name), { ...STATE_OPTIONS, createIfMissing: false });
}

/** Both stores are whole and fit each other. */
function dropAllKeptFiles(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (name === RAFT_DIRECTORY || STATE_DIRECTORY_PATTERN.test(name)) {
      dropKeptFiles(join(directory, name));
    }
  }
}

function makeDirectory(parent: string, name: string): string {
  const path = join(parent, name);
  mkdirSync(path, { recursive: true, mode: DIRECTORY_MODE });
  syncDirectory(parent);
  return path;
}

function requireMeta(bytes: Uint8Array | undefined): LogMeta {
  const meta = bytes === undefined ? null : decodeLogMeta(bytes);
  if (meta === null) {
    throw new StoreError("corruption", "the Raft log has lost the row that says how far it goes");
  }
  return meta;
}

/** The fence, if it is this member's and the log is not behind it. */
function judgeFence(options: DataDirectoryOptions, identity: Identity, meta: LogMeta, fence: Fence | null): Fence {
  if (fence === null) {
    if (!options.acceptMissingFence) {
      throw new Refused(
        "MEMBER_REFUSED",
        `the fence of ${options.directory} is missing or unreadable, so nothing shows whether votes or acknowledged ` +
          "writes are lost. Restore the file `fence`; for the only member of a cluster, --accept-missing-fence goes on " +
          "with what the log holds",
      );
    }
    return { ...meta, counter: 0 };
  }
  for (const part of [identity, fence]) {
    if (part.clusterId !== meta.clusterId || part.memberId !== meta.memberId || part.incarnation !== meta.incarnation) {
      throw new Refused(
        "MEMBER_REFUSED",
        `the files of ${options.directory} belong to different members: the log to member ${meta.memberId} of cluster ` +
          `${meta.clusterId}, identity or fence to member ${part.memberId} of ${part.clusterId}`,
      );
    }
  }
  if (meta.writeSeq < fence.writeSeq) {
    throw new Refused(
      "MEMBER_DAMAGED",
      damage(options.directory, `the log ends at write ${meta.writeSeq}, but write ${fence.writeSeq} was acknowledged`),
    );
  }
  return fence;
}

/** Term and vote of the higher term; in the same term, of whichever has voted. */
function newerHardState(meta: LogMeta, fence: Fence): { readonly term: number; readonly vote: number } {
  if (meta.term !== fence.term) {
    return meta.term > fence.term ? meta : fence;
  }
  invariant(meta.vote === fence.vote || meta.vote === 0 || fence.vote === 0, "a member votes once in a term", () => {
    return `term ${meta.term}: ${meta.vote} and ${fence.vote}`;
  });
  return meta.vote !== 0 ? meta : fence;
}

/** Reads every row of the log: dense from first to last, intact, and nothing above. */
function checkEntries(directory: string, raft: Rocks, meta: LogMeta): void {
  let next = meta.first;
  let term = meta.prevTerm;
  raft.scan(entryKey(meta.first), entryKey(Number.MAX_SAFE_INTEGER), ({ value }) => {
    const intact = isIntactEntry(value, crc32) && entryIndex(value) === next && entryTerm(value) >= term;
    if (!intact || next > meta.last) {
      throw new Refused("MEMBER_DAMAGED", damage(directory, `entry ${next} of the Raft log is missing or damaged`));
    }
    term = entryTerm(value);
    next++;
    return true;
  });
  if (next !== meta.last + 1) {
    throw new Refused("MEMBER_DAMAGED", damage(directory, `the Raft log ends at ${next - 1} instead of ${meta.last}`));
  }
}

function termOf(raft: Rocks, meta: LogMeta, index: number): number | null {
  const row = index < meta.first || index > meta.last ? undefined : raft.get(entryKey(index));
  return row === undefined ? null : entryTerm(row);
}

function damage(directory: string, problem: string): string {
  return (
    `${directory} has lost acknowledged data: ${problem}. It is not served, and nothing in it was deleted; the files ` +
    `of its stores as they were found are in ${keptDirectory(RAFT_DIRECTORY)} and beside it. Copy it aside, find out ` +
    "what damaged the disk, and restore the directory from a copy that is whole"
  );
}
