/** Whether all scenarios are asked for, and not only those that every change is tried with. */
export const IS_ALL = process.env.QUOIN_E2E_ALL === "1";

/** Skips a test, or those of a suite if it is called before them, unless all are asked for. */
export function onlyWithAll(context: Mocha.Context): void {
  if (!IS_ALL) {
    context.skip();
  }
}
