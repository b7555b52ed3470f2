/** Runs asynchronous work on many items, a bounded number at a time. */

/**
 * @param items what to process, started in this order
 * @param limit how many run at the same time, at least 1
 * @returns the results, in the order of the items; rejects with the first error, while running work continues
 */
export async function mapWithLimit<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const runQueue = async (): Promise<void> => {
    for (const [index, item] of queue) {
      results[index] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: limit }, runQueue));
  return results;
}
