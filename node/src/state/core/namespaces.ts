/** Namespaces: created once, never removed; every other named object belongs to one. */

import { invariant } from "../../primitives/index.ts";
import { CoordinationError } from "./coordination-error.ts";
import { decodeText, RecordReader, RecordWriter } from "./record.ts";
import { namespaceKey, namespaceRow, prefixEnd, tableRange, withNul } from "./rows.ts";
import type { StateReader } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/** The form of a namespace's name. */
export const NAMESPACE_PATTERN = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/;

export interface Namespace {
  readonly createdAtMs: number;
  readonly createRevision: number;
}

/** The namespace of this name. */
export function readNamespace(reader: StateReader, namespace: string): Namespace | undefined {
  const { key, name } = namespaceKey(namespace);
  const bytes = reader.get(key, name);
  return bytes === undefined ? undefined : decodeNamespace(bytes);
}

/** Raises NAMESPACE_NOT_FOUND unless the namespace exists. */
export function requireNamespace(reader: StateReader, namespace: string): void {
  const { key, name } = namespaceKey(namespace);
  if (reader.get(key, name) === undefined) {
    throw new CoordinationError("NAMESPACE_NOT_FOUND", `namespace "${namespace}" does not exist`);
  }
}

/** Calls `visit` for the names of the namespaces from this one on, in their order, until it returns false. */
export function scanNamespaces(reader: StateReader, from: string, visit: (namespace: string) => boolean): void {
  reader.scan(namespaceRow(from), tableRange("namespace").to, ({ key }) => visit(decodeText(key.subarray(1))));
}

/**
 * Calls `visit` for the namespaces with the prefix, above the name `after` if given, in the order of their names, until
 * it returns false.
 */
export function scanNamespaceRecords(
  reader: StateReader,
  prefix: string,
  after: string | null,
  visit: (name: string, namespace: Namespace) => boolean,
): void {
  const first = namespaceRow(prefix);
  const from = after === null ? first : withNul(namespaceRow(after));
  reader.scan(from, prefixEnd(first) as Uint8Array, ({ key, value }) =>
    visit(decodeText(key.subarray(1)), decodeNamespace(value)),
  );
}

export function writeNamespace(transaction: Transaction, name: string, namespace: Namespace): void {
  // A NUL byte ends the namespace in row keys. If a name contained NUL, two keys could share a row.
  invariant(!name.includes("\0"), "namespaces contain no NUL byte");
  const writer = new RecordWriter().uint53(namespace.createdAtMs).uint53(namespace.createRevision);
  transaction.put(namespaceRow(name), writer.finish());
}

function decodeNamespace(bytes: Uint8Array): Namespace {
  const fields = new RecordReader(bytes);
  const namespace = { createdAtMs: fields.uint53(), createRevision: fields.uint53() };
  fields.end();
  return namespace;
}
