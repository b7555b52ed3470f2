/** Reads an object of any kind record by record. */

import { ByteCursor, malformed } from "./byte-cursor.ts";
import type { ByteSource } from "./byte-source.ts";
import type { ObjectSummary } from "./layout.ts";
import type { ObjectReader } from "./object-reader.ts";

/** An object with its header read. */
export interface ObjectReading<Header, T> {
  readonly header: Header;
  /**
   * The records, in batches of one frame, to be consumed once. Only an end without an error proves that the object is
   * complete: the caller must not use earlier batches before.
   */
  readonly batches: AsyncGenerator<T[], void, undefined>;
  /** Raises an error before `batches` has ended. */
  summary(): ObjectSummary;
  /** Ends the stream, if the caller does not read the object to its end. */
  close(): Promise<void>;
}

export interface RecordFormat<Header, T> {
  readonly readHeader: () => Promise<Header>;
  /** Reads one record; raises an error if it does not follow the last record. */
  readonly decode: (cursor: ByteCursor) => T;
  /** Called after the last record; raises an error if it is not a valid end. */
  readonly onEnd?: () => void;
}

/** Reads the header, and ends the stream if that fails. */
export async function readRecords<Header, T>(
  source: ByteSource,
  reader: ObjectReader,
  { readHeader, decode, onEnd }: RecordFormat<Header, T>,
): Promise<ObjectReading<Header, T>> {
  let header: Header;
  try {
    header = await readHeader();
  } catch (error) {
    await source.close();
    throw error;
  }
  return {
    header,
    batches: readBatches(source, reader, decode, onEnd),
    close: () => source.close(),
    summary() {
      if (reader.summary === undefined) {
        throw new Error("the object was not read to its end");
      }
      return reader.summary;
    },
  };
}

async function* readBatches<T>(
  source: ByteSource,
  reader: ObjectReader,
  decode: (cursor: ByteCursor) => T,
  onEnd: (() => void) | undefined,
): AsyncGenerator<T[], void, undefined> {
  try {
    for await (const { bytes, count } of reader.frames()) {
      yield decodeFrame(bytes, count, decode);
    }
    onEnd?.();
  } finally {
    await source.close();
  }
}

function decodeFrame<T>(bytes: Uint8Array, count: number, decode: (cursor: ByteCursor) => T): T[] {
  const cursor = new ByteCursor(bytes, "a frame");
  const records: T[] = [];
  for (let number = 0; number < count; number++) {
    records.push(decode(cursor));
  }
  if (!cursor.isAtEnd) {
    throw malformed("a frame has bytes after its last record");
  }
  return records;
}
