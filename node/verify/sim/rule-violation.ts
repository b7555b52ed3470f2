/** A rule of the simulated cluster is broken: the run has failed. */
export class RuleViolation extends Error {
  readonly rule: string;
  readonly details: string;

  /** `rule` is the number and the text of the rule, the same at each place that checks it. */
  constructor(rule: string, details: string) {
    super(`${rule}: ${details}`);
    this.name = "RuleViolation";
    this.rule = rule;
    this.details = details;
  }
}

/** Throws a RuleViolation unless the condition holds. Builds the details only then. */
export function must(condition: boolean, rule: string, details: () => string): asserts condition {
  if (!condition) {
    throw new RuleViolation(rule, details());
  }
}
