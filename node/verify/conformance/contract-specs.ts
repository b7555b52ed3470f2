/**
 * The whole suite as specs, on a cluster of three that it starts. Several entries run at a time; each spec waits for
 * the result of its entry.
 */

import { NotApplicable, type Table } from "./harness/index.ts";
import { ClusterLostError, LocalConformanceCluster } from "./local-cluster.ts";
import { type Result, run, type TestCase, testCasesOf } from "./run.ts";
import { tables } from "./tables/index.ts";

export const MEMBERS = 3;
const START_LIMIT_MS = 300_000; // Three processes start while other tests keep the cores busy.

/** Every entry once, through one member after the other. */
export function testCasesInTurns(some: readonly Table[]): readonly TestCase[] {
  return testCasesOf(some, 1).map((testCase, at) => ({ ...testCase, member: at % MEMBERS }));
}

/**
 * Describes the trials as specs.
 *
 * @param title of the suite
 * @param environment variables for the processes of the cluster, in addition to those of this process
 */
export function describeContract(
  title: string,
  testCases: readonly TestCase[],
  environment: Readonly<Record<string, string>> = {},
): void {
  describe(title, function () {
    this.timeout(START_LIMIT_MS);
    describeTestCases(testCases, environment);
  });
}

function describeTestCases(testCases: readonly TestCase[], environment: Readonly<Record<string, string>>): void {
  const results = new Map(testCases.map((testCase) => [testCase, Promise.withResolvers<Result>()] as const));
  let cluster: LocalConformanceCluster;
  let finished: Promise<void>;

  before(async () => {
    cluster = await LocalConformanceCluster.start(environment);
    const take = (result: Result): void => results.get(result.testCase)?.resolve(result);
    finished = run(await cluster.target(), testCases, take, cluster.lost);
    finished.catch((error: unknown) => {
      if (error instanceof ClusterLostError) {
        console.error(`${error.message}\n${error.evidence}`);
      }
      for (const { reject, promise } of results.values()) {
        // A spec that waits for it fails. If none waits, this handles the rejection.
        promise.catch(() => undefined);
        reject(error);
      }
    });
  });

  after(async () => {
    try {
      await finished;
    } finally {
      await cluster?.remove();
    }
  });

  for (const table of tables) {
    describe(table.name, () => {
      for (const testCase of testCases.filter((each) => each.table === table)) {
        it(titleOf(testCase), async function () {
          const result = await results.get(testCase)?.promise;
          if (result?.error instanceof NotApplicable) {
            this.skip();
          } else if (result?.error !== null) {
            throw result?.error ?? new Error("there is no result");
          }
        });
      }
    });
  }
}

function titleOf({ title, member, protocol }: TestCase): string {
  return `${title} (member ${member + 1}${protocol === "connect" ? ", over HTTP" : ""})`;
}
