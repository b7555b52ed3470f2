/**
 * Ids that apply makes: UUIDs of the cluster's id and of a number that is given out once, so that no two things of a
 * kind ever have the same, on any member and after any failover. They are no secrets.
 */

import { invariant, writeUint53 } from "../raft/index.ts";
import { readCluster } from "./cluster.ts";
import type { StateReader } from "./store.ts";

/** What is named; ids of different kinds differ. */
const KINDS = { region: 0, log: 1 } as const;

const UUID_BYTES = 16;
const UUID_DIGITS = 2 * UUID_BYTES;
/** RFC 9562 §5.8: version 8, of whose bits the maker decides, and the variant of all its UUIDs. */
const UUID_VERSION_OFFSET = 6;
const UUID_VERSION = 0x80;
const UUID_VARIANT_OFFSET = 8;
const UUID_VARIANT = 0x80;

/**
 * A UUID of version 8: the first bits of the cluster's id, so that a client of another cluster does not find a thing of
 * this one by chance, then the kind and the number. Ids of a kind order by their numbers.
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
