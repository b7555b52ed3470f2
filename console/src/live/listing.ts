/**
 * A long listing: its first page stays current, and a person loads further pages on demand. Members may have millions of
 * entries, so nothing ever reads a whole listing.
 */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError, type ReadOptions } from "../api/index.ts";
import { type Loaded, usePolled } from "./polled.ts";

/** One page of a listing. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** Where the next page begins; empty = this is the last page. */
  readonly next: string;
}

export interface Listing<Item, Page extends ListPage<Item>> {
  /** The first page. */
  readonly loaded: Loaded<Page>;
  /** The entries of all pages that are loaded. */
  readonly items: readonly Item[];
  readonly hasMore: boolean;
  /** Why the last attempt to load more failed. */
  readonly problem: string | undefined;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
  /** Begins again with the first page. */
  readonly refresh: () => void;
}

export interface ListingOptions<Item, Page> {
  readonly load: (next: string, options: ReadOptions) => Promise<Page>;
  readonly intervalMs: number;
  /** What `load` depends on. When it changes, the listing begins again. */
  readonly dependencies: readonly unknown[];
  /**
   * Identifies an entry. With it, the first page stays current also when more pages are loaded; without, the listing
   * stays as it is then.
   */
  readonly keyOf?: (item: Item) => string;
}

/** The further pages that a person has loaded. */
interface Further<Item> {
  readonly items: readonly Item[];
  readonly next: string;
}

export function useListing<Item, Page extends ListPage<Item> = ListPage<Item>>({
  load,
  intervalMs,
  dependencies,
  keyOf,
}: ListingOptions<Item, Page>): Listing<Item, Page> {
  const further = useSignal<Further<Item> | null>(null);
  const problem = useSignal<string | undefined>(undefined);
  const isLoadingMore = useSignal(false);
  const polled = usePolled(
    (signal, isBackground) => load("", { signal, isBackground }),
    intervalMs,
    dependencies,
    () => keyOf === undefined && further.peek() !== null,
  );
  useEffect(() => {
    further.value = null;
    problem.value = undefined;
  }, [...dependencies]);
  const { value: first } = polled.loaded.value;
  const next = further.value?.next ?? first?.next ?? "";
  const loadMore = async (): Promise<void> => {
    isLoadingMore.value = true;
    problem.value = undefined;
    try {
      const page = await load(next, {});
      further.value = { items: [...(further.peek()?.items ?? []), ...page.items], next: page.next };
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
      problem.value = error.message;
    } finally {
      isLoadingMore.value = false;
    }
  };
  return {
    loaded: polled.loaded.value,
    items: joined(first?.items ?? [], further.value?.items ?? [], keyOf),
    hasMore: next !== "",
    problem: problem.value,
    isLoadingMore: isLoadingMore.value,
    loadMore: () => void loadMore(),
    refresh: () => {
      further.value = null;
      void polled.refresh();
    },
  };
}

/** An entry may have moved from a further page into the first one. */
function joined<Item>(
  first: readonly Item[],
  further: readonly Item[],
  keyOf: ((item: Item) => string) | undefined,
): readonly Item[] {
  if (keyOf === undefined || further.length === 0) {
    return [...first, ...further];
  }
  const keys = new Set(first.map(keyOf));
  return [...first, ...further.filter((item) => !keys.has(keyOf(item)))];
}
