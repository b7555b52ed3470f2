/** How processes of members may end, according to their documentation. */

import type { ProcessEnd } from "../../test/harness/index.ts";

/** Exit code after a disk or the store on it has failed; a failed sync is not retried (P32). */
export const STORE_FAILED = 71;
/** Output of a process that kills itself because a write does not return: it cannot exit then (P60). */
export const STUCK = "exit 72";

/** Exit codes of an orderly end, and of a removed member. */
const ORDINARY_CODES: ReadonlySet<number> = new Set([0, 74]);
/** Exit codes for a problem with the disk or the data. */
const EXCUSED_CODES: ReadonlySet<number> = new Set([STORE_FAILED, 73]);

/** What was done to a member and may end its process. */
export interface Circumstances {
  /** Its disk refused writes, or its data was damaged. */
  readonly isExcused: boolean;
  /** It got too little memory. */
  readonly mayBeKilled: boolean;
}

/** Whether a process may end like this. */
export function isSpecified(
  { code, signal, isKilled, output }: Pick<ProcessEnd, "code" | "signal" | "isKilled" | "output">,
  { isExcused, mayBeKilled }: Circumstances,
): boolean {
  if (code === null) {
    // Otherwise the system or another program has killed it, and such a run proves nothing.
    return isKilled || (signal === "SIGKILL" && (mayBeKilled || (isExcused && output.includes(STUCK))));
  }
  return ORDINARY_CODES.has(code) || (isExcused && EXCUSED_CODES.has(code));
}
