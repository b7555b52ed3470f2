/**
 * Reads a chain from its snapshot on, object by object, and checks each link: cluster, ids, hashes, indexes without a
 * gap, terms that never decrease. The caller must not use the content before the reader has ended, because only then is
 * the last object proven complete.
 */

import type { DecryptOptions } from "../envelope/index.ts";
import {
  BackupError,
  type Entry,
  type ObjectReading,
  type Row,
  type SegmentHeader,
  type SnapshotHeader,
} from "../format/index.ts";
import type { BackupStore } from "../store/index.ts";
import type { StoredSegment, StoredSnapshot } from "./object-name.ts";
import { openSegment, openSnapshot } from "./stored-objects.ts";

/** One object of a chain. The caller must consume its batches before it requests the next object. */
export type ChainPart =
  | {
      readonly kind: "snapshot";
      readonly name: string;
      readonly header: SnapshotHeader;
      readonly rows: AsyncIterable<Row[]>;
    }
  | {
      readonly kind: "segment";
      readonly name: string;
      readonly header: SegmentHeader;
      /** Without the entries that the snapshot already covers. */
      readonly entries: AsyncIterable<Entry[]>;
    };

/** The objects to read: a chain, or a restore plan. */
export interface ChainObjects {
  readonly snapshot: StoredSnapshot;
  readonly segments: readonly StoredSegment[];
}

/** The position of the reader in the log, and the last object that it read. */
interface Position {
  index: number;
  term: number;
  id: string;
  hash: Uint8Array;
}

/** Reads the objects in order. Raises a BackupError that names the object, or a StoreFailure. */
export async function* readChain(
  store: Pick<BackupStore, "get">,
  { snapshot, segments }: ChainObjects,
  options: DecryptOptions,
): AsyncGenerator<ChainPart, void, undefined> {
  const start = await openSnapshot(store, snapshot, options);
  const { index, term } = start.header;
  yield* whole(start, { kind: "snapshot", name: snapshot.name, header: start.header, rows: start.batches });
  const position: Position = { index, term, id: start.header.id, hash: start.summary().hash };
  for (const segment of segments) {
    const reading = await openSegment(store, segment, options);
    try {
      checkLink(reading.header, position);
    } catch (error) {
      await reading.close();
      throw error instanceof BackupError ? error.of(segment.name) : error;
    }
    const entries = entriesAfter(reading.batches, position, segment.name);
    yield* whole(reading, { kind: "segment", name: segment.name, header: reading.header, entries });
    position.id = reading.header.id;
    position.hash = reading.summary().hash;
  }
}

/** Passes the part on, and reads the rest that its consumer has left. */
async function* whole<T>(
  reading: ObjectReading<unknown, T>,
  part: ChainPart,
): AsyncGenerator<ChainPart, void, undefined> {
  try {
    yield part;
    const rest: AsyncIterable<unknown> = part.kind === "snapshot" ? part.rows : part.entries;
    for await (const _ of rest) {
    }
  } finally {
    await reading.close();
  }
  // If a consumer ended the batches early, the rest is unread, and this raises an error.
  reading.summary();
}

function checkLink(header: SegmentHeader, position: Position): void {
  if (header.previousId === position.id && !Buffer.from(header.previousHash).equals(position.hash)) {
    throw new BackupError(
      "broken-chain",
      "the object before it is not its original predecessor: the hashes differ. Use another snapshot to restore from",
    );
  }
  if (header.firstIndex > position.index + 1) {
    throw new BackupError(
      "gap",
      `entries ${position.index + 1} to ${header.firstIndex - 1} are missing before it. Use another snapshot to restore from`,
    );
  }
  if (header.lastIndex <= position.index) {
    throw new BackupError("broken-chain", `it ends at index ${header.lastIndex}, before the object that it follows`);
  }
}

/** The entries after the position, which advances. Entries up to it must match the known terms. */
async function* entriesAfter(
  batches: AsyncIterable<Entry[]>,
  position: Position,
  name: string,
): AsyncGenerator<Entry[], void, undefined> {
  const start = position.index;
  for await (const batch of batches) {
    const following: Entry[] = [];
    for (const entry of batch) {
      if (!isInTerm(entry, position, start)) {
        throw new BackupError(
          "broken-chain",
          `entry ${entry.index} has term ${entry.term}, and the object before it ends with term ${position.term} at index ${start}: they are not of one log`,
          { object: name },
        );
      }
      if (entry.index > start) {
        following.push(entry);
        position.index = entry.index;
        position.term = entry.term;
      }
    }
    if (following.length > 0) {
      yield following;
    }
  }
}

function isInTerm(entry: Entry, position: Position, start: number): boolean {
  if (entry.index === start) {
    return entry.term === position.term;
  }
  return entry.index < start ? entry.term <= position.term : entry.term >= position.term;
}
