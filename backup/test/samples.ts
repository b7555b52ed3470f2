/** Realistic snapshots and segments of a cluster, and functions to collect and damage their bytes. */

import {
  type Entry,
  newObjectId,
  type Row,
  type SegmentHeader,
  type SnapshotHeader,
  writeSegment,
  writeSnapshot,
} from "../src/format/index.ts";

export const CLUSTER = "11111111-2222-4333-8444-555555555555";
export const OTHER_CLUSTER = "99999999-2222-4333-8444-555555555555";
/** The wall clock at index 0; each entry is a second later. */
export const START_MS = 1_750_000_000_000;

const ORIGIN = { clusterName: "sample", quoinVersion: "0.1.0", clusterVersion: 3 };

/** Each entry makes one revision, and takes a second. */
export function snapshotHeader(index: number, options: Partial<SnapshotHeader> = {}): SnapshotHeader {
  return {
    ...ORIGIN,
    clusterId: CLUSTER,
    id: newObjectId(),
    index,
    term: termOf(index),
    revision: index,
    tickMs: index * 1000,
    wallMs: START_MS + index * 1000,
    stateDigest: 0xdead_beef,
    ...options,
  };
}

/** The object that a segment follows. */
export interface Previous {
  readonly id: string;
  readonly hash: Uint8Array;
}

export function segmentHeader(
  firstIndex: number,
  lastIndex: number,
  previous: Previous,
  options: Partial<SegmentHeader> = {},
): SegmentHeader {
  return {
    ...ORIGIN,
    clusterId: CLUSTER,
    id: newObjectId(),
    firstIndex,
    lastIndex,
    firstTerm: termOf(firstIndex),
    lastTerm: termOf(lastIndex),
    firstRevision: firstIndex,
    lastRevision: lastIndex,
    firstWallMs: START_MS + firstIndex * 1000,
    lastWallMs: START_MS + lastIndex * 1000,
    stateDigest: undefined,
    previousId: previous.id,
    previousHash: previous.hash,
    ...options,
  };
}

/** A new term every 50 entries. */
export function termOf(index: number): number {
  return 1 + Math.floor(index / 50);
}

export function rowsOf(count: number): Row[] {
  return Array.from({ length: count }, (_, number) => ({
    key: Buffer.from(`key-${String(number).padStart(8, "0")}`),
    value: Buffer.from(`value of ${number}`),
  }));
}

export function entriesOf(firstIndex: number, lastIndex: number): Entry[] {
  return Array.from({ length: lastIndex - firstIndex + 1 }, (_, number) => {
    const index = firstIndex + number;
    return { index, term: termOf(index), bytes: Buffer.from(`entry ${index}`) };
  });
}

/** A whole snapshot. */
export function snapshotBytes(header: SnapshotHeader, rows: readonly Row[]): Promise<Buffer> {
  return collect(writeSnapshot(header, [rows]).stream);
}

/** A whole segment. */
export function segmentBytes(header: SegmentHeader, entries: readonly Entry[]): Promise<Buffer> {
  return collect(writeSegment(header, [entries]).stream);
}

export async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) {
    // A copy: the writer must not assume that a reader has used the bytes before it continues.
    parts.push(Uint8Array.from(part));
  }
  return Buffer.concat(parts);
}

/** All records of batches. */
export async function flatten<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const records: T[] = [];
  for await (const batch of batches) {
    records.push(...batch);
  }
  return records;
}

/** The bytes as a stream of chunks of this size. */
export async function* chunked(bytes: Uint8Array, size = bytes.length): AsyncGenerator<Uint8Array, void, undefined> {
  for (let offset = 0; offset < bytes.length; offset += size) {
    yield bytes.subarray(offset, offset + size);
  }
}

/** A copy with one bit flipped. */
export function flipped(bytes: Uint8Array, position: number, bit = 0): Buffer {
  const copy = Buffer.from(bytes);
  copy[position] = (copy[position] as number) ^ (1 << bit);
  return copy;
}
