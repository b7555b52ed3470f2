/** Work on many things, a few at a time. */

/** As many requests as keep a member busy without filling its limits for one user. */
const IN_FLIGHT = 16;

/**
 * Does the work for each item, in their order, up to 16 at a time. After a failure, or when the signal aborts, it begins
 * nothing more.
 *
 * @throws what the first failed work or the items throw, or the reason of the signal, when no work goes on any more.
 */
export async function forEachOf<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: (item: Item) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  try {
    for await (const item of items) {
      signal.throwIfAborted();
      const task: Promise<void> = work(item)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(task));
      running.add(task);
      if (running.size >= IN_FLIGHT) {
        await Promise.race(running);
      }
      if (failures.length > 0) {
        break;
      }
    }
  } finally {
    await Promise.all(running);
  }
  if (failures.length > 0) {
    throw failures[0];
  }
}
