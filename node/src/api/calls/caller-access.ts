/** Authentication and authorisation of callers: the public port and the admin port implement it differently. */

import type { Principal, RequiredAccess } from "../../state/index.ts";

export interface CallerAccess<Caller extends { readonly principal: Principal }> {
  /** Returns the caller, from all values of the metadata `authorization`. Throws if they are not valid. */
  authenticate(authorization: readonly string[], deadlineMs: number): Caller | Promise<Caller>;
  /**
   * Throws the refusal unless the caller has the access that is needed. Returns a promise if it needs a read barrier.
   */
  authorize(caller: Caller, required: RequiredAccess | null, deadlineMs: number): undefined | Promise<void>;
  /** Makes the same decision at once, from the applied state only. */
  recheck(caller: Caller, required: RequiredAccess | null): void;
}
