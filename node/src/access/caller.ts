/** The caller, from a verified token. */

import type { Principal } from "../state/index.ts";
import type { Claims } from "./claims.ts";

export interface Caller {
  /** The identity in commands; apply checks it again. */
  readonly principal: Principal;
  /** The upper bound of what the caller may do. */
  readonly claims: Claims;
}

/** Returns the caller of a token with these claims. */
export function callerOf(claims: Claims): Caller {
  const { subject, apiKeyId, passwordVersion } = claims;
  return { principal: { subject, apiKeyId, ...(passwordVersion === 0 ? {} : { passwordVersion }) }, claims };
}
