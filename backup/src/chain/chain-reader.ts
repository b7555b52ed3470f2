/**
 * Reads a chain from its snapshot on, object by object, and checks each link: cluster, ids, hashes, indexes without a gap,
 * terms that never fall. What was read must not take effect before the reader has ended, because the last object is proven to
 * be whole only then.
 */

import type { UnsealOptions } from "../envelope/index.ts";
import {
  BackupError,
  type Entry,
  type ObjectReading,
  type Row,
  type SegmentHeader,
  type SnapshotHeader,
} from "../format/index.ts";
import type { BackupStore } from "../store/index.ts";
import type { StoredSegment, StoredSnapshot } from "./catalog.ts";
import { openSegment, openSnapshot } from "./stored-objects.ts";

/** One object of a chain. Its batches must be consumed before the next object is asked for. */
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
      /** Without those that the snapshot holds already. */
      readonly entries: AsyncIterable<Entry[]>;
    };

/** What is to be read: a chain, or the plan of a restore. */
export interface ChainObjects {
  readonly snapshot: StoredSnapshot;
  readonly segments: readonly StoredSegment[];
}

/** Where in the log the reader is, and which object it has read last. */
interface Position {
  index: number;
  term: number;
  id: string;
  hash: Uint8Array;
}

/** Raises a BackupError that names the object, or a StoreFailure. */
export async function* readChain(
  store: Pick<BackupStore, "get">,
  { snapshot, segments }: ChainObjects,
  options: UnsealOptions,
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

/** Passes the part on, and reads what its consumer has left. */
async function* whole<T>(
  reading: ObjectReading<unknown, T>,
  part: ChainPart,
): AsyncGenerator<ChainPart, void, undefined> {
  try {
    yield part;
    const rest: AsyncIterable<unknown> = part.kind === "snapshot" ? part.rows : part.entries;
    for await (const _ of rest);
  } finally {
    await reading.close();
  }
  // A consumer that ended the batches early has left the rest unread: the object is not proven.
  reading.summary();
}

function checkLink(header: SegmentHeader, position: Position): void {
  if (header.previousId === position.id && !Buffer.from(header.previousHash).equals(position.hash)) {
    throw new BackupError(
      "broken-chain",
      "the object before it is not the one that it was written after: their hashes differ. Use another snapshot to restore from",
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

/** The entries behind the position, which moves on. Those up to it must have the terms that are known. */
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
