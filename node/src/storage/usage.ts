/** How much of the disk a data directory takes, and how much is left. */

import { readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";

interface Usage {
  readonly usedBytes: number;
  readonly freeBytes: number;
}

/** Bytes of the files below the directory, and bytes that this user may still write on its file system. */
export function usageOf(directory: string): Usage {
  const { bavail, bsize } = statfsSync(directory);
  return { usedBytes: bytesBelow(directory), freeBytes: bavail * bsize };
}

function bytesBelow(directory: string): number {
  let bytes = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      bytes += bytesBelow(path);
    } else {
      // Compactions remove files at any moment.
      bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    }
  }
  return bytes;
}
