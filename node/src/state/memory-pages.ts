/**
 * The bytes of memory regions: pages, by segments.
 *
 * A region is divided into segments of 1 MiB, and those into pages of 4 KiB. A page is a row that ends with its last
 * byte that is not zero; one of zeros alone is no row. So what a write costs depends on what it writes and never on the
 * size of the region, and what a region takes is what was written into it.
 *
 * The pages of a segment stand under the revision of the write that stored the first of them, which the segment's row
 * names. What is freed or cut off loses that row and is invisible at once, however much it is; its pages are noted for
 * erasure, which the leader proposes step by step (S44). What is written there later stands under another revision: no
 * late step can touch it, and what was cut off never shows again (S32).
 */

import type { ApplyContext } from "./apply-context.ts";
import { RecordReader, RecordWriter } from "./record.ts";
import { memoryErasureRow, memoryPageRow, memorySegmentRow, tableRange } from "./rows.ts";
import type { Row, StateReader } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/**
 * Bytes of a page. Measured with RocksDB and a full region of 64 MiB: 4 KiB at an aligned offset are written in 13 µs,
 * with pages of 8, 16 and 64 KiB in 28, 66 and 91 µs, as each write stores whole pages; with 1 KiB the largest write
 * takes three times as long. In a snapshot the keys of the rows are 0.4 % of the bytes.
 */
const PAGE_BYTES = 4 * 1024;
/** Pages of a segment: no more than so many are erased in the entry of a resize, and the rest of them later. */
const SEGMENT_PAGES = 256;
const SEGMENT_BYTES = SEGMENT_PAGES * PAGE_BYTES;
const NO_BYTES = new Uint8Array(0);
/** Where the second number begins in the keys of segments, pages and erasures: behind the letter and the first one. */
const SECOND_NUMBER_OFFSET = 1 + 8;

/** Overwrites bytes, which lie within the region, as the change of this revision. */
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

/** The bytes, which lie within the region, in an array of their own. */
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

/** Makes the bytes from `sizeBytes` on zeros, up to the present size of the region; with 0 all of them. */
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
  const to = memorySegmentRow(createRevision, Math.ceil(presentSizeBytes / SEGMENT_BYTES));
  for (const { key, value } of rowsOf(transaction, from, to, Number.POSITIVE_INFINITY)) {
    transaction.delete(key);
    transaction.put(memoryErasureRow(new RecordReader(value).uint53(), secondNumber(key)), NO_BYTES);
  }
}

/** Whether pages are left to be erased. */
export function hasErasures(reader: StateReader): boolean {
  const { from, to } = tableRange("memoryErasure");
  return rowsOf(reader, from, to, 1).length > 0;
}

/** Erases pages that nothing shows any more: removes at most so many rows. */
export function applyEraseMemory({ transaction }: ApplyContext, rowsMax: number): void {
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
      // There may be more pages: the row stays until a step finds none.
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

/** Copies the bytes from the offset on into `bytes`, which are zeros. */
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

/** Removes what a segment holds from this byte of the region on. */
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

/** The revision under which the pages of the segment stand, or undefined if it has none. */
function storeRevisionOf(reader: StateReader, createRevision: number, segment: number): number | undefined {
  const bytes = reader.get(memorySegmentRow(createRevision, segment));
  return bytes === undefined ? undefined : new RecordReader(bytes).uint53();
}

/** What a page holds when the part was written over it at `start`. */
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
