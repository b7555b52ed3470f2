/**
 * Namespaces: every other named object belongs to one.
 *
 * A deletion begins with a mark in the record of the namespace. From then on no request finds the namespace, while later
 * steps erase what is in it, and its record last.
 */

import { withNul } from "../../bytes/index.ts";
import { invariant } from "../../primitives/index.ts";
import { CoordinationError } from "./coordination-error.ts";
import { decodeText, RecordReader, RecordWriter } from "./record.ts";
import { namespaceKey, namespaceRow, prefixRange, tableRange } from "./rows.ts";
import type { StateReader } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/** The form of a namespace's name. */
export const NAMESPACE_PATTERN = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/;

export interface Namespace {
  readonly createdAtMs: number;
  readonly createRevision: number;
  /** Revision of the request for its deletion, which is under way; 0 = none. */
  readonly deleteRevision: number;
}

/** Length of the record of a namespace that is not being deleted. */
const UNMARKED_BYTES = 2 * 8;

/** The namespace of this name, which may be one that is being deleted. */
export function readNamespace(reader: StateReader, namespace: string): Namespace | undefined {
  const { key, hash } = namespaceKey(namespace);
  const bytes = reader.get(key, hash);
  return bytes === undefined ? undefined : decodeNamespace(bytes);
}

/** Raises NAMESPACE_NOT_FOUND unless the namespace exists and is not being deleted. */
export function requireNamespace(reader: StateReader, namespace: string): void {
  const refusal = namespaceRefusalOf(reader, namespace);
  if (refusal !== null) {
    throw refusal;
  }
}

/** The same refusal without raising it; null if the namespace is there. */
export function namespaceRefusalOf(reader: StateReader, namespace: string): CoordinationError | null {
  const { key, hash } = namespaceKey(namespace);
  const bytes = reader.get(key, hash);
  if (bytes?.length === UNMARKED_BYTES) {
    return null;
  }
  const problem = bytes === undefined ? "does not exist" : "is being deleted";
  return new CoordinationError("NAMESPACE_NOT_FOUND", `namespace "${namespace}" ${problem}`);
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
  const { from: first, to } = prefixRange(namespaceRow(prefix));
  const from = after === null ? first : withNul(namespaceRow(after));
  reader.scan(from, to, ({ key, value }) => visit(decodeText(key.subarray(1)), decodeNamespace(value)));
}

export function writeNamespace(transaction: Transaction, name: string, namespace: Namespace): void {
  // A NUL byte ends the namespace in row keys. If a name contained NUL, two keys could share a row.
  invariant(!name.includes("\0"), "namespaces contain no NUL byte");
  const writer = new RecordWriter().uint53(namespace.createdAtMs).uint53(namespace.createRevision);
  if (namespace.deleteRevision > 0) {
    writer.uint53(namespace.deleteRevision);
  }
  transaction.put(namespaceRow(name), writer.finish());
}

export function eraseNamespaceRecord(transaction: Transaction, name: string): void {
  transaction.delete(namespaceRow(name));
}

function decodeNamespace(bytes: Uint8Array): Namespace {
  const fields = new RecordReader(bytes);
  const namespace = {
    createdAtMs: fields.uint53(),
    createRevision: fields.uint53(),
    deleteRevision: bytes.length === UNMARKED_BYTES ? 0 : fields.uint53(),
  };
  fields.end();
  return namespace;
}
