/** Who may use a port, and for what: the part in which the public port and the admin port differ. */

import type { Need, Principal } from "../../state/index.ts";

export interface CallerAccess<Caller extends { readonly principal: Principal }> {
  /** Who is asking, given all values of the metadata `authorization`. Raises what is wrong with them. */
  authenticate(authorization: readonly string[], deadlineMs: number): Caller | Promise<Caller>;
  /** Raises the refusal unless the caller may do what is needed; returns a promise if that takes a read barrier. */
  authorize(caller: Caller, need: Need | null, deadlineMs: number): undefined | Promise<void>;
  /** The same decision at once, on the applied state alone. */
  recheck(caller: Caller, need: Need | null): void;
}
