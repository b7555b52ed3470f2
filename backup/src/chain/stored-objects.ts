/**
 * Objects in a store: writes them under their names, and opens them with decryption and a check against their names.
 */

import { type DecryptOptions, decrypt, encrypt, type KeyRing } from "../envelope/index.ts";
import {
  BackupError,
  type Batches,
  type Entry,
  namedError,
  type ObjectReading,
  type ObjectSummary,
  type Origin,
  type Row,
  readSegment,
  readSnapshot,
  type SegmentHeader,
  type SnapshotHeader,
  writeSegment,
  writeSnapshot,
} from "../format/index.ts";
import type { BackupStore } from "../store/index.ts";
import { type SegmentName, type SnapshotName, segmentName, snapshotName } from "./object-name.ts";

/** An object written to a store. */
export interface PutObject extends ObjectSummary {
  readonly name: string;
}

/**
 * Writes a snapshot to the store, encrypted if there are keys. If it raises a BackupError or StoreFailure, the store
 * has no object.
 */
export async function putSnapshot(
  store: BackupStore,
  header: SnapshotHeader,
  rows: Batches<Row>,
  keyRing: KeyRing | undefined,
): Promise<PutObject> {
  const writing = writeSnapshot(header, rows);
  const name = snapshotName(header);
  await store.put(name, encrypt(writing.stream, keyRing?.first));
  return { name, ...writing.summary() };
}

/** The same for a segment. */
export async function putSegment(
  store: BackupStore,
  header: SegmentHeader,
  entries: Batches<Entry>,
  keyRing: KeyRing | undefined,
): Promise<PutObject> {
  const writing = writeSegment(header, entries);
  const name = segmentName(header);
  await store.put(name, encrypt(writing.stream, keyRing?.first));
  return { name, ...writing.summary() };
}

/**
 * Opens a snapshot, and compares its header with its name: foreign-cluster if it is from another cluster, misplaced if
 * it is another object. All errors about its content name it, also errors from its batches.
 */
export function openSnapshot(
  store: Pick<BackupStore, "get">,
  name: SnapshotName,
  options: DecryptOptions,
): Promise<ObjectReading<SnapshotHeader, Row>> {
  return openObject(store, name, options, readSnapshot, snapshotName);
}

/** The same for a segment. */
export function openSegment(
  store: Pick<BackupStore, "get">,
  name: SegmentName,
  options: DecryptOptions,
): Promise<ObjectReading<SegmentHeader, Entry>> {
  return openObject(store, name, options, readSegment, segmentName);
}

async function openObject<Header extends Origin, T>(
  store: Pick<BackupStore, "get">,
  { name, clusterId }: SnapshotName | SegmentName,
  options: DecryptOptions,
  read: (stream: AsyncIterable<Uint8Array>) => Promise<ObjectReading<Header, T>>,
  nameOf: (header: Header) => string,
): Promise<ObjectReading<Header, T>> {
  const stored = await store.get(name);
  try {
    const { stream } = await decrypt(stored, options);
    const reading = await read(stream);
    const problem = placeProblem(reading.header, clusterId, name, nameOf(reading.header));
    if (problem !== undefined) {
      await reading.close();
      throw problem;
    }
    return { ...reading, batches: namedBatches(reading.batches, name) };
  } catch (error) {
    throw namedError(error, name);
  }
}

function placeProblem(header: Origin, clusterId: string, name: string, nameByHeader: string): BackupError | undefined {
  if (header.clusterId !== clusterId) {
    return new BackupError(
      "foreign-cluster",
      `it belongs to cluster ${header.clusterId} (${header.clusterName}), not to ${clusterId}. It was copied there: remove it`,
    );
  }
  if (nameByHeader !== name) {
    return new BackupError(
      "misplaced",
      `it is another object, whose name is ${nameByHeader}. Objects were swapped or renamed: give it that name`,
    );
  }
  return undefined;
}

async function* namedBatches<T>(
  batches: AsyncGenerator<T[], void, undefined>,
  name: string,
): AsyncGenerator<T[], void, undefined> {
  try {
    yield* batches;
  } catch (error) {
    throw namedError(error, name);
  }
}
