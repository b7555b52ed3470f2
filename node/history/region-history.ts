/** What clients did with memory regions, and what they were told. Bytes are written as hexadecimal digits. */

import type { RecordedOperation } from "./history.ts";

/** What a client asked for. The name of a region is that of one allocation. */
export type RegionOperation = { readonly region: string } & (
  | { readonly kind: "allocate"; readonly sizeBytes: number }
  | { readonly kind: "write"; readonly offset: number; readonly data: string; readonly expectedVersion?: number }
  | { readonly kind: "resize"; readonly sizeBytes: number; readonly expectedVersion?: number }
  | { readonly kind: "free"; readonly expectedVersion?: number }
  | { readonly kind: "read"; readonly offset: number; readonly length: number }
);

/** What the service answered, with the version that the region has then. */
export type RegionAnswer =
  | { readonly kind: "allocated"; readonly version: number; readonly revision: number }
  | { readonly kind: "written"; readonly version: number; readonly revision: number }
  | {
      readonly kind: "resized";
      readonly version: number;
      readonly previousSizeBytes: number;
      readonly revision: number;
    }
  | { readonly kind: "freed"; readonly revision: number }
  | {
      readonly kind: "read";
      readonly data: string;
      readonly version: number;
      readonly sizeBytes: number;
      readonly revision: number;
    }
  /** It lies outside of the region, and nothing was read or changed. */
  | { readonly kind: "out-of-bounds" }
  /** The region has another version than was expected, and nothing was changed. */
  | { readonly kind: "version-mismatch" }
  /** There is no such region any more. */
  | { readonly kind: "absent" }
  /** Its guard was refused, and nothing was changed. */
  | { readonly kind: "fenced" };

export type RegionRecord = RecordedOperation<RegionOperation, RegionAnswer>;

/** The answer; null if there was none. */
export function regionAnswerOf({ outcome }: RegionRecord): RegionAnswer | null {
  return outcome.kind === "ok" ? outcome.answer : null;
}

/** The operation in a few words. */
export function describeRegionRecord({ id, client, operation }: RegionRecord): string {
  switch (operation.kind) {
    case "read":
      return `#${id} read of ${operation.length} bytes at ${operation.offset} of ${client}`;
    case "write":
      return `#${id} write of ${operation.data.length / 2} bytes at ${operation.offset} of ${client}`;
    case "allocate":
    case "resize":
      return `#${id} ${operation.kind} to ${operation.sizeBytes} bytes of ${client}`;
    case "free":
      return `#${id} free of ${client}`;
  }
}
