/** The result of an oracle for a history. */

import type { RecordedOperation } from "./history.ts";
import type { KeyState } from "./key-model.ts";

/** An operation that cannot come next, and why. */
export interface Impossible {
  readonly operation: RecordedOperation;
  readonly why: string;
}

/** The part of a history in which a rule is broken. */
export interface Violation {
  /** The rule, in a few words. */
  readonly rule: string;
  /** Several keys if steps have joined them. */
  readonly key: string;
  /** The latest operations that led to the state, in the order in which they were executed. */
  readonly before: readonly RecordedOperation[];
  /** The state in which no further operation fits: that of the key, or of each key. */
  readonly state: KeyState | ReadonlyMap<string, KeyState>;
  readonly impossible: readonly Impossible[];
}

export type Verdict =
  | { readonly kind: "correct" }
  | { readonly kind: "violation"; readonly violation: Violation }
  /** The time for the search ran out. That is a failure: it proves nothing. */
  | { readonly kind: "undecided"; readonly key: string; readonly operations: number };

export const CORRECT: Verdict = { kind: "correct" };
