/**
 * The end of the archive, where a new archiver continues. It is found in the list of objects, and proven by reading the
 * last object.
 */

import {
  BackupError,
  type BackupStore,
  type Chain,
  type KeyRing,
  type ObjectReading,
  openSegment,
  openSnapshot,
  readCatalog,
} from "@quoin/backup";
import type { OpenBackupTarget } from "./backup-target.ts";

/** Errors of keys, arguments and the runtime, which a new snapshot does not fix. */
const OF_READER: ReadonlySet<string> = new Set([
  ...["key-missing", "key-unknown", "key-wrong", "bad-key", "bad-argument", "unsupported-node"],
]);

/** The object that the next segment follows. */
export interface ChainTail {
  /** Index and term of the last entry in the archive. */
  readonly index: number;
  readonly term: number;
  readonly revision: number;
  readonly wallMs: number;
  /** Id and hash of the last object. */
  readonly id: string;
  readonly hash: Uint8Array;
  /** Index of the snapshot that starts the chain. */
  readonly chainIndex: number;
}

export interface FoundTail {
  /** Null if there is no chain. */
  readonly tail: ChainTail | null;
  /** When the newest snapshot was stored, in milliseconds since 1970; 0 = there is none. */
  readonly snapshotMs: number;
  /** Entries before the tail that are in no segment and no longer in the log; undefined if there are none. */
  readonly missing: MissingEntries | undefined;
}

export interface MissingEntries {
  readonly firstIndex: number;
  readonly lastIndex: number;
}

/**
 * Finds the end of the archive. Raises a StoreFailure, or a BackupError if the last object is not usable.
 *
 * @param firstIndex of the log from which the archive continues
 */
export async function findTail(
  { store, keyRing }: OpenBackupTarget,
  clusterId: string,
  firstIndex: number,
): Promise<FoundTail> {
  const { chains, snapshots } = await readCatalog(store, clusterId);
  const snapshotMs = Math.max(0, ...snapshots.map(({ modifiedMs }) => modifiedMs));
  const followed = chainsToFollow(chains, (index) => firstIndex <= index + 1);
  const first = await readFirstTail(store, followed, keyRing);
  return first === null
    ? { tail: null, snapshotMs, missing: undefined }
    : { tail: first.tail, snapshotMs, missing: missingBefore(first.chain, chains) };
}

/** Whether the archive has entries of the log. Raises a StoreFailure. */
export async function hasSegments({ store }: OpenBackupTarget, clusterId: string): Promise<boolean> {
  const { chains } = await readCatalog(store, clusterId);
  return chains.some(({ segments }) => segments.length > 0);
}

/** The entries between the last segment before a snapshot and that snapshot, if no object follows the snapshot yet. */
function missingBefore({ snapshot, segments }: Chain, chains: readonly Chain[]): MissingEntries | undefined {
  if (segments.length > 0) {
    return undefined;
  }
  const archived = chains.filter((chain) => chain.segments.length > 0).map(({ end }) => end.index);
  const lastBefore = archived.filter((index) => index < snapshot.index).at(-1);
  const isReached = archived.some((index) => index >= snapshot.index);
  return lastBefore === undefined || isReached ? undefined : { firstIndex: lastBefore + 1, lastIndex: snapshot.index };
}

/**
 * The chains that the archive may continue, the best one first, and the one that reaches furthest last. That one may be
 * a snapshot alone, taken beyond the last segment. The entries before it are then archived first, as far as the log has
 * them, so that each moment between them can be restored, too.
 */
function chainsToFollow(chains: readonly Chain[], canFollow: (index: number) => boolean): readonly Chain[] {
  const followed: Chain[] = [];
  for (const chain of chains.toSorted((one, other) => other.end.index - one.end.index)) {
    const [last] = followed;
    if (last !== undefined && (last.segments.length > 0 || !canFollow(chain.end.index))) {
      break;
    }
    followed.unshift(chain);
  }
  return followed;
}

/** The end of the first undamaged chain. If all are damaged, raises the error of the last one. */
async function readFirstTail(
  store: BackupStore,
  chains: readonly Chain[],
  keyRing: KeyRing | undefined,
): Promise<{ readonly chain: Chain; readonly tail: ChainTail } | null> {
  for (const [at, chain] of chains.entries()) {
    try {
      return { chain, tail: await readTail(store, chain, keyRing) };
    } catch (error) {
      if (!isDamage(error) || at === chains.length - 1) {
        throw error;
      }
    }
  }
  return null;
}

async function readTail(store: BackupStore, chain: Chain, keyRing: KeyRing | undefined): Promise<ChainTail> {
  const segment = chain.segments.at(-1);
  const chainIndex = chain.snapshot.index;
  if (segment === undefined) {
    const reading = await openSnapshot(store, chain.snapshot, { keyRing });
    const { index, term, revision, wallMs, id } = reading.header;
    return { index, term, revision, wallMs, id, hash: await hashOf(reading), chainIndex };
  }
  const reading = await openSegment(store, segment, { keyRing });
  const { lastIndex: index, lastTerm: term, lastRevision: revision = 0, lastWallMs: wallMs = 0, id } = reading.header;
  return { index, term, revision, wallMs, id, hash: await hashOf(reading), chainIndex };
}

/** Reads an object to its end. */
async function hashOf(reading: ObjectReading<unknown, unknown>): Promise<Uint8Array> {
  for await (const _ of reading.batches) {
  }
  return reading.summary().hash;
}

/** Whether the end of the archive itself is damaged, so that only a new snapshot helps. */
export function isDamage(error: unknown): error is BackupError {
  return error instanceof BackupError && !OF_READER.has(error.code);
}
