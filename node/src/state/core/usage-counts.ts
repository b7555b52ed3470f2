/** What the work of a caller is counted as. */

/** Counters. `requests` counts answers, including refusals; the others count work that was done. */
export interface UsageCounts {
  readonly requests: number;
  readonly appendRequests: number;
  readonly eventsAppended: number;
  readonly bytesAppended: number;
  readonly kvOperations: number;
  readonly lockOperations: number;
  readonly memoryOperations: number;
}

export const NO_USAGE: UsageCounts = {
  requests: 0,
  appendRequests: 0,
  eventsAppended: 0,
  bytesAppended: 0,
  kvOperations: 0,
  lockOperations: 0,
  memoryOperations: 0,
};

/** A request that has done no other work; also one that was refused. */
export const ONE_REQUEST: UsageCounts = { ...NO_USAGE, requests: 1 };
export const KEY_OPERATION: UsageCounts = { ...ONE_REQUEST, kvOperations: 1 };
export const LOCK_OPERATION: UsageCounts = { ...ONE_REQUEST, lockOperations: 1 };
export const MEMORY_OPERATION: UsageCounts = { ...ONE_REQUEST, memoryOperations: 1 };
