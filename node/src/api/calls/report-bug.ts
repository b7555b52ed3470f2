/** What a handler has thrown although it should not. */

import { InvariantViolation } from "../../primitives/index.ts";
import { endProcess } from "./end-process.ts";
import type { ErrorLog } from "./error-log.ts";
import { status } from "./grpc-status.ts";
import { plainStatus } from "./status.ts";

/** The answer to a call whose handler has a bug. */
export const UNKNOWN_ERROR = plainStatus(status.UNKNOWN, "Unknown error");

/** Logs it. A broken invariant ends the process. */
export function reportBug(error: unknown, log: ErrorLog, method: string): void {
  if (error instanceof InvariantViolation) {
    endProcess(error);
  } else {
    log.error({ err: error, method }, "a request failed because of a bug");
  }
}
