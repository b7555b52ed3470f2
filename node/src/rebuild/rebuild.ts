/**
 * Rebuilds the state of a cluster from a backup. It loads the rows of a snapshot and applies the entries of the
 * segments as members do. Applying is deterministic, so the result must have the digest that the cluster had. The
 * rebuild compares the two wherever a snapshot or segment records a digest. Verifying a backup does this in a scratch
 * directory; a restore does it in the directory of a new member.
 *
 * The caller must not use any of the state until this ends without an error: only the end of each object proves its
 * content.
 */

import { crc32 } from "node:zlib";
import {
  BackupError,
  type BackupStore,
  type ChainObjects,
  type ChainPart,
  type DecryptOptions,
  readChain,
  type SegmentHeader,
  type SnapshotHeader,
} from "@quoin/backup";
import { compareBytes } from "../bytes/index.ts";
import { entryIndex, entryTerm, isIntactEntry } from "../raft/index.ts";
import { CLUSTER_VERSIONS, describeKnownVersions, type Progress, type Row, readCluster } from "../state/index.ts";
import { LOCAL_ROWS_FROM, type OfflineState } from "../storage/index.ts";
import { isBeyond, type RebuildPoint } from "./rebuild-point.ts";

export interface RebuildOptions {
  readonly store: BackupStore;
  /** A chain, or a restore plan. */
  readonly objects: ChainObjects;
  readonly decryptOptions: DecryptOptions;
  readonly point: RebuildPoint;
  /** A new, empty state. It stays open, and is not durable afterwards. */
  readonly state: OfflineState;
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
}

/** How far a rebuild has come. */
export interface RebuildProgress {
  /** The object that the rebuild reads now. */
  readonly object: string;
  /** Objects read completely. */
  readonly objects: number;
  readonly objectsTotal: number;
  readonly rows: number;
  readonly entries: number;
}

/** A rebuilt state. */
export interface Rebuilt {
  /** The end of the state: index, term, revision, wall clock, digest and more. */
  readonly progress: Progress;
  readonly snapshot: SnapshotHeader;
  readonly segments: number;
  readonly rows: number;
  readonly entries: number;
  /** How many digests of the cluster the rebuild compared with its own. All were equal. */
  readonly digestsCompared: number;
}

/**
 * Rebuilds the state up to the point.
 *
 * @throws BackupError with the name of the object if it cannot be used, or if its digest differs from that of the
 * rebuilt state.
 * @throws StoreFailure if the store fails.
 * @throws StoreError if the disk of the state fails.
 */
export async function rebuild(options: RebuildOptions): Promise<Rebuilt> {
  const run = new RebuildRun(options);
  for await (const part of readChain(options.store, options.objects, options.decryptOptions)) {
    await run.take(part);
  }
  return run.end();
}

class RebuildRun {
  readonly #options: RebuildOptions;
  readonly #state: OfflineState;
  #snapshot: SnapshotHeader | null = null;
  /** Index and term of the last entry in the state. */
  #index = 0;
  #term = 0;
  /** Whether the point is reached. The rebuild then still reads entries, but applies none. */
  #hasReachedPoint = false;
  #segments = 0;
  #rows = 0;
  #entries = 0;
  #digestsCompared = 0;

  constructor(options: RebuildOptions) {
    this.#options = options;
    this.#state = options.state;
  }

  async take(part: ChainPart): Promise<void> {
    this.#reportProgress(part.name);
    requireKnownHeader(part.name, part.header);
    if (part.kind === "snapshot") {
      await this.#load(part.name, part.header, part.rows);
    } else {
      await this.#apply(part.name, part.header, part.entries);
    }
  }

  end(): Rebuilt {
    if (this.#snapshot === null) {
      throw new BackupError("no-backup", "there is no snapshot to begin with");
    }
    const { progress } = this.#state;
    this.#requireReached(progress);
    return {
      progress,
      snapshot: this.#snapshot,
      segments: this.#segments,
      rows: this.#rows,
      entries: this.#entries,
      digestsCompared: this.#digestsCompared,
    };
  }

  /** The name of an object does not always show where the object ends; only its entries do. */
  #requireReached({ appliedIndex, revision, wallMs }: Progress): void {
    const { point } = this.#options;
    const isShort =
      (point.kind === "revision" && revision < point.revision) ||
      (point.kind === "time" && !this.#hasReachedPoint && wallMs < point.wallMs) ||
      (point.kind === "index" && appliedIndex < point.index);
    if (isShort) {
      throw new BackupError(
        "no-such-point",
        `the archive ends before that point, at revision ${revision} (index ${appliedIndex}) at ${new Date(wallMs).toISOString()}. Choose an earlier point`,
      );
    }
  }

  async #load(name: string, header: SnapshotHeader, batches: AsyncIterable<readonly Row[]>): Promise<void> {
    for await (const rows of batches) {
      if (rows.some(({ key }) => compareBytes(key, LOCAL_ROWS_FROM) >= 0)) {
        throw new BackupError("damaged", "it holds a row that is not part of a replicated state", { object: name });
      }
      this.#state.writeRows(rows);
      this.#rows += rows.length;
      this.#reportProgress(name);
    }
    const last = this.#state.lastOfRows;
    if (last === null || last.index !== header.index || last.term !== header.term) {
      throw new BackupError("damaged", "its rows have another index than its header", { object: name });
    }
    this.#state.finishRows();
    const clusterId = readCluster(this.#state.reader)?.clusterId;
    if (clusterId !== header.clusterId) {
      throw new BackupError(
        "foreign-cluster",
        `its rows are those of cluster ${clusterId ?? "none"}, and its header says ${header.clusterId}. Use another snapshot`,
        { object: name },
      );
    }
    this.#snapshot = header;
    this.#index = header.index;
    this.#term = header.term;
    this.#compare(name, header.stateDigest);
  }

  async #apply(
    name: string,
    header: SegmentHeader,
    batches: AsyncIterable<readonly { readonly bytes: Uint8Array }[]>,
  ): Promise<void> {
    for await (const entries of batches) {
      for (const { bytes } of entries) {
        this.#applyEntry(name, header, bytes);
      }
      this.#reportProgress(name);
    }
    this.#segments++;
    if (header.stateDigest !== undefined && this.#index === header.lastIndex) {
      this.#compare(name, header.stateDigest);
    }
  }

  #applyEntry(name: string, header: SegmentHeader, row: Uint8Array): void {
    if (this.#hasReachedPoint) {
      return;
    }
    this.#requireNext(name, row);
    const { point } = this.#options;
    // The state knows its revision only after a commit, so read it only where it matters.
    const isNear = point.kind === "revision" && (header.lastRevision ?? Number.POSITIVE_INFINITY) >= point.revision;
    this.#hasReachedPoint = isBeyond(point, row, isNear ? this.#state.progress.revision : 0);
    if (this.#hasReachedPoint) {
      return;
    }
    this.#state.apply(row);
    this.#index++;
    this.#term = entryTerm(row);
    this.#entries++;
    const { divergence } = this.#state;
    if (divergence !== null) {
      throw new BackupError(
        "damaged",
        `at index ${divergence.index} the rebuilt state has the digest ${hexOf(divergence.digest)}, and the cluster had ${hexOf(divergence.clusterDigest)}. Use another snapshot, and report this`,
        { object: name },
      );
    }
  }

  /** Each entry has its own checksum and place, so the state machine never gets a damaged entry or one out of order. */
  #requireNext(name: string, row: Uint8Array): void {
    if (!isIntactEntry(row, crc32)) {
      throw new BackupError("damaged", `an entry after index ${this.#index} fails its own checksum`, { object: name });
    }
    if (entryIndex(row) !== this.#index + 1 || entryTerm(row) < this.#term) {
      throw new BackupError(
        "out-of-order",
        `entry ${entryIndex(row)} of term ${entryTerm(row)} does not follow entry ${this.#index} of term ${this.#term}`,
        { object: name },
      );
    }
  }

  #compare(name: string, digest: number): void {
    const own = this.#state.progress.digest;
    if (own !== digest) {
      throw new BackupError(
        "damaged",
        `the rebuilt state has the digest ${hexOf(own)}, and the cluster had ${hexOf(digest)}. Use another snapshot, and report this`,
        { object: name },
      );
    }
    this.#digestsCompared++;
  }

  #reportProgress(object: string): void {
    const { onProgress, objects } = this.#options;
    onProgress?.({
      object,
      objects: this.#segments + (this.#snapshot === null ? 0 : 1),
      objectsTotal: objects.segments.length + 1,
      rows: this.#rows,
      entries: this.#entries,
    });
  }
}

/** Rows and entries of another cluster version could have another meaning in this release. */
function requireKnownHeader(object: string, { clusterVersion, quoinVersion }: SnapshotHeader | SegmentHeader): void {
  const { min, max } = CLUSTER_VERSIONS;
  if (clusterVersion < min || clusterVersion > max) {
    throw new BackupError(
      "newer-format",
      `it is of a cluster of version ${clusterVersion}, written by Quoin ${quoinVersion}, and this release knows ${describeKnownVersions()}. Use the release that wrote it, or a later one of the same major version`,
      { object },
    );
  }
}

function hexOf(digest: number): string {
  return digest.toString(16).padStart(8, "0");
}
