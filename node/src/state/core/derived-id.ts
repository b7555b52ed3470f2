/**
 * Ids that apply makes: UUIDs from the cluster's id and a number that is used once. So no two objects of a kind ever
 * have the same id, on any member and after any failover. The ids are not secret.
 */

import { invariant, writeUint53 } from "../../primitives/index.ts";
import { readCluster } from "./cluster.ts";
import type { StateReader } from "./store.ts";

/** What the id names; ids of different kinds differ. */
const KINDS = { region: 0, log: 1 } as const;

const UUID_BYTES = 16;
const UUID_DIGITS = 2 * UUID_BYTES;
/** RFC 9562 §5.8: version 8, whose other bits the implementation defines, and the variant of all its UUIDs. */
const UUID_VERSION_OFFSET = 6;
const UUID_VERSION = 0x80;
const UUID_VARIANT_OFFSET = 8;
const UUID_VARIANT = 0x80;

/**
 * A UUID of version 8: the first bits of the cluster's id, then the kind and the number. The first bits prevent a
 * client of another cluster from finding an object of this one by chance. Ids of a kind sort by their numbers.
 */
export function derivedId(reader: StateReader, kind: keyof typeof KINDS, number: number): Uint8Array {
  const clusterId = readCluster(reader)?.clusterId.replaceAll("-", "") ?? "";
  invariant(clusterId.length === UUID_DIGITS, "the id of a cluster is a UUID");
  const id = Uint8Array.fromHex(clusterId);
  writeUint53(id, UUID_VARIANT_OFFSET, number);
  id[UUID_VERSION_OFFSET] = UUID_VERSION | ((id[UUID_VERSION_OFFSET] as number) & 0x0f);
  id[UUID_VARIANT_OFFSET] = UUID_VARIANT | KINDS[kind];
  return id;
}

/** The id in the text form of UUIDs, in lower case. */
export function derivedIdText(id: Uint8Array): string {
  const digits = id.toHex();
  return [[0, 8], [8, 12], [12, 16], [16, 20], [20]].map(([from, to]) => digits.slice(from, to)).join("-");
}
