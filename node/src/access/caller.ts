/** Who is asking, as a verified token says. */

import type { Principal } from "../state/index.ts";
import type { Claims } from "./claims.ts";

export interface Caller {
  /** What commands carry, and what is checked again in apply. */
  readonly principal: Principal;
  /** The most that the token allows. */
  readonly claims: Claims;
}

/** The caller that a token with these claims speaks for. */
export function callerOf(claims: Claims): Caller {
  const { subject, apiKeyId, passwordVersion } = claims;
  return { principal: { subject, apiKeyId, ...(passwordVersion === 0 ? {} : { passwordVersion }) }, claims };
}
