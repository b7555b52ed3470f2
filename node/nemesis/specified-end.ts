/** How processes of members may end, as their manual tells those who start them. */

import type { ProcessEnd } from "../test/harness/index.ts";

/** A disk or the store on it has failed; a sync that has failed is not tried again (P32). */
export const STORE_FAILED = 71;
/** What a process says that kills itself because a write does not come back: it cannot end by itself then (P60). */
export const STUCK = "exit 72";

/** In order, or because the member was removed. */
const ORDINARY_CODES: ReadonlySet<number> = new Set([0, 74]);
/** Because the disk or the data is not right. */
const EXCUSED_CODES: ReadonlySet<number> = new Set([STORE_FAILED, 73]);

/** What was done to a member that may end its process. */
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
    // Else by a system without memory, or by somebody else: nobody can tell what such a run shows.
    return isKilled || (signal === "SIGKILL" && (mayBeKilled || (isExcused && output.includes(STUCK))));
  }
  return ORDINARY_CODES.has(code) || (isExcused && EXCUSED_CODES.has(code));
}
