/**
 * What members and their leader say to each other about the archive. It rides on the question about the membership, as a
 * field that members of older releases ignore: it costs no entry of the log, and no frame of its own.
 */

import type { JsonFields } from "./json-fields.ts";

/** How far the archive is, as a member knows it. */
export interface ArchiveReport {
  /** Whether the member archives at the moment. */
  readonly isArchiving: boolean;
  /** Every entry up to this index is in the archive; 0 = none. With its revision and wall clock. */
  readonly index: number;
  readonly revision: number;
  readonly wallMs: number;
  /** Index of the snapshot with which the chain began; 0 = there is none. */
  readonly chainIndex: number;
  /** Whether entries are missing behind the chain, and no snapshot has begun another one yet. */
  readonly isBroken: boolean;
  /** How many chains were broken while the member archived. */
  readonly breaks: number;
  /** Wall clock of the last success, in milliseconds since 1970; 0 = none. */
  readonly lastSuccessMs: number;
  /** Attempts that failed since then. */
  readonly failures: number;
}

/** Which member archives, and how far it is, as the leader knows it. */
export interface ArchiveDuty {
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

/** Raises a FrameError unless the fields are a whole report. */
export function archiveReportOf(fields: JsonFields): ArchiveReport {
  return {
    isArchiving: fields.flag("isArchiving"),
    index: fields.count("index"),
    revision: fields.count("revision"),
    wallMs: fields.count("wallMs"),
    chainIndex: fields.count("chainIndex"),
    isBroken: fields.flag("isBroken"),
    breaks: fields.count("breaks"),
    lastSuccessMs: fields.count("lastSuccessMs"),
    failures: fields.count("failures"),
  };
}

/** Raises a FrameError unless the fields are a whole duty. */
export function archiveDutyOf(fields: JsonFields): ArchiveDuty {
  return { archiverId: fields.count("archiverId"), archive: archiveReportOf(fields.part("archive")) };
}
