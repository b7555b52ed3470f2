/** The required freshness of a read. */

import { ReadConsistency } from "@quoin/proto";
import { callRules, oneOf } from "../options/index.ts";
import type { CallOptions } from "./operation.ts";

/**
 * The required freshness of an answer. `linearizable` sees every change acknowledged before the read began.
 * `serializable` sees the state applied by the answering member, which may be up to 1 s old; all of these reads
 * together cost a member one round to the others per second. The same state decides about the caller's rights: for up
 * to 1 s after a revocation, a `serializable` read with a revoked token may still succeed.
 */
export type Consistency = "linearizable" | "serializable";

/** Options of a read. */
export interface ReadOptions extends CallOptions {
  /** Default `linearizable`. */
  readonly consistency?: Consistency | undefined;
}

/** The rules for the options of a read. */
export const readRules = { ...callRules, consistency: oneOf("linearizable", "serializable") };

/** The field of a request. */
export function consistencyField(consistency: Consistency | undefined): ReadConsistency {
  return consistency === "serializable" ? ReadConsistency.SERIALIZABLE : ReadConsistency.LINEARIZABLE;
}
