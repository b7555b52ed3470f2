/** Makes a test of each scenario. */

import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { Driver, readScenarios } from "../driver/index.ts";
import { runScenario } from "./runner.ts";

const FOLDER = fileURLToPath(new URL("..", import.meta.url));

/** Declares the tests of these subjects, which share one cluster. */
export function describeScenarios(...subjects: readonly string[]): void {
  const scenarios = readScenarios(FOLDER).filter(({ subject }) => subjects.includes(subject));

  describe(`the SDK for TypeScript, as scenarios describe it: ${subjects.join(", ")}`, () => {
    let driver: Driver;

    before(async () => {
      driver = await Driver.start(scenarios, process.env.QUOIN_BEHAVIOUR_RESULTS);
    });

    after(() => driver.close());

    for (const { name, title } of scenarios) {
      it(`${name}: ${title}`, async () => {
        const { verdict, message } = await runScenario(driver.url, name);
        expect(verdict, message).to.equal("passed");
      });
    }
  });
}
