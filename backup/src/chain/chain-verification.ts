/** Reads every byte of a chain and says whether it can be restored, and if not, up to where. */

import type { UnsealOptions } from "../envelope/index.ts";
import { BackupError } from "../format/index.ts";
import { type BackupStore, StoreFailure } from "../store/index.ts";
import { type ChainObjects, type ChainPart, readChain } from "./chain-reader.ts";

/** How far a verification has come. */
export interface VerificationProgress {
  /** The object that is being read. */
  readonly name: string;
  /** Objects that were read to their ends. */
  readonly objects: number;
  readonly objectsTotal: number;
  /** Rows of the snapshot and entries of the segments that were read, also of the object that is not at its end yet. */
  readonly rows: number;
  readonly entries: number;
}

export interface ChainVerification {
  /** What is wrong first; undefined if the chain is whole. It names the object. */
  readonly problem: BackupError | undefined;
  /** Objects that are as they were written. */
  readonly objects: number;
  readonly rows: number;
  readonly entries: number;
  /** The chain can be restored up to this index; undefined if its snapshot cannot be used. */
  readonly lastIndex: number | undefined;
}

export interface VerifyOptions extends UnsealOptions {
  readonly onProgress?: (progress: VerificationProgress) => void;
}

/**
 * Never raises a BackupError: what is wrong with the chain is the result. Raises a StoreFailure, except that a missing object is
 * a problem of the chain.
 */
export async function verifyChain(
  store: Pick<BackupStore, "get">,
  chain: ChainObjects,
  { onProgress, ...options }: VerifyOptions,
): Promise<ChainVerification> {
  const proven: Proven = { objects: 0, rows: 0, entries: 0, lastIndex: undefined };
  const names = [chain.snapshot.name, ...chain.segments.map(({ name }) => name)];
  try {
    for await (const part of readChain(store, chain, options)) {
      const tell = (rows: number, entries: number): void => {
        onProgress?.({
          ...{ name: part.name, objects: proven.objects, objectsTotal: names.length },
          ...{ rows: proven.rows + rows, entries: proven.entries + entries },
        });
      };
      await prove(part, proven, tell);
    }
    return { ...proven, problem: undefined };
  } catch (error) {
    return { ...proven, problem: problemOf(error, names[proven.objects]) };
  }
}

interface Proven {
  objects: number;
  rows: number;
  entries: number;
  lastIndex: number | undefined;
}

/** Reads the object to its end, and only then counts what was in it. */
async function prove(part: ChainPart, proven: Proven, tell: (rows: number, entries: number) => void): Promise<void> {
  tell(0, 0);
  if (part.kind === "snapshot") {
    proven.rows += await countOf(part.rows, (rows) => tell(rows, 0));
    proven.lastIndex = part.header.index;
  } else {
    proven.entries += await countOf(part.entries, (entries) => tell(0, entries));
    proven.lastIndex = part.header.lastIndex;
  }
  proven.objects += 1;
}

async function countOf(batches: AsyncIterable<readonly unknown[]>, onCount: (count: number) => void): Promise<number> {
  let count = 0;
  for await (const { length } of batches) {
    count += length;
    onCount(count);
  }
  return count;
}

function problemOf(error: unknown, name: string | undefined): BackupError {
  if (error instanceof BackupError) {
    return error.of(name);
  }
  if (error instanceof StoreFailure && error.kind === "not-found") {
    return new BackupError("gap", "it is missing in the store. Use another snapshot to restore from", {
      cause: error,
      ...(name === undefined ? {} : { object: name }),
    });
  }
  throw error;
}
