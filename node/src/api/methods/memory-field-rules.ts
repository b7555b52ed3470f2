/** Field rules of memory requests; see field-rules for the refusals. */

import { badRequestField, CoordinationError } from "../../state/index.ts";
import { requireSize } from "./field-rules.ts";

/** Maximum bytes of one write or read: the whole message stays below the 4 MiB limit of gRPC. */
const DATA_BYTES_MAX = 4 * 1024 * 1024 - 64 * 1024;
/** RFC 9562 §4: the text form, in any case. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The 16 bytes of the id of a region, or of another thing that has a UUID. */
export function regionIdField(regionId: string, field = "region_id"): Uint8Array {
  if (!UUID.test(regionId)) {
    throw badRequestField(field, "must be a UUID, as returned when it was created");
  }
  return Uint8Array.fromHex(regionId.replaceAll("-", ""));
}

/** The id of a region in answers: a UUID in lower case. */
export function regionIdText(regionId: Uint8Array): string {
  const digits = regionId.toHex();
  const parts = [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)];
  return parts.join("-");
}

/** Bytes of a region, at least 1. The upper limits are quotas, which the state machine checks. */
export function sizeField(sizeBytes: bigint): number {
  if (sizeBytes < 1n) {
    throw badRequestField("size_bytes", "must be at least 1", 1);
  }
  return Number(sizeBytes);
}

/** The offset of the first byte. The state machine compares it with the region's size. */
export function offsetField(offset: bigint): number {
  if (offset < 0n) {
    throw badRequestField("offset", "must be 0 or above", 0);
  }
  return Number(offset);
}

/** The bytes of a write, up to DATA_BYTES_MAX. A write of no bytes is valid (S34). */
export function dataField(data: Uint8Array): Uint8Array {
  return requireSize("data", data, DATA_BYTES_MAX);
}

/** The number of bytes that a read returns, up to `max`. */
export function lengthField(length: bigint, max = DATA_BYTES_MAX): number {
  if (length < 0n) {
    throw badRequestField("length", `must be 0 to ${max}`, max);
  }
  if (length > max) {
    throw new CoordinationError("TOO_LARGE", `field length is ${length}; at most ${max} are allowed`, {
      details: new Map([
        ["field", "length"],
        ["limit", String(max)],
      ]),
    });
  }
  return Number(length);
}

/**
 * The version that a region must have, undefined = any. No region has version 0. The decoder has checked that it is
 * safe.
 */
export function expectedVersionField(version: bigint | undefined): number | undefined {
  if (version === undefined) {
    return undefined;
  }
  if (version < 0n) {
    throw badRequestField("expected_version", "must be a version, which is above 0");
  }
  return Number(version);
}
