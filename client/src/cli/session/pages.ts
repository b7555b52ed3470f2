/** Listings that the service gives page by page. */

/** The largest page of the service, for listings that are read to their end. */
export const PAGE_SIZE_MAX = 1_000;

/**
 * The items of all pages, or as many as the limit.
 *
 * @param itemsIn the items of a page.
 * @param limit no page is requested after this many; default: none.
 */
export async function itemsOf<Page, Item>(
  pages: AsyncIterable<Page>,
  itemsIn: (page: Page) => readonly Item[],
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const page of pages) {
    items.push(...itemsIn(page));
    if (items.length >= limit) {
      break;
    }
  }
  return items.slice(0, limit);
}
