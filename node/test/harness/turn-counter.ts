/** Counts turns of the event loop, for specs of work that yields turns to other work. */

/** Does the work; returns its result, and how many turns of the event loop began meanwhile. */
export async function countTurns<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly turns: number }> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) {
      setImmediate(count);
    }
  };
  setImmediate(count);
  try {
    const result = await work();
    return { result, turns };
  } finally {
    isOver = true;
  }
}
