/** Runs tables at a cluster: every entry through every member, several at a time. */

import { NotApplicable, type Protocol, type Table, type Target, TestContext, TestRun } from "./harness/index.ts";

/** Entries mostly wait; with more at a time the members would only answer more slowly. */
const ENTRIES_AT_A_TIME = 12;

export type Outcome = "passed" | "failed" | "skipped";

/** One entry at one member. */
export interface TestCase {
  readonly table: Table;
  readonly title: string;
  /** Position among the target's endpoints, from 0. */
  readonly member: number;
  /** How the entry calls the operations. */
  readonly protocol: Protocol;
}

export interface Result {
  readonly testCase: TestCase;
  readonly outcome: Outcome;
  /** Why it failed or was skipped. */
  readonly error: Error | null;
}

/** All trials for this number of members, in the order of the tables. */
export function testCasesOf(
  tables: readonly Table[],
  members: number,
  protocol: Protocol = "grpc",
): readonly TestCase[] {
  return tables.flatMap((table) =>
    Object.keys(table.entries).flatMap((title) =>
      Array.from({ length: members }, (_, member) => ({ table, title, member, protocol })),
    ),
  );
}

/**
 * Runs the trials, one protocol after the other, and reports each result as it comes. Rejects only if the run itself
 * cannot begin or end, or the cluster is lost. Then trials in progress are not reported.
 *
 * @param lost rejects if the cluster is lost
 */
export async function run(
  target: Target,
  testCases: readonly TestCase[],
  onResult: (result: Result) => void,
  lost: Promise<never> = new Promise(() => undefined),
): Promise<void> {
  for (const [protocol, some] of Map.groupBy(testCases, (testCase) => testCase.protocol)) {
    await runBy(protocol, target, some, onResult, lost);
  }
}

async function runBy(
  protocol: Protocol,
  target: Target,
  testCases: readonly TestCase[],
  onResult: (result: Result) => void,
  lost: Promise<never>,
): Promise<void> {
  const testRun = new TestRun(target, protocol);
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
    await Promise.race([runAll(testRun, testCases, tell, () => isLost), lost]);
  } finally {
    if (isLost) {
      testRun.close();
    } else {
      await Promise.race([testRun.end(), lost]);
    }
  }
}

async function runAll(
  testRun: TestRun,
  testCases: readonly TestCase[],
  onResult: (result: Result) => void,
  isOver: () => boolean,
): Promise<void> {
  await testRun.begin();
  const numbered = [...testCases.entries()];
  const alone = numbered.filter(([, { table }]) => table.alone);
  const together = numbered.filter(([, { table }]) => !table.alone);
  for (const [some, atATime] of [
    [together, ENTRIES_AT_A_TIME],
    [alone, 1],
  ] as const) {
    const queue = some.values();
    const work = async (): Promise<void> => {
      for (const [number, testCase] of queue) {
        if (isOver()) {
          return;
        }
        onResult(await attempt(testRun, testCase, number));
      }
    };
    await Promise.all(Array.from({ length: atATime }, work));
  }
}

/** Never rejects: a trial that cannot clean up has failed, and the others continue. */
async function attempt(testRun: TestRun, testCase: TestCase, number: number): Promise<Result> {
  const context = new TestContext(testRun, testCase.member, number);
  const error = await errorOf(() => testCase.table.entries[testCase.title]?.(context));
  const errorAtEnd = await errorOf(() => context.leave());
  if (errorAtEnd !== null && (error === null || error instanceof NotApplicable)) {
    const failed = new Error(`the entry could not clean up: ${errorAtEnd.message}`, {
      cause: errorAtEnd,
    });
    return { testCase, outcome: "failed", error: failed };
  }
  if (error === null) {
    return { testCase, outcome: "passed", error: null };
  }
  return { testCase, outcome: error instanceof NotApplicable ? "skipped" : "failed", error };
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
