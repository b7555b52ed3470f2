/**
 * Broken invariants: states that correct code cannot reach, whatever input it receives.
 *
 * The program never catches an InvariantViolation to continue: the process prints it and ends. Continuing from a state
 * that the rules exclude is how acknowledged writes get lost. Bad input from outside is an ordinary error instead.
 */

/** A rule that must always hold is broken. Ends the process with exit code 70. */
export class InvariantViolation extends Error {
  readonly rule: string;
  readonly details: string;

  /**
   * @param rule the rule in words, the same at every place that checks it
   * @param details the values that broke it
   */
  constructor(rule: string, details = "") {
    super(details === "" ? rule : `${rule}: ${details}`);
    this.name = "InvariantViolation";
    this.rule = rule;
    this.details = details;
  }
}

/** Throws an InvariantViolation unless the condition holds. Only then does it build the details. */
export function invariant(condition: boolean, rule: string, details?: () => string): asserts condition {
  if (!condition) {
    throw new InvariantViolation(rule, details === undefined ? "" : details());
  }
}

/** Asserts that a term, index, revision or sequence is a whole number from 0 to 2^53 − 1, and returns it. */
export function safeCount(value: number, name: string): number {
  invariant(Number.isSafeInteger(value) && value >= 0, "counts are whole numbers from 0 to 2^53 − 1", () => {
    return `${name} = ${value}`;
  });
  return value;
}
