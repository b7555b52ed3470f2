/**
 * Rebuilds the state of a cluster from a backup, in a directory of its own: the rows of a snapshot, and then the entries of the
 * segments, applied as members apply them. Applying is deterministic, so the digest must be the one that the cluster had: it is
 * compared wherever snapshot and segments say it.
 *
 * Nothing of the directory may be used unless this has ended without an error: only the end of each object proves it.
 */

import { mkdir, readdir } from "node:fs/promises";
import { crc32 } from "node:zlib";
import {
  BackupError,
  type BackupStore,
  type ChainObjects,
  type ChainPart,
  readChain,
  type SegmentHeader,
  type SnapshotHeader,
  type UnsealOptions,
} from "@quoin/backup";
import { compareBytes } from "../bytes/index.ts";
import { type Configuration, changeConfiguration, entryIndex, isIntactEntry, NO_CONFIGURATION } from "../raft/index.ts";
import {
  DEFAULT_STATE_LIMITS,
  PROGRESS_ROW,
  type Progress,
  type Reconfigure,
  type Row,
  readCluster,
  type StateLimits,
  StateMachine,
  type StateStore,
} from "../state/index.ts";
import { ScratchState, type StoreError } from "../storage/index.ts";
import { isBeyond, type RebuildPoint } from "./rebuild-point.ts";

export interface RebuildOptions {
  readonly store: BackupStore;
  /** A chain, or the plan of a restore. */
  readonly objects: ChainObjects;
  readonly unseal: UnsealOptions;
  readonly point: RebuildPoint;
  /** Is made if it is missing, and must be empty. Afterwards it holds `state` and `state-1`, as the directory of a member. */
  readonly directory: string;
  /** Limits as the members had them. All members of a release have the same. */
  readonly stateLimits?: StateLimits | undefined;
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
}

/** How far a rebuild has come. */
export interface RebuildProgress {
  /** The object that is being read. */
  readonly object: string;
  /** Objects that were read to their ends. */
  readonly objects: number;
  readonly objectsTotal: number;
  readonly rows: number;
  readonly entries: number;
}

/** A state that was rebuilt. */
export interface Rebuilt {
  /** How far it is: index, term, revision, wall clock, digest and more. */
  readonly progress: Progress;
  readonly snapshot: SnapshotHeader;
  readonly segments: number;
  readonly rows: number;
  readonly entries: number;
  /** How many digests of the cluster were compared with those of this state. All were the same. */
  readonly digestsCompared: number;
}

/** Entries that are applied as one batch. */
const BATCH_ENTRIES = 512;

/**
 * Raises a BackupError that names the object if it cannot be used, or if the state has another digest than the cluster had; a
 * StoreFailure if the store fails, and a StoreError if the directory does.
 */
export async function rebuild(options: RebuildOptions): Promise<Rebuilt> {
  const { store, objects, unseal, directory } = options;
  await requireEmpty(directory);
  let failure: StoreError | undefined;
  const scratch = await ScratchState.create(directory, (error) => {
    failure ??= error;
  });
  const run = new RebuildRun(options, scratch);
  try {
    for await (const part of readChain(store, objects, unseal)) {
      await run.take(part);
      if (failure !== undefined) {
        throw failure;
      }
    }
    const rebuilt = run.end();
    await scratch.sync();
    return rebuilt;
  } finally {
    await scratch.close();
  }
}

async function requireEmpty(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if ((await readdir(directory)).length > 0) {
    throw new BackupError("bad-argument", `the directory ${directory} is not empty. Name an empty or a new one`);
  }
}

class RebuildRun {
  readonly #options: RebuildOptions;
  readonly #scratch: ScratchState;
  #replay: Replay | null = null;
  #snapshot: SnapshotHeader | null = null;
  #segments = 0;
  #rows = 0;
  #entries = 0;
  #digestsCompared = 0;

  constructor(options: RebuildOptions, scratch: ScratchState) {
    this.#options = options;
    this.#scratch = scratch;
  }

  async take(part: ChainPart): Promise<void> {
    this.#tell(part.name);
    if (part.kind === "snapshot") {
      await this.#load(part.name, part.header, part.rows);
    } else {
      await this.#apply(part.name, part.header, part.entries);
    }
  }

  end(): Rebuilt {
    if (this.#replay === null || this.#snapshot === null) {
      throw new BackupError("no-backup", "there is no snapshot to begin with");
    }
    return {
      ...{ progress: this.#replay.progress, snapshot: this.#snapshot, segments: this.#segments },
      ...{ rows: this.#rows, entries: this.#entries, digestsCompared: this.#digestsCompared },
    };
  }

  async #load(name: string, header: SnapshotHeader, batches: AsyncIterable<readonly Row[]>): Promise<void> {
    let progressRow: Row | undefined;
    for await (const rows of batches) {
      for (const row of rows) {
        if (!ScratchState.isReplicated(row.key)) {
          throw new BackupError("damaged", "it holds a row that is no part of a replicated state", { object: name });
        }
        if (compareBytes(row.key, PROGRESS_ROW) === 0) {
          progressRow = { key: row.key.slice(), value: row.value.slice() };
        }
      }
      this.#scratch.writeRows(rows);
      this.#rows += rows.length;
      this.#tell(name);
    }
    if (progressRow === undefined || !ScratchState.isAt(progressRow, header.index, header.term)) {
      throw new BackupError("damaged", "its rows are those of another index than its header says", { object: name });
    }
    this.#snapshot = header;
    const { stateLimits = DEFAULT_STATE_LIMITS } = this.#options;
    this.#replay = new Replay(this.#scratch.finishRows(header.index, header.term), stateLimits);
    this.#compare(name, header.stateDigest);
  }

  async #apply(
    name: string,
    header: SegmentHeader,
    batches: AsyncIterable<readonly { readonly bytes: Uint8Array }[]>,
  ): Promise<void> {
    const replay = this.#replay as Replay;
    for await (const entries of batches) {
      for (const { bytes } of entries) {
        requireEntry(name, bytes, replay.index + 1);
        if (!replay.isAt(this.#options.point, bytes, header)) {
          replay.apply(name, bytes);
          this.#entries++;
        }
      }
      this.#tell(name);
    }
    replay.commit();
    this.#segments++;
    if (header.stateDigest !== undefined && replay.index === header.lastIndex) {
      this.#compare(name, header.stateDigest);
    }
  }

  #compare(name: string, digest: number): void {
    const own = (this.#replay as Replay).progress.digest;
    if (own !== digest) {
      throw new BackupError(
        "damaged",
        `the state that was rebuilt has the digest ${hexOf(own)}, and the cluster had ${hexOf(digest)}. Use another snapshot, and report this`,
        { object: name },
      );
    }
    this.#digestsCompared++;
  }

  #tell(object: string): void {
    const { onProgress, objects } = this.#options;
    onProgress?.({
      ...{
        object,
        objects: this.#segments + (this.#replay === null ? 0 : 1),
        objectsTotal: objects.segments.length + 1,
      },
      ...{ rows: this.#rows, entries: this.#entries },
    });
  }
}

/** Applies entries to a state, until the point is reached. */
class Replay {
  readonly #machine: StateMachine;
  #configuration: Configuration;
  #index: number;
  #uncommitted = 0;
  #isOver = false;
  readonly #reconfigure: Reconfigure = (index, change, expectIndex) => {
    const next = changeConfiguration(this.#configuration, index, change, expectIndex);
    if (typeof next !== "string") {
      this.#configuration = next;
    }
    return next;
  };

  constructor(store: StateStore, limits: StateLimits) {
    this.#machine = new StateMachine(store, (previous, bytes) => crc32(bytes, previous), limits);
    this.#configuration = readCluster(store)?.configuration ?? NO_CONFIGURATION;
    this.#index = this.#machine.progress.appliedIndex;
  }

  /** How far the state is, as of the last commit. */
  get progress(): Progress {
    return this.#machine.progress;
  }

  get index(): number {
    return this.#index;
  }

  /** Whether the point is reached, so that the entry is not applied any more. */
  isAt(point: RebuildPoint, row: Uint8Array, { lastRevision }: SegmentHeader): boolean {
    if (this.#isOver) {
      return true;
    }
    if (point.kind === "revision" && (lastRevision ?? Number.POSITIVE_INFINITY) >= point.revision) {
      // The revision of the state is known when what was applied is committed.
      this.commit();
    }
    this.#isOver = isBeyond(point, row, this.#machine.progress.revision);
    return this.#isOver;
  }

  apply(name: string, row: Uint8Array): void {
    this.#machine.apply(row, this.#reconfigure);
    this.#index = entryIndex(row);
    this.#uncommitted++;
    const { divergence } = this.#machine;
    if (divergence !== null) {
      throw new BackupError(
        "damaged",
        `at index ${divergence.index} the state that was rebuilt has the digest ${hexOf(divergence.digest)}, and the cluster had ${hexOf(divergence.toldDigest)}. Use another snapshot, and report this`,
        { object: name },
      );
    }
    if (this.#uncommitted >= BATCH_ENTRIES) {
      this.commit();
    }
  }

  commit(): void {
    this.#machine.commit();
    this.#uncommitted = 0;
  }
}

/** Entries carry their own checksum and place, so the state machine gets none that is damaged. */
function requireEntry(name: string, row: Uint8Array, minIndex: number): void {
  if (!isIntactEntry(row, crc32)) {
    throw new BackupError("damaged", `an entry behind index ${minIndex - 1} fails its own checksum`, { object: name });
  }
}

function hexOf(digest: number): string {
  return digest.toString(16).padStart(8, "0");
}
