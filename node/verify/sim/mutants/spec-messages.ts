/** What a process that runs tests and its parent send to each other. */

/** Which tests of spec files run: those whose titles contain the text or match the expression, or all. */
export interface TestFilter {
  readonly grep?: string;
  readonly pattern?: string;
}

/** The tests to run. */
export interface SpecOrder {
  /** The name of the mutant in place; null = none. */
  readonly mutant: string | null;
  /** From the root of the repository. */
  readonly files: readonly string[];
  readonly filter: TestFilter;
}

/** The result of a run. */
export type SpecReport =
  | { readonly kind: "passed" }
  /** The first failed test, and the first line of the reason. */
  | { readonly kind: "failed"; readonly file: string; readonly title: string; readonly rule: string }
  /** Something went wrong, but no test has said what, or no test ran. */
  | { readonly kind: "doubtful"; readonly why: string };

/** For each order the report, and then that the process takes another one. */
export type SpecAnswer = { readonly report: SpecReport } | { readonly isReady: true };
