/**
 * Why a data directory is not served: the words that a person reads, and what is to be done. Refusing changes nothing in
 * the directory.
 */

import { keptDirectory } from "./kept-files.ts";

/**
 * MEMBER_DAMAGED: acknowledged data is lost, and nobody else has it. MEMBER_REFUSED: the data is not this member's, is
 * not understood, or does not show how the member voted. MEMBER_REMOVED: the member was removed from its cluster.
 */
export type RefusedState = "MEMBER_DAMAGED" | "MEMBER_REFUSED" | "MEMBER_REMOVED";

/** Ends the start. */
export class Refused extends Error {
  readonly state: RefusedState;

  constructor(state: RefusedState, message: string) {
    super(message);
    this.state = state;
  }
}

/** Acknowledged data is lost that no other member has. */
export function lostForGood(directory: string, problem: string): Refused {
  return new Refused(
    "MEMBER_DAMAGED",
    `${directory} has lost acknowledged data: ${problem}. It is not served, and nothing in it was deleted; the files ` +
      `of its stores as they were found are in ${keptDirectory("raft")} and beside it. Copy it aside, find out ` +
      "what damaged the disk, and restore the directory from a copy that is whole",
  );
}

/** The member may have voted, or acknowledged, what nothing here shows: it could vote twice in a term. */
export function votesUnknown(directory: string, problem: string): Refused {
  return new Refused(
    "MEMBER_REFUSED",
    `${directory} may have lost votes: ${problem}. It is not served, and nothing in it was deleted. Remove the member ` +
      "from its cluster, and add it again with an empty directory; the others have its data",
  );
}

export function fenceMissing(directory: string): Refused {
  return new Refused(
    "MEMBER_REFUSED",
    `the fence of ${directory} is missing or unreadable, so nothing shows whether votes or acknowledged ` +
      "writes are lost. Restore the file `fence`; for the only member of a cluster, --accept-missing-fence goes on " +
      "with what the log holds; a member of several is removed from its cluster and added again with an empty directory",
  );
}

/** The file that says whose directory it is has changed by itself. */
export function identityDamaged(file: string, problem: string): Refused {
  return new Refused(
    "MEMBER_REFUSED",
    `the file ${file} is damaged: it ${problem}. The directory is not served, and nothing in it was changed. Restore that ` +
      "file from a copy; a member of several can instead be removed from its cluster and added again with an empty " +
      "directory, and takes its data from the others",
  );
}

/** Another release wrote the directory, and this one does not understand its data. */
export function otherFormat(directory: string, format: number, known: number): Refused {
  return new Refused(
    "MEMBER_REFUSED",
    `${directory} holds data of format ${format}, and this release reads format ${known} alone. It is left as it is; ` +
      "start the member with the release that wrote it, or name an empty directory",
  );
}

/** The directory was given up for good, by this member itself. */
export function retired(directory: string, phase: "removed" | "refused", reason: string): Refused {
  return phase === "removed"
    ? new Refused(
        "MEMBER_REMOVED",
        `the member of ${directory} was removed from its cluster (${reason}). Its data is left as it is; to use the ` +
          "name again, add it to the cluster and start it with an empty directory",
      )
    : new Refused(
        "MEMBER_REFUSED",
        `${directory} must not be used any more (${reason}). Its data is left as it is; remove the member from its ` +
          "cluster, and add it again with an empty directory",
      );
}
