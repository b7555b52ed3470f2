/**
 * The bytes of memory regions: pages, grouped in segments.
 *
 * A region has segments of 1 MiB, and a segment has pages of 4 KiB. A page is a row that ends with its last non-zero
 * byte; an all-zero page has no row. So the cost of a write depends on its bytes and never on the size of the region,
 * and a region only takes the space of its written bytes.
 *
 * The keys of a segment's pages contain the revision of the write that stored the first of them, and the segment's row
 * names that revision. A freed or cut segment loses its row and is invisible at once, whatever its size. Its pages are
 * marked for erasure, which the leader proposes step by step (S44). Later writes use another revision: no late erasure
 * can touch them, and cut bytes never reappear (S32).
 */

import {
  type ApplyContext,
  clusterStep,
  memoryErasureRow,
  memoryPageRow,
  memorySegmentRow,
  RecordReader,
  RecordWriter,
  type Row,
  type StateReader,
  smallCount,
  type Transaction,
  tableRange,
} from "../core/index.ts";
import type { EraseMemory } from "./memory-command.ts";

/**
 * Bytes of a page. Measured with RocksDB and a full region of 64 MiB: an aligned write of 4 KiB takes 13 µs. With pages
 * of 8, 16 and 64 KiB it takes 28, 66 and 91 µs, because each write stores whole pages. With 1 KiB the largest write
 * takes three times as long. In a snapshot the keys of the rows are 0.4 % of the bytes.
 */
const PAGE_BYTES = 4 * 1024;
/** Pages of a segment: the entry of a resize erases at most this many; later steps erase the rest. */
const SEGMENT_PAGES = 256;
const SEGMENT_BYTES = SEGMENT_PAGES * PAGE_BYTES;
const NO_BYTES = new Uint8Array(0);
/**
 * Where the second number begins in the keys of segments, pages and erasures: after the table letter and the first
 * number.
 */
const SECOND_NUMBER_OFFSET = 1 + 8;

/** Overwrites bytes, which lie within the region, as a change at this revision. */
export function writePages(
  transaction: Transaction,
  createRevision: number,
  offset: number,
  data: Uint8Array,
  revision: number,
): void {
  const end = offset + data.length;
  for (let at = offset; at < end; ) {
    const segment = Math.floor(at / SEGMENT_BYTES);
    const to = Math.min(end, (segment + 1) * SEGMENT_BYTES);
    writeSegment(transaction, createRevision, segment, at, data.subarray(at - offset, to - offset), revision);
    at = to;
  }
}

/** A new array with the bytes, which lie within the region. */
export function readPages(reader: StateReader, createRevision: number, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  const end = offset + length;
  for (let at = offset; at < end; ) {
    const segment = Math.floor(at / SEGMENT_BYTES);
    const to = Math.min(end, (segment + 1) * SEGMENT_BYTES);
    readSegment(reader, createRevision, segment, at, bytes.subarray(at - offset, to - offset));
    at = to;
  }
  return bytes;
}

/** Sets the bytes from `sizeBytes` to the present size of the region to zero; 0 = all of them. */
export function cutPages(
  transaction: Transaction,
  createRevision: number,
  presentSizeBytes: number,
  sizeBytes: number,
): void {
  const firstWhole = Math.ceil(sizeBytes / SEGMENT_BYTES);
  if (firstWhole * SEGMENT_BYTES !== sizeBytes) {
    cutSegment(transaction, createRevision, firstWhole - 1, sizeBytes);
  }
  const from = memorySegmentRow(createRevision, firstWhole);
  const to = memorySegmentRow(createRevision, segmentsOf(presentSizeBytes));
  for (const { key, value } of rowsOf(transaction, from, to, Number.POSITIVE_INFINITY)) {
    transaction.delete(key);
    transaction.put(memoryErasureRow(new RecordReader(value).uint53(), secondNumber(key)), NO_BYTES);
  }
}

/** Segments of a region of this size, at most. */
export function segmentsOf(sizeBytes: number): number {
  return Math.ceil(sizeBytes / SEGMENT_BYTES);
}

/** Whether there are pages to erase, of those that were stored up to the revision if it is given. */
export function hasErasures(reader: StateReader, storedTo?: number): boolean {
  const { from, to } = tableRange("memoryErasure");
  const end = storedTo === undefined ? to : memoryErasureRow(storedTo + 1, 0);
  return rowsOf(reader, from, end, 1).length > 0;
}

export const eraseMemoryOperation = clusterStep<EraseMemory>({
  kind: "erase-memory",
  number: 34,
  fields: { rowsMax: smallCount },
  apply: applyEraseMemory,
});

/** Erases at most this many rows of invisible pages. */
function applyEraseMemory({ transaction }: ApplyContext, { rowsMax }: EraseMemory): void {
  const { from, to } = tableRange("memoryErasure");
  let left = rowsMax;
  for (const { key } of rowsOf(transaction, from, to, rowsMax)) {
    const segment = secondNumber(key);
    const storeRevision = new RecordReader(key.subarray(1, SECOND_NUMBER_OFFSET)).uint53();
    const first = memoryPageRow(storeRevision, segment * SEGMENT_PAGES);
    const end = memoryPageRow(storeRevision, (segment + 1) * SEGMENT_PAGES);
    const pages = rowsOf(transaction, first, end, left);
    for (const page of pages) {
      transaction.delete(page.key);
    }
    left -= pages.length;
    if (left === 0) {
      // There may be more pages, so the row stays until a step finds none.
      return;
    }
    transaction.delete(key);
    left--;
  }
}

function writeSegment(
  transaction: Transaction,
  createRevision: number,
  segment: number,
  offset: number,
  data: Uint8Array,
  revision: number,
): void {
  let stored = storeRevisionOf(transaction, createRevision, segment);
  for (let at = 0; at < data.length; ) {
    const page = Math.floor((offset + at) / PAGE_BYTES);
    const start = offset + at - page * PAGE_BYTES;
    const part = data.subarray(at, at + PAGE_BYTES - start);
    at += part.length;
    const key = memoryPageRow(stored ?? revision, page);
    const isKept = stored !== undefined && part.length < PAGE_BYTES;
    const bytes = overwritten(isKept ? transaction.get(key) : undefined, start, part);
    if (bytes.length > 0) {
      transaction.put(key, bytes);
      if (stored === undefined) {
        stored = revision;
        transaction.put(memorySegmentRow(createRevision, segment), new RecordWriter().uint53(revision).finish());
      }
    } else if (stored !== undefined && transaction.get(key) !== undefined) {
      transaction.delete(key);
    }
  }
}

/** Copies the bytes from the offset on into `bytes`, which is all zeros. */
function readSegment(
  reader: StateReader,
  createRevision: number,
  segment: number,
  offset: number,
  bytes: Uint8Array,
): void {
  const stored = storeRevisionOf(reader, createRevision, segment);
  if (stored === undefined) {
    return;
  }
  const end = offset + bytes.length;
  const first = memoryPageRow(stored, Math.floor(offset / PAGE_BYTES));
  reader.scan(first, memoryPageRow(stored, Math.ceil(end / PAGE_BYTES)), ({ key, value }) => {
    const start = secondNumber(key) * PAGE_BYTES;
    const from = Math.max(offset - start, 0);
    const to = Math.min(end - start, value.length);
    if (from < to) {
      bytes.set(value.subarray(from, to), start + from - offset);
    }
    return true;
  });
}

/** Removes the content of a segment from this byte of the region on. */
function cutSegment(transaction: Transaction, createRevision: number, segment: number, sizeBytes: number): void {
  const stored = storeRevisionOf(transaction, createRevision, segment);
  if (stored === undefined) {
    return;
  }
  const first = memoryPageRow(stored, Math.floor(sizeBytes / PAGE_BYTES));
  const end = memoryPageRow(stored, (segment + 1) * SEGMENT_PAGES);
  for (const { key, value } of rowsOf(transaction, first, end, SEGMENT_PAGES)) {
    const kept = withoutTrailingZeros(value.subarray(0, Math.max(sizeBytes - secondNumber(key) * PAGE_BYTES, 0)));
    if (kept.length === 0) {
      transaction.delete(key);
    } else if (kept.length < value.length) {
      transaction.put(key, kept);
    }
  }
}

/** The revision in the keys of the segment's pages; undefined if it has no pages. */
function storeRevisionOf(reader: StateReader, createRevision: number, segment: number): number | undefined {
  const bytes = reader.get(memorySegmentRow(createRevision, segment));
  return bytes === undefined ? undefined : new RecordReader(bytes).uint53();
}

/** The content of a page after writing the part at `start`. */
function overwritten(before: Uint8Array = NO_BYTES, start: number, part: Uint8Array): Uint8Array {
  if (start === 0 && part.length >= before.length) {
    return withoutTrailingZeros(part);
  }
  const bytes = new Uint8Array(Math.max(before.length, start + part.length));
  bytes.set(before);
  bytes.set(part, start);
  return withoutTrailingZeros(bytes);
}

function withoutTrailingZeros(bytes: Uint8Array): Uint8Array {
  let length = bytes.length;
  while (length > 0 && bytes[length - 1] === 0) {
    length--;
  }
  return bytes.subarray(0, length);
}

/** The rows with from ≤ key < to, at most this many. */
function rowsOf(reader: StateReader, from: Uint8Array, to: Uint8Array, countMax: number): Row[] {
  const rows: Row[] = [];
  if (countMax > 0) {
    reader.scan(from, to, (row) => rows.push(row) < countMax);
  }
  return rows;
}

function secondNumber(key: Uint8Array): number {
  return new RecordReader(key.subarray(SECOND_NUMBER_OFFSET)).uint53();
}
