/**
 * The join token: a secret that all members of a cluster share, and that guards the port where there is no TLS.
 *
 * Several are accepted while one replaces another; the first is the one that this member presents. Comparing takes the
 * same time whatever is presented, and tells nothing about where a wrong token differs.
 */

import { createHash, timingSafeEqual } from "node:crypto";

/** Whether a presented token is one of the accepted ones. Without any, none is accepted; nor is an empty one ever. */
export function isAccepted(presented: string, accepted: readonly string[]): boolean {
  const digest = sha256(presented);
  let matches = 0;
  for (const token of accepted) {
    // All are compared, so that the time does not tell which one matched.
    matches += timingSafeEqual(digest, sha256(token)) ? 1 : 0;
  }
  return matches > 0 && presented !== "";
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
