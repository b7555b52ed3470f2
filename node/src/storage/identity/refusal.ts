/**
 * Why a data directory is not served: messages for people, with the next step. A refusal changes nothing in the
 * directory.
 */

import { evidenceDirectory } from "../files/index.ts";

/**
 * MEMBER_DAMAGED: acknowledged data is lost, and no other member has it. MEMBER_REFUSED: the data is not this member's,
 * is not understood, or does not show how the member voted. MEMBER_REMOVED: the member was removed from its cluster.
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

/** Acknowledged data is lost, and no other member has it. */
export function lostForGood(directory: string, problem: string): Refused {
  return new Refused(
    "MEMBER_DAMAGED",
    `${directory} has lost acknowledged data: ${problem}. It is not served, and nothing in it was deleted; the files ` +
      `of its stores as they were found are in it, those of the state in \`${evidenceDirectory("state-…")}\`. Copy it aside, find out ` +
      "what damaged the disk, and restore the directory from a copy that is whole",
  );
}

/** The member may have voted or acknowledged entries without a trace here, so it could vote twice in a term. */
export function votesUnknown(directory: string, problem: string): Refused {
  return new Refused(
    "MEMBER_REFUSED",
    `${directory} may have lost votes: ${problem}. It is not served, and nothing in it was deleted. Remove the member ` +
      "from its cluster, and add it again with an empty directory; the others have its data",
  );
}

export function mirrorMissing(directory: string): Refused {
  return new Refused(
    "MEMBER_REFUSED",
    `the mirror of ${directory} is missing or unreadable, so nothing shows whether votes or acknowledged ` +
      "writes are lost. Restore the file `fence`. Otherwise, start the only member of a cluster with " +
      "--accept-missing-fence, which uses what the log has; remove a member of several from its cluster, and add it again " +
      "with an empty directory",
  );
}

/** The identity file is corrupt. */
export function identityDamaged(file: string, problem: string): Refused {
  return new Refused(
    "MEMBER_REFUSED",
    `the file ${file} is damaged: it ${problem}. The directory is not served, and nothing in it was changed. Restore that ` +
      "file from a copy. Or remove a member of several from its cluster, and add it again with an empty directory: it gets " +
      "its data from the others",
  );
}

/** Another release wrote the directory, and this one does not understand its data. */
export function otherFormat(directory: string, format: number, known: readonly [number, number]): Refused {
  return new Refused(
    "MEMBER_REFUSED",
    `${directory} holds data of format ${format}, and this release reads formats ${known[0]} and ${known[1]}. It is left as it is; ` +
      "start the member with the release that wrote it, or name an empty directory",
  );
}

/** This member itself retired the directory for good. */
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
