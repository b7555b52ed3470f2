/** Disk usage of a data directory, and the free space. */

import { type Dirent, readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { RESERVE_FILE } from "./reserve-file.ts";

interface Usage {
  readonly usedBytes: number;
  readonly freeBytes: number;
}

/**
 * Bytes of the files below the directory, without the reserve file, and bytes that this user may still write on its
 * file system.
 */
export function usageOf(directory: string): Usage {
  const { bavail, bsize } = statfsSync(directory);
  const reserve = statSync(join(directory, RESERVE_FILE), { throwIfNoEntry: false })?.size ?? 0;
  return { usedBytes: Math.max(0, bytesBelow(directory) - reserve), freeBytes: bavail * bsize };
}

function bytesBelow(directory: string): number {
  let bytes = 0;
  for (const entry of entriesOf(directory)) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      bytes += bytesBelow(path);
    } else {
      // Compactions may remove files at any moment.
      bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    }
  }
  return bytes;
}

/** A replaced or abandoned state directory may be removed at any moment. */
function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return [];
    }
    throw error;
  }
}
