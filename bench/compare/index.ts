export { UnfairError } from "./fairness.ts";
export { type CompareOptions, compareCommand } from "./options.ts";
export { runCompare } from "./run.ts";
