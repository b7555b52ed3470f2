/**
 * Every mutant against its recorded killer. `npm run mutants` does the same, on both cores. Here other layers use the
 * second one.
 */

import { expect } from "chai";
import { MUTANTS } from "./catalogue.ts";
import { checkAll } from "./check-all.ts";
import type { MutantResult } from "./mutant-checker.ts";
import { readRecord } from "./record.ts";

/** All of them take minutes, and a test may wait for those before it. */
const LIMIT_MS = 900_000;

describe("the killer in the record", function () {
  this.timeout(LIMIT_MS);
  const results = new Map(MUTANTS.map(({ name }) => [name, Promise.withResolvers<MutantResult>()]));
  let finished: Promise<unknown>;

  before(() => {
    const onResult = (result: MutantResult): void => results.get(result.mutant.name)?.resolve(result);
    finished = checkAll(MUTANTS, readRecord(), { atATime: 1, onResult });
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
