/**
 * Runs work on many items, two at a time, because the suite is measured on two cores. Results come in the order of the
 * items.
 */
export async function twoAtATime<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const runQueue = async (): Promise<void> => {
    for (const [index, item] of queue) {
      results[index] = await work(item);
    }
  };
  await Promise.all([runQueue(), runQueue()]);
  return results;
}
