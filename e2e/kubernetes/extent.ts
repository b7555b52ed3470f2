/** Whether to run all scenarios, or only those that run for every change. */
export const IS_ALL = process.env.QUOIN_E2E_ALL === "1";

/** A suite that is skipped, including its hooks, unless all scenarios run. */
export function describeWithAll(title: string, body: (this: Mocha.Suite) => void): void {
  (IS_ALL ? describe : describe.skip)(`${title} (with --all)`, body);
}

/** The same for a test. */
export function itWithAll(title: string, body: Mocha.AsyncFunc): void {
  (IS_ALL ? it : it.skip)(`${title} (with --all)`, body);
}
