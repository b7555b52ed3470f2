/**
 * The join token: a secret that all members of a cluster share. It protects the port without TLS.
 *
 * A member accepts several tokens while one replaces another, and presents the first. The comparison takes the same
 * time for every presented token, and reveals nothing about where a wrong token differs.
 */

import { createHash, timingSafeEqual } from "node:crypto";

/** Whether a presented token is one of the accepted ones. An empty token never is; without accepted tokens, none is. */
export function isAccepted(presented: string, accepted: readonly string[]): boolean {
  const digest = sha256(presented);
  let matches = 0;
  for (const token of accepted) {
    // Compares all of them, so that the time does not reveal which one matched.
    matches += timingSafeEqual(digest, sha256(token)) ? 1 : 0;
  }
  return matches > 0 && presented !== "";
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
