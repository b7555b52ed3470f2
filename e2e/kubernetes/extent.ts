/** Whether all scenarios are asked for, and not only those that every change is tried with. */
export const IS_ALL = process.env.QUOIN_E2E_ALL === "1";

/** A suite that is skipped, and what comes before its tests, too, unless all are asked for. */
export function describeWithAll(title: string, body: (this: Mocha.Suite) => void): void {
  (IS_ALL ? describe : describe.skip)(`${title} (with --all)`, body);
}

/** The same for a test. */
export function itWithAll(title: string, body: Mocha.AsyncFunc): void {
  (IS_ALL ? it : it.skip)(`${title} (with --all)`, body);
}
