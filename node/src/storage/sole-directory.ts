/**
 * Whether the files beside the stores let one process change replicated data alone: only the sole voter of a cluster may.
 */

import { join } from "node:path";
import { FENCE_FILE, readFence } from "./fence.ts";
import { readIdentity } from "./identity.ts";

/**
 * Why this directory is not that of a sole voter, as far as its identity and its fence say; null if they do not object.
 * Whatever else is wrong with the directory, opening it says. Changes nothing, and makes no directory. Raises Refused,
 * or a StoreError if a file cannot be read.
 */
export function objectionToSoleUse(directory: string): string | null {
  const identity = readIdentity(directory);
  if (identity === null) {
    return `${directory} holds no member's data. Name the data directory of the member`;
  }
  if (identity.phase === "empty") {
    return (
      `${directory} belongs to no cluster yet, so it has no owner. Start the member, and found its cluster with an ` +
      "owner, or let it join one"
    );
  }
  const isOthersData = identity.phase === "member" && readFence(join(directory, FENCE_FILE))?.sole === false;
  return isOthersData ? notSoleVoter(directory) : null;
}

/** What to do where others vote. */
export function notSoleVoter(directory: string): string {
  return (
    `the member of ${directory} is not the only voter of its cluster, so it must not change the cluster's data alone. ` +
    "Start a majority of the voters, and use `quoinctl owner reset` with an admin token"
  );
}
