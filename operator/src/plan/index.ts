/** The planner: the operator's next action, as a pure function of an observation. */
export type * from "../generated/coordination-cluster.ts";
export { Facts, Membership, votersOf } from "./facts.ts";
export { restoreWaitBlocker } from "./founding-rules.ts";
export type * from "./observed.ts";
export { obstacleOf, sentenceOf } from "./obstacles.ts";
export { outcomeOf } from "./outcome.ts";
export type * from "./plan.ts";
export type { Failure } from "./plan.ts";
export { plan } from "./planner.ts";
export { budgetBlocker } from "./pod-rules.ts";
export { quorumOf } from "./quorum.ts";
export { quorumLossOf } from "./quorum-loss.ts";
export type * from "./recovery.ts";
export { isRecovering, NO_RECOVERY, RECOVER_QUORUM } from "./recovery.ts";
export { hasVolume } from "./storage-class-rule.ts";
export { compareVersions } from "./version.ts";
