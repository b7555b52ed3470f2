/** What users are told of a cluster. */
export type { Problem, Surroundings } from "./assessment.ts";
export { isWorthWriting, statusOf, statusOfFailedPass } from "./status.ts";
