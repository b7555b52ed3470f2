/** What the answer of one operation counts as: the work that its caller is charged with. */

import { NO_USAGE, type UsageCounts } from "./accounts/index.ts";
import type { ClientOperation, HttpOperation } from "./command.ts";
import { type AppendEventsResult, CoordinationError, type Result } from "./core/index.ts";

const REFUSED: UsageCounts = { ...NO_USAGE, requests: 1 };
const KEY_OPERATION: UsageCounts = { ...REFUSED, kvOperations: 1 };
const LOCK_OPERATION: UsageCounts = { ...REFUSED, lockOperations: 1 };
const MEMORY_OPERATION: UsageCounts = { ...REFUSED, memoryOperations: 1 };

/** The counts of a mutation, given its answer. */
export function usageOf(operation: ClientOperation | HttpOperation, answer: Result | CoordinationError): UsageCounts {
  if (answer instanceof CoordinationError) {
    return REFUSED;
  }
  switch (operation.kind) {
    case "put-key":
    case "delete-key":
    case "compare-and-swap":
      return KEY_OPERATION;
    case "create-lock":
    case "acquire-lock":
    case "release-lock":
    case "force-release-lock":
      return LOCK_OPERATION;
    case "allocate-memory":
    case "resize-memory":
    case "free-memory":
    case "write-memory":
      return MEMORY_OPERATION;
    case "append-events":
      return answer.kind === "append-events" ? appendUsage(answer) : REFUSED;
    default:
      return REFUSED;
  }
}

/** A batch is one request; events that were already stored are not counted again. */
function appendUsage({ appendedEvents, appendedBytes }: AppendEventsResult): UsageCounts {
  return { ...REFUSED, appendRequests: 1, eventsAppended: appendedEvents, bytesAppended: appendedBytes };
}
