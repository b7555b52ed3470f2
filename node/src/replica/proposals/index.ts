export { PendingReads, type ReadDone } from "./pending-reads.ts";
export { Proposals } from "./proposals.ts";
export { deadlineError, leaderWaitUntil } from "./waiters.ts";
