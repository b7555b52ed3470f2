/** The status of a cluster, for its users. */
export type { Surroundings } from "./assessment.ts";
export type { BackupView } from "./backup.ts";
export { clipped, type Problem, timeText } from "./messages.ts";
export { isWorthWriting, statusOf, statusOfFailedReconcile } from "./status.ts";
