/**
 * Passes the bytes of a snapshot on unchanged, and checks them on the way, including the trailer. For copies of
 * snapshots from another writer.
 *
 * The last bytes are held back until the whole snapshot has been checked. So the copy of an invalid snapshot has no
 * end, and readers refuse it.
 */

import type { ByteStream } from "./byte-source.ts";
import type { ObjectSummary } from "./layout.ts";
import { readSnapshot, type SnapshotHeader } from "./snapshot.ts";

/** A snapshot with its header read. */
export interface CheckedSnapshot {
  readonly header: SnapshotHeader;
  /** All its bytes, to be consumed once. Before the last bytes it raises a BackupError, or the error of the source. */
  readonly stream: AsyncGenerator<Uint8Array, void, undefined>;
  /** Rows read so far. */
  readonly rows: number;
  /** Raises an error before the stream has ended. */
  summary(): ObjectSummary;
  /** Ends the source, if the caller does not read the snapshot to its end. */
  close(): Promise<void>;
}

/** Reads the header. Raises a BackupError if the stream does not begin with the header of a snapshot. */
export async function checkSnapshot(source: ByteStream): Promise<CheckedSnapshot> {
  const waiting: Uint8Array[] = [];
  const reading = await readSnapshot(keepingBytes(source, waiting));
  const counts = { rows: 0 };
  return {
    header: reading.header,
    stream: passOn(reading.batches, waiting, counts),
    get rows() {
      return counts.rows;
    },
    summary: () => reading.summary(),
    close: () => reading.close(),
  };
}

/** Keeps the bytes that the reader takes. */
async function* keepingBytes(source: ByteStream, kept: Uint8Array[]): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const bytes of source) {
    kept.push(bytes);
    yield bytes;
  }
}

async function* passOn(
  batches: AsyncGenerator<readonly unknown[], void, undefined>,
  waiting: Uint8Array[],
  counts: { rows: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { length } of batches) {
    counts.rows += length;
    // All but the last piece: it may contain the end, which is not checked yet.
    yield* waiting.splice(0, waiting.length - 1);
  }
  yield* waiting.splice(0);
}
