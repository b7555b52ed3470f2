/**
 * Listings of namespaces, for a caller who may see all of them or only some.
 *
 * A page reads a bounded number of rows (S44), so it may have fewer namespaces than the caller wants, and more may
 * follow.
 */

import { type Namespace, readNamespace, scanNamespaceRecords } from "./namespaces.ts";
import type { StateReader } from "./store.ts";

/** Which namespaces a page lists. */
export interface NamespaceSelection {
  /** Prefix of the names; empty = all. */
  readonly prefix: string;
  /** The only names that the caller may see; null = any. They need not exist. */
  readonly names: readonly string[] | null;
  readonly entriesMax: number;
  /** Whether the caller may see the namespace. Called once for each namespace that the page reads. */
  isVisible(name: string): boolean;
}

export interface ListedNamespace extends Namespace {
  readonly name: string;
}

export interface NamespacePage {
  readonly namespaces: readonly ListedNamespace[];
  /** The name after which the next page starts; null = this is the last page. */
  readonly next: string | null;
}

/** Namespaces that one page reads. */
const VISITED_MAX = 1_000;

/** Namespaces above `after` if given, in the order of their names. */
export function listNamespaces(
  reader: StateReader,
  { prefix, names, entriesMax, isVisible }: NamespaceSelection,
  after: string | null,
): NamespacePage {
  const namespaces: ListedNamespace[] = [];
  let visited = 0;
  let last: string | null = null;
  let isFull = false;
  const visit = (name: string, record: Namespace | undefined): boolean => {
    if (visited >= VISITED_MAX || namespaces.length >= entriesMax) {
      isFull = true;
      return false;
    }
    visited++;
    last = name;
    if (record !== undefined && isVisible(name)) {
      namespaces.push({ name, ...record });
    }
    return true;
  };
  if (names === null) {
    scanNamespaceRecords(reader, prefix, after, visit);
  } else {
    const wanted = names.filter((name) => name.startsWith(prefix) && (after === null || name > after)).sort();
    wanted.every((name) => visit(name, readNamespace(reader, name)));
  }
  return { namespaces, next: isFull ? last : null };
}
