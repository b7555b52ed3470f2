/**
 * Which member archives, as the leader decides it: one healthy follower, or the leader itself while no other member can.
 *
 * Members that are started to archive ask the leader every few seconds, and tell how far they know the archive to be. So
 * nothing of it is in the log, and a new leader learns who archives from what it is asked: it decides nothing before all had
 * time to ask. A member that has not asked for a while, or fails repeatedly, loses the duty to another one. For a moment two
 * members may archive at the same time: chains of segments allow that.
 */

import { type ArchiveDuty, type ArchiveReport, NO_ARCHIVE } from "../peers/index.ts";

/** A new leader waits this long before it chooses, in milliseconds: members ask every two seconds. */
const SETTLE_MS = 3_000;
/** A member that has not asked for this long is away, in milliseconds. */
export const ARCHIVER_AWAY_MS = 8_000;
/** After so many failures in a row another member is tried; and this one not again for so many milliseconds. */
const FAILURES_MAX = 3;
const FAILED_MS = 60_000;

interface Candidate {
  readonly report: ArchiveReport;
  readonly heardMs: number;
}

export class ArchiveDuties {
  readonly #memberId: number;
  readonly #candidates = new Map<number, Candidate>();
  /** Members that failed repeatedly, and until when they are not chosen if another one can be. */
  readonly #failedUntilMs = new Map<number, number>();
  #term = 0;
  #settledMs = 0;
  #archiverId = 0;
  #archive: ArchiveReport = NO_ARCHIVE;

  /** @param memberId of this member */
  constructor(memberId: number) {
    this.#memberId = memberId;
  }

  /** A member, or this one, has asked while this one leads in the term. @returns who archives */
  onReport(memberId: number, report: ArchiveReport, term: number, nowMs: number): ArchiveDuty {
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
    if (nowMs >= this.#settledMs) {
      this.#choose(nowMs);
    }
    return { archiverId: this.#archiverId, archive: this.#archive };
  }

  #begin(term: number, nowMs: number): void {
    this.#term = term;
    this.#settledMs = nowMs + SETTLE_MS;
    this.#archiverId = 0;
    this.#candidates.clear();
  }

  /** The archiver knows best how far it is, once it archives; others have it from former leaders. */
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
    // Where all of them fail, the store is away, and moving the duty would not help.
    this.#archiverId = best[0] ?? (isPresent ? this.#archiverId : (present[0]?.[0] ?? 0));
  }
}
