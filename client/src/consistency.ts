/** How fresh the answer of a read must be. */

import { ReadConsistency } from "@quoin/proto";
import type { CallOptions } from "./operation.ts";

/**
 * How fresh an answer must be: `linearizable` sees every change acknowledged before the read began; `serializable` sees what
 * the answering member has applied, which may be up to 1 s old, and all of them cost a member one round to others a second.
 * What the caller may do is decided by the same state: for up to 1 s after a revocation, `serializable` reads with a revoked token may still be answered.
 */
export type Consistency = "linearizable" | "serializable";

/** Options of a read. */
export interface ReadOptions extends CallOptions {
  /** Default `linearizable`. */
  readonly consistency?: Consistency | undefined;
}

/** The field of a request. */
export function consistencyField(consistency: Consistency | undefined): ReadConsistency {
  return consistency === "serializable" ? ReadConsistency.SERIALIZABLE : ReadConsistency.LINEARIZABLE;
}
