/** Commands about memory regions: client operations, and the step by which the cluster erases pages. */

import type { Guard } from "../locks/index.ts";

declare module "../core/results.ts" {
  interface StoredResults {
    readonly "allocate-memory": AllocateMemoryResult;
    readonly "resize-memory": ResizeMemoryResult;
    readonly "free-memory": FreeMemoryResult;
    readonly "write-memory": WriteMemoryResult;
    readonly "read-memory": ReadMemoryResult;
  }
}

/** Bytes of a region's id, which is a UUID. */
export const REGION_ID_BYTES = 16;

export interface AllocateMemoryResult {
  readonly kind: "allocate-memory";
  readonly regionId: Uint8Array;
  readonly sizeBytes: number;
  readonly version: number;
  readonly revision: number;
}

export interface ResizeMemoryResult {
  readonly kind: "resize-memory";
  readonly sizeBytes: number;
  readonly previousSizeBytes: number;
  readonly version: number;
  readonly revision: number;
}

export interface FreeMemoryResult {
  readonly kind: "free-memory";
  readonly revision: number;
}

export interface WriteMemoryResult {
  readonly kind: "write-memory";
  readonly bytesWritten: number;
  readonly version: number;
  readonly revision: number;
}

export interface ReadMemoryResult {
  readonly kind: "read-memory";
  readonly data: Uint8Array;
  readonly sizeBytes: number;
  readonly version: number;
  readonly revision: number;
}

export interface AllocateMemory {
  readonly kind: "allocate-memory";
  readonly namespace: string;
  /** At least 1. */
  readonly sizeBytes: number;
  /** For people; may be empty. */
  readonly label: string;
}

/** Fields of every mutation of a region. */
export interface RegionMutation {
  readonly namespace: string;
  /** 16 bytes. */
  readonly regionId: Uint8Array;
  /** The version that the region must have; undefined = any. */
  readonly expectedVersion: number | undefined;
  /** The hold that must be live, if any. */
  readonly guard?: Guard;
}

export interface ResizeMemory extends RegionMutation {
  readonly kind: "resize-memory";
  /** At least 1. */
  readonly sizeBytes: number;
}

export interface FreeMemory extends RegionMutation {
  readonly kind: "free-memory";
}

export interface WriteMemory extends RegionMutation {
  readonly kind: "write-memory";
  /** First byte to overwrite. */
  readonly offset: number;
  readonly data: Uint8Array;
}

/** Reads bytes of a region within a transaction. */
export interface ReadMemory {
  readonly kind: "read-memory";
  readonly namespace: string;
  readonly regionId: Uint8Array;
  readonly offset: number;
  readonly length: number;
}

/** Erases pages of freed and shrunk regions: at most this many rows. */
export interface EraseMemory {
  readonly kind: "erase-memory";
  readonly rowsMax: number;
}
