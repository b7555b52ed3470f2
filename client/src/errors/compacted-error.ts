/** The error of a watch whose changes are no longer kept. */

import { QuoinError } from "./quoin-error.ts";

/**
 * Raised if a watch starts or would continue at a revision whose history has been dropped. No change is left out
 * silently: read the current state, and watch from the revision of that answer + 1.
 */
export class CompactedError extends QuoinError {
  override readonly name = "CompactedError";
  /** The oldest revision at which a watch can start; undefined = the service did not report it. */
  readonly compactRevision: number | undefined;

  /** @param error of the service, with the reason COMPACTED. */
  constructor(error: QuoinError) {
    const { code, message, reason, outcome, details, requestId } = error;
    super({ code, message, reason, outcome, details, requestId, cause: error });
    const revision = Number(details.get("compact_revision"));
    this.compactRevision = Number.isSafeInteger(revision) ? revision : undefined;
  }
}
