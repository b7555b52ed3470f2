/**
 * Pages of keys in a history: a page is the state of all keys in its range at one revision. The history gets one read
 * for each key that any client used: the keys of the page were found, the others were absent, all at the revision of
 * the page. The witness check then finds whether such a revision exists.
 */

import type { KeyContent, RecordedOperation } from "./history.ts";

/** A page that the service returned. */
export interface RecordedPage {
  readonly client: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly prefix: string;
  /** The page begins after this key; null = at the first one with the prefix. */
  readonly after: string | null;
  readonly sizeMax: number;
  readonly items: readonly (KeyContent & { readonly key: string })[];
  /** Whether more keys follow the last one. */
  readonly hasMore: boolean;
  readonly revision: number;
}

/** Returns the operations, with the reads that stand for the pages. */
export function withPages(
  operations: readonly RecordedOperation[],
  pages: readonly RecordedPage[],
): readonly RecordedOperation[] {
  const keys = new Set(operations.map(({ operation }) => operation.key));
  let id = operations.reduce((max, operation) => Math.max(max, operation.id), -1);
  const reads = pages.flatMap((page) => {
    const items = new Map(page.items.map((item) => [item.key, item]));
    const covered = new Set([...keys].filter((key) => isCovered(page, key))).union(items);
    return [...covered].map((key): RecordedOperation => {
      id++;
      const { client, startMs, endMs, revision } = page;
      const item = items.get(key);
      const content = item === undefined ? null : contentOf(item);
      const answer =
        content === null ? { kind: "absent" as const, revision } : { kind: "found" as const, ...content, revision };
      return { id, client, operation: { kind: "get", key }, startMs, endMs, outcome: { kind: "ok", answer } };
    });
  });
  return [...operations, ...reads];
}

/** What is wrong with a page by itself, in a few words; null if nothing is. UTF-8 bytes order the keys. */
export function contradictionOfPage({ prefix, after, sizeMax, items, hasMore }: RecordedPage): string | null {
  if (items.length > sizeMax) {
    return `it has ${items.length} keys, more than ${sizeMax}`;
  }
  if (items.length === 0 && hasMore) {
    return "it is empty, but more keys follow";
  }
  let last = after;
  for (const { key } of items) {
    if (!key.startsWith(prefix)) {
      return `${key} does not begin with ${prefix}`;
    }
    if (last !== null && compareKeys(last, key) >= 0) {
      return `${key} comes after ${last}`;
    }
    last = key;
  }
  return null;
}

function isCovered({ prefix, after, items, hasMore }: RecordedPage, key: string): boolean {
  if (!key.startsWith(prefix)) {
    return false;
  }
  const last = items.at(-1)?.key;
  const isBehindStart = after === null || compareKeys(key, after) > 0;
  const isBeforeEnd = !hasMore || (last !== undefined && compareKeys(key, last) <= 0);
  return isBehindStart && isBeforeEnd;
}

function compareKeys(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function contentOf({ value, createRevision, modRevision, version }: KeyContent): KeyContent {
  return { value, createRevision, modRevision, version };
}
