/** Reads every byte of a chain and reports whether it can be restored, and if not, up to which index. */

import type { DecryptOptions } from "../envelope/index.ts";
import { BackupError } from "../format/index.ts";
import { type BackupStore, StoreFailure } from "../store/index.ts";
import { type ChainObjects, type ChainPart, readChain } from "./chain-reader.ts";

/** Progress of a verification. */
export interface VerificationProgress {
  /** The object that is being read. */
  readonly name: string;
  /** Objects read completely. */
  readonly objects: number;
  readonly objectsTotal: number;
  /** Rows and entries read so far, including those of the current object. */
  readonly rows: number;
  readonly entries: number;
}

export interface ChainVerification {
  /** The first problem, which names the object; undefined if the chain is intact. */
  readonly problem: BackupError | undefined;
  /** Objects that are intact. */
  readonly objects: number;
  readonly rows: number;
  readonly entries: number;
  /** The chain can be restored up to this index; undefined if its snapshot is not usable. */
  readonly lastIndex: number | undefined;
}

export interface VerifyOptions extends DecryptOptions {
  readonly onProgress?: (progress: VerificationProgress) => void;
}

/**
 * Returns a BackupError about the chain as the result, and raises none but `unsupported-node`, which is not about it.
 * Raises a StoreFailure, except for a missing object, which is a problem of the chain.
 */
export async function verifyChain(
  store: Pick<BackupStore, "get">,
  chain: ChainObjects,
  { onProgress, ...options }: VerifyOptions,
): Promise<ChainVerification> {
  const verified: VerifiedParts = { objects: 0, rows: 0, entries: 0, lastIndex: undefined };
  const names = [chain.snapshot.name, ...chain.segments.map(({ name }) => name)];
  try {
    for await (const part of readChain(store, chain, options)) {
      const report = (rows: number, entries: number): void => {
        onProgress?.({
          name: part.name,
          objects: verified.objects,
          objectsTotal: names.length,
          rows: verified.rows + rows,
          entries: verified.entries + entries,
        });
      };
      await verifyPart(part, verified, report);
    }
    return { ...verified, problem: undefined };
  } catch (error) {
    return { ...verified, problem: problemOf(error, names[verified.objects]) };
  }
}

interface VerifiedParts {
  objects: number;
  rows: number;
  entries: number;
  lastIndex: number | undefined;
}

/** Reads the object to its end, and only then counts its content. */
async function verifyPart(
  part: ChainPart,
  verified: VerifiedParts,
  report: (rows: number, entries: number) => void,
): Promise<void> {
  report(0, 0);
  if (part.kind === "snapshot") {
    verified.rows += await countOf(part.rows, (rows) => report(rows, 0));
    verified.lastIndex = part.header.index;
  } else {
    verified.entries += await countOf(part.entries, (entries) => report(0, entries));
    verified.lastIndex = part.header.lastIndex;
  }
  verified.objects += 1;
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
  if (error instanceof BackupError && error.code !== "unsupported-node") {
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
