/**
 * Passes the bytes of a snapshot on as they are, and reads them meanwhile: what arrives at the other side was checked, with
 * its trailer. For copies of snapshots that somebody else has written.
 *
 * The last bytes are held back until the whole snapshot was found to be right. So a copy of a snapshot that is not right has no
 * end, and readers refuse it.
 */

import type { ByteStream } from "./byte-source.ts";
import type { ObjectSummary } from "./layout.ts";
import { readSnapshot, type SnapshotHeader } from "./snapshot.ts";

/** A snapshot whose header was read. */
export interface CheckedSnapshot {
  readonly header: SnapshotHeader;
  /** All its bytes, to be consumed once. It raises a BackupError, or that of the source, before the last of them. */
  readonly stream: AsyncGenerator<Uint8Array, void, undefined>;
  /** Rows that were read so far. */
  readonly rows: number;
  /** Raises an error before the stream has ended. */
  summary(): ObjectSummary;
  /** Ends the source of a snapshot that is not to be read any further. */
  close(): Promise<void>;
}

/** Reads the header. Raises a BackupError if the stream does not begin with that of a snapshot. */
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

/** Keeps what the reader takes. */
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
    // All but the last piece: it may be the end, which is not proven yet.
    yield* waiting.splice(0, waiting.length - 1);
  }
  yield* waiting.splice(0);
}
