/** What clients did with memory regions, and which answers they got. Bytes are hexadecimal digits. */

import type { RecordedOperation } from "./history.ts";

/** A client's request. Each allocation has a region name of its own. */
export type RegionOperation = { readonly region: string } & (
  | { readonly kind: "allocate"; readonly sizeBytes: number }
  | { readonly kind: "write"; readonly offset: number; readonly data: string; readonly expectedVersion?: number }
  | { readonly kind: "resize"; readonly sizeBytes: number; readonly expectedVersion?: number }
  | { readonly kind: "free"; readonly expectedVersion?: number }
  | { readonly kind: "read"; readonly offset: number; readonly length: number }
);

/** The service's answer, with the version of the region at that time. */
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
  /** The access lies outside the region. Nothing was read or changed. */
  | { readonly kind: "out-of-bounds" }
  /** The region has another version than the expected one. Nothing was changed. */
  | { readonly kind: "version-mismatch" }
  /** The region does not exist any more. */
  | { readonly kind: "absent" }
  /** The guard was refused. Nothing was changed. */
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
