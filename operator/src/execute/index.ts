/** Turns plans into writes. */
export { type Attempt, FailureHistory } from "./failure-history.ts";
export { isStale, PlanExecution, type PlanExecutionOptions } from "./plan-execution.ts";
export { doStep, isRefusedEviction, RestorePending } from "./step.ts";
export { doUpkeep, targetOf } from "./upkeep.ts";
