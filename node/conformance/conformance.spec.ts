/**
 * The whole suite at a cluster of three that is started for it, every entry through every member. Entries run several
 * at a time; each test waits for the result of its own.
 */

import { NotApplicable } from "./harness/index.ts";
import { ClusterLostError, LocalConformanceCluster } from "./local-cluster.ts";
import { type Result, run, type Trial, trialsOf } from "./run.ts";
import { tables } from "./tables/index.ts";

const MEMBERS = 3;
const START_LIMIT_MS = 300_000; // Three processes that start on cores which other tests keep busy.

describe("the contract, at a cluster of three members", function () {
  this.timeout(START_LIMIT_MS);
  const trials = trialsOf(tables, MEMBERS);
  const results = new Map(trials.map((trial) => [trial, Promise.withResolvers<Result>()] as const));
  let cluster: LocalConformanceCluster;
  let finished: Promise<void>;

  before(async () => {
    cluster = await LocalConformanceCluster.start();
    const take = (result: Result): void => results.get(result.trial)?.resolve(result);
    finished = run(await cluster.target(), trials, take, cluster.lost);
    finished.catch((error: unknown) => {
      if (error instanceof ClusterLostError) {
        console.error(`${error.message}\n${error.evidence}`);
      }
      for (const { reject, promise } of results.values()) {
        // Who asks for it is told; nobody need ask.
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
      for (const trial of trials.filter((each) => each.table === table)) {
        it(titleOf(trial), async function () {
          const result = await results.get(trial)?.promise;
          if (result?.error instanceof NotApplicable) {
            this.skip();
          } else if (result?.error !== null) {
            throw result?.error ?? new Error("there is no result");
          }
        });
      }
    });
  }
});

function titleOf({ title, member }: Trial): string {
  return `${title} (member ${member + 1})`;
}
