/**
 * Mutants against their recorded killers, as specs. `npm run mutants` does the same, on both cores. Here two files share
 * them, one after the other each, and other layers use the rest of the processor.
 */

import { expect } from "chai";
import { checkAll } from "./check-all.ts";
import type { Mutant } from "./mutant.ts";
import type { MutantResult } from "./mutant-checker.ts";
import { readRecord } from "./record.ts";

/** All of them take minutes, and a test may wait for those before it. */
const LIMIT_MS = 900_000;

/** Describes a spec for each of these mutants. */
export function describeKilled(title: string, mutants: readonly Mutant[]): void {
  describe(title, function () {
    this.timeout(LIMIT_MS);
    const results = new Map(mutants.map(({ name }) => [name, Promise.withResolvers<MutantResult>()]));
    let finished: Promise<unknown>;

    before(() => {
      const onResult = (result: MutantResult): void => results.get(result.mutant.name)?.resolve(result);
      finished = checkAll(mutants, readRecord(), { atATime: 1, onResult });
      finished.catch((error: unknown) => {
        for (const { promise, reject } of results.values()) {
          // A test that waits for it fails. If none waits, this handles the rejection.
          promise.catch(() => undefined);
          reject(error);
        }
      });
    });

    after(() => finished);

    for (const { name, pitfall } of mutants) {
      it(`catches ${name} (${pitfall})`, async () => {
        const result = await results.get(name)?.promise;
        expect(result?.isKilled, `${result?.killer}: ${result?.line}`).to.equal(true);
      });
    }
  });
}
