/**
 * The leader's choice of the member that archives: one healthy follower, or the leader itself while no other member
 * can.
 *
 * Members that are configured to archive ask the leader every second, and report the progress of the archive that
 * they know. Nothing of this is in the log. A new leader learns from these requests which member archives, and first
 * waits until all members had time to ask. A member that stops asking, or fails repeatedly, loses the duty to another
 * member. For a moment two members may archive at the same time: chains of segments allow that.
 */

import { type ArchiveReport, type ArchiverAssignment, NO_ARCHIVE } from "../../peers/index.ts";

/** A new leader waits this long before it chooses, in milliseconds: members ask every second. */
const FIRST_CHOICE_DELAY_MS = 3_000;
/** A member that has not asked for this long counts as away, in milliseconds. */
export const ARCHIVER_AWAY_MS = 8_000;
/** After this many failures in a row the leader chooses another member, and avoids this one for `FAILED_MS`. */
const FAILURES_MAX = 3;
const FAILED_MS = 60_000;

interface Candidate {
  readonly report: ArchiveReport;
  readonly heardMs: number;
}

export class ArchiverAssigner {
  readonly #memberId: number;
  readonly #candidates = new Map<number, Candidate>();
  /** Members that failed repeatedly, and until when the leader prefers others. */
  readonly #failedUntilMs = new Map<number, number>();
  #term = 0;
  #choiceFromMs = 0;
  #archiverId = 0;
  #archive: ArchiveReport = NO_ARCHIVE;

  /** @param memberId of this member */
  constructor(memberId: number) {
    this.#memberId = memberId;
  }

  /** A member, possibly this one, asks while this member leads in the term. @returns which member archives */
  onReport(memberId: number, report: ArchiveReport, term: number, nowMs: number): ArchiverAssignment {
    if (term !== this.#term) {
      this.#begin(term, nowMs);
    }
    this.#candidates.set(memberId, { report, heardMs: nowMs });
    if (this.#archiverId === 0 && report.isArchiving) {
      this.#archiverId = memberId;
    }
    this.#learn(memberId, report);
    if (memberId === this.#archiverId && report.failures >= FAILURES_MAX) {
      this.#failedUntilMs.set(memberId, nowMs + FAILED_MS);
    }
    if (nowMs >= this.#choiceFromMs) {
      this.#choose(nowMs);
    }
    return { archiverId: this.#archiverId, archive: this.#archive };
  }

  #begin(term: number, nowMs: number): void {
    this.#term = term;
    this.#choiceFromMs = nowMs + FIRST_CHOICE_DELAY_MS;
    this.#archiverId = 0;
    this.#candidates.clear();
  }

  /** The archiver knows the progress best, once it archives; others know it from former leaders. */
  #learn(memberId: number, report: ArchiveReport): void {
    if ((memberId === this.#archiverId && report.isArchiving) || report.index > this.#archive.index) {
      this.#archive = report;
    }
  }

  #choose(nowMs: number): void {
    const present = [...this.#candidates].filter(([, { heardMs }]) => nowMs - heardMs < ARCHIVER_AWAY_MS);
    const healthy = present.map(([id]) => id).filter((id) => nowMs >= (this.#failedUntilMs.get(id) ?? 0));
    const followers = healthy.filter((id) => id !== this.#memberId);
    const isPresent = present.some(([id]) => id === this.#archiverId);
    const best = [...followers, ...healthy];
    if (best.includes(this.#archiverId) && (this.#archiverId !== this.#memberId || followers.length === 0)) {
      return;
    }
    // If all of them fail, the store is unreachable, and moving the duty would not help.
    this.#archiverId = best[0] ?? (isPresent ? this.#archiverId : (present[0]?.[0] ?? 0));
  }
}
