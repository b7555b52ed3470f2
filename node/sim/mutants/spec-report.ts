/** What the process that runs tests tells of them, as a message to its parent. */
export type SpecReport =
  | { readonly kind: "passed" }
  /** The first test that failed, and the first line of why. */
  | { readonly kind: "failed"; readonly file: string; readonly title: string; readonly rule: string }
  /** Something went wrong, but no test has said what, or none ran. */
  | { readonly kind: "doubtful"; readonly why: string };
