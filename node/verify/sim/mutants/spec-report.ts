/** The result of tests, as a message from their process to its parent. */
export type SpecReport =
  | { readonly kind: "passed" }
  /** The first failed test, and the first line of the reason. */
  | { readonly kind: "failed"; readonly file: string; readonly title: string; readonly rule: string }
  /** Something went wrong, but no test has said what, or no test ran. */
  | { readonly kind: "doubtful"; readonly why: string };
