/**
 * The fields with which members and their leader exchange the state of the archive. They are part of the question about
 * the membership, as a field that members of older releases ignore. So they need no log entry and no frame of their
 * own.
 */

import { count, flag, object } from "./json-body.ts";

/** The progress of the archive, as a member knows it. */
export interface ArchiveReport {
  /** Whether the member archives now. */
  readonly isArchiving: boolean;
  /** The archive holds every entry up to this index, 0 = none; then the revision and the wall clock of that entry. */
  readonly index: number;
  readonly revision: number;
  readonly wallMs: number;
  /** Index of the snapshot that the chain begins with; 0 = no chain. */
  readonly chainIndex: number;
  /** Whether entries after the chain are missing and no snapshot has begun a new chain yet. */
  readonly isBroken: boolean;
  /** How many chains broke while the member archived. */
  readonly breaks: number;
  /** Wall clock of the last success, in milliseconds since 1970; 0 = none. */
  readonly lastSuccessMs: number;
  /** Failed attempts since the last success. */
  readonly failures: number;
}

/** Which member archives, and its progress, as the leader knows them. */
export interface ArchiverAssignment {
  /** 0 = no member. */
  readonly archiverId: number;
  readonly archive: ArchiveReport;
}

export const NO_ARCHIVE: ArchiveReport = {
  isArchiving: false,
  index: 0,
  revision: 0,
  wallMs: 0,
  chainIndex: 0,
  isBroken: false,
  breaks: 0,
  lastSuccessMs: 0,
  failures: 0,
};

export const archiveReport = object({
  isArchiving: flag,
  index: count,
  revision: count,
  wallMs: count,
  chainIndex: count,
  isBroken: flag,
  breaks: count,
  lastSuccessMs: count,
  failures: count,
});

export const archiveDuty = object({ archiverId: count, archive: archiveReport });
