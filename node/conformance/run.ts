/** Runs tables at a cluster: every entry through every member, several at a time. */

import { NotApplicable, Place, type Table, type Target, Visit } from "./harness/index.ts";

/** Entries mostly wait; with more at a time the members would only answer more slowly. */
const ENTRIES_AT_A_TIME = 12;

export type Outcome = "passed" | "failed" | "skipped";

/** One entry at one member. */
export interface Trial {
  readonly table: Table;
  readonly title: string;
  /** Position among the target's endpoints, from 0. */
  readonly member: number;
}

export interface Result {
  readonly trial: Trial;
  readonly outcome: Outcome;
  /** Why it failed or was skipped. */
  readonly error: Error | null;
}

/** All trials for this number of members, in the order of the tables. */
export function trialsOf(tables: readonly Table[], members: number): readonly Trial[] {
  return tables.flatMap((table) =>
    Object.keys(table.entries).flatMap((title) =>
      Array.from({ length: members }, (_, member) => ({ table, title, member })),
    ),
  );
}

/**
 * Runs the trials and reports each result as it comes. Rejects only if the run itself cannot begin or end, or the
 * cluster is lost. Then trials in progress are not reported.
 *
 * @param lost rejects if the cluster is lost
 */
export async function run(
  target: Target,
  trials: readonly Trial[],
  onResult: (result: Result) => void,
  lost: Promise<never> = new Promise(() => undefined),
): Promise<void> {
  const visit = new Visit(target);
  let isLost = false;
  lost.catch(() => {
    isLost = true;
  });
  const tell = (result: Result): void => {
    if (!isLost) {
      onResult(result);
    }
  };
  try {
    await Promise.race([runAll(visit, trials, tell, () => isLost), lost]);
  } finally {
    if (isLost) {
      visit.close();
    } else {
      await Promise.race([visit.end(), lost]);
    }
  }
}

async function runAll(
  visit: Visit,
  trials: readonly Trial[],
  onResult: (result: Result) => void,
  isOver: () => boolean,
): Promise<void> {
  await visit.begin();
  const numbered = [...trials.entries()];
  const alone = numbered.filter(([, { table }]) => table.alone);
  const together = numbered.filter(([, { table }]) => !table.alone);
  for (const [some, atATime] of [
    [together, ENTRIES_AT_A_TIME],
    [alone, 1],
  ] as const) {
    const queue = some.values();
    const work = async (): Promise<void> => {
      for (const [number, trial] of queue) {
        if (isOver()) {
          return;
        }
        onResult(await attempt(visit, trial, number));
      }
    };
    await Promise.all(Array.from({ length: atATime }, work));
  }
}

/** Never rejects: a trial that cannot clean up has failed, and the others continue. */
async function attempt(visit: Visit, trial: Trial, number: number): Promise<Result> {
  const place = new Place(visit, trial.member, number);
  const error = await errorOf(() => trial.table.entries[trial.title]?.(place));
  const errorAtEnd = await errorOf(() => place.leave());
  if (errorAtEnd !== null && (error === null || error instanceof NotApplicable)) {
    const failed = new Error(`the entry could not clean up: ${errorAtEnd.message}`, {
      cause: errorAtEnd,
    });
    return { trial, outcome: "failed", error: failed };
  }
  if (error === null) {
    return { trial, outcome: "passed", error: null };
  }
  return { trial, outcome: error instanceof NotApplicable ? "skipped" : "failed", error };
}

/** The error that the action throws; null if it does not. */
async function errorOf(action: () => Promise<void> | undefined): Promise<Error | null> {
  try {
    await action();
    return null;
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
}
