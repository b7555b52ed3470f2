/** Everything that the console asks of a member. Each function throws an ApiError. */

export * from "./accounts.ts";
export { ApiError } from "./api-error.ts";
export * from "./backups.ts";
export * from "./cluster.ts";
export * from "./event-logs.ts";
export type { ServerSentEvent } from "./event-reader.ts";
export { followEvents } from "./event-stream.ts";
export * from "./key-value.ts";
export * from "./locks.ts";
export * from "./memory.ts";
export { orProblem } from "./or-problem.ts";
export { isReachable } from "./request.ts";
export * from "./sessions.ts";
