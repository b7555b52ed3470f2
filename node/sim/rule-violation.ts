/** A rule of the simulated cluster is broken: the run has failed. */
export class RuleViolation extends Error {
  readonly rule: string;
  readonly details: string;

  /** `rule` is the number and the words of the rule, the same wherever it is checked. */
  constructor(rule: string, details: string) {
    super(`${rule}: ${details}`);
    this.name = "RuleViolation";
    this.rule = rule;
    this.details = details;
  }
}

/** Raises a RuleViolation unless the condition holds. The details are built only when it does not. */
export function must(condition: boolean, rule: string, details: () => string): asserts condition {
  if (!condition) {
    throw new RuleViolation(rule, details());
  }
}
