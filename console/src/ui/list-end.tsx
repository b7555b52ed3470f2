/** The end of a listing: how much of it is read, a button for more, and whether it is current. */

import type { JSX } from "preact";
import type { Listing, ListPage } from "../live/index.ts";
import { countText } from "../text/index.ts";
import { Button } from "./button.tsx";
import { LiveState } from "./live-state.tsx";
import { Problem } from "./problem.tsx";

export interface ListEndProps<Item> {
  readonly listing: Listing<Item, ListPage<Item>>;
  /** The word for one entry, and the word for several. */
  readonly words: readonly [one: string, several: string];
}

export function ListEnd<Item>({ listing, words: [one, several] }: ListEndProps<Item>): JSX.Element {
  const { items, hasMore, problem, isLoadingMore, loaded, loadMore, refresh } = listing;
  return (
    <>
      <Problem message={problem} />
      <footer class="list-end">
        <span class="muted">
          {countText(items.length)} {items.length === 1 ? one : several}
          {hasMore ? ", there are more" : ""}
        </span>
        {hasMore && (
          <Button onClick={loadMore} isDisabled={isLoadingMore}>
            Read more
          </Button>
        )}
        <LiveState loaded={loaded} onRefresh={refresh} />
      </footer>
    </>
  );
}
