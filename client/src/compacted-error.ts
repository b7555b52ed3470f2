/** The error of a watch that asks for changes which are not kept any more. */

import { QuoinError } from "./quoin-error.ts";

/**
 * Raised when a watch begins, or would have to go on, at a revision of which the history has been dropped. Nothing is left
 * out silently: read the present state, and watch from the revision of that answer + 1.
 */
export class CompactedError extends QuoinError {
  override readonly name = "CompactedError";
  /** The oldest revision at which a watch can begin; undefined = the service did not say it. */
  readonly compactRevision: number | undefined;

  /** @param error of the service, with the reason COMPACTED. */
  constructor(error: QuoinError) {
    const { code, message, reason, outcome, details, requestId } = error;
    super({ code, message, reason, outcome, details, requestId, cause: error });
    const revision = Number(details.get("compact_revision"));
    this.compactRevision = Number.isSafeInteger(revision) ? revision : undefined;
  }
}
