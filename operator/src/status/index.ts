/** The status of a cluster, for its users. */
export type { Problem, Surroundings } from "./assessment.ts";
export type { BackupView } from "./backup.ts";
export { isWorthWriting, statusOf, statusOfFailedReconcile } from "./status.ts";
