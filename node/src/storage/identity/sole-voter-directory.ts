/**
 * Checks, by the files beside the stores, that this is the sole voter of its cluster: only then may one process change
 * replicated data alone.
 */

import { join } from "node:path";
import { MIRROR_FILE, readMirror } from "../files/index.ts";
import { readIdentity } from "./identity.ts";

/**
 * Why this directory does not belong to a sole voter, by its identity and its mirror; null if they do not object.
 * Opening the directory reports all other problems. Changes nothing, and creates no directory. Raises Refused, or a
 * StoreError if a file cannot be read.
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
  const isOthersData = identity.phase === "member" && readMirror(join(directory, MIRROR_FILE))?.isSoleVoter === false;
  return isOthersData ? notSoleVoter(directory) : null;
}

/** The message for a member of a cluster with other voters. */
export function notSoleVoter(directory: string): string {
  return (
    `the member of ${directory} is not the only voter of its cluster, so it must not change the cluster's data alone. ` +
    "Start a majority of the voters, and use `quoinctl owner reset` with an admin token"
  );
}
