/**
 * All mutants against their recorded killers, as specs. `npm run mutants` does the same, and also runs each killer
 * without its mutant, as the other specs of the suite do.
 */

import { expect } from "chai";
import { MUTANTS } from "./catalogue.ts";
import { checkAll, type MutantResult } from "./mutant-checker.ts";
import { readRecord } from "./record.ts";

/** All of them take minutes, and a test may wait for those before it. */
const LIMIT_MS = 600_000;
/** The suite is measured on two cores, and the few files that run beside it end sooner. */
const AT_A_TIME = 2;

describe("mutants, each against its recorded killer", function () {
  this.timeout(LIMIT_MS);
  const results = new Map(MUTANTS.map(({ name }) => [name, Promise.withResolvers<MutantResult>()]));
  let finished: Promise<unknown>;

  before(() => {
    const onResult = (result: MutantResult): void => results.get(result.mutant.name)?.resolve(result);
    finished = checkAll(MUTANTS, readRecord(), { atATime: AT_A_TIME, isControlled: false, onResult });
    finished.catch((error: unknown) => {
      for (const { promise, reject } of results.values()) {
        // A test that waits for it fails. If none waits, this handles the rejection.
        promise.catch(() => undefined);
        reject(error);
      }
    });
  });

  after(() => finished);

  for (const { name, pitfall } of MUTANTS) {
    it(`catches ${name} (${pitfall})`, async () => {
      const result = await results.get(name)?.promise;
      expect(result?.isKilled, `${result?.killer}: ${result?.line}`).to.equal(true);
    });
  }
});
