/**
 * Whether this member is the one that archives. It asks the leader every second, and has the duty for a few seconds after
 * each question that was answered so: a member that is cut off loses it by itself.
 *
 * The lease keeps two members from doing the same work, and no more: chains of segments stay right without it.
 */

import { type ArchiveReport, NO_ARCHIVE } from "../peers/index.ts";
import type { Clock } from "../replica/index.ts";
import type { ArchiveHost } from "./archive-host.ts";

/** How often the leader is asked, in milliseconds. */
const ASK_MS = 1_000;
/** Until when an answer must be there, and how long it counts, from the question on, in milliseconds. */
const ANSWER_MS = 3_000;
const LEASE_MS = 4_000;

export class ArchiveLease {
  readonly #host: ArchiveHost;
  readonly #clock: Pick<Clock, "monotonicMs">;
  #askedMs = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  #archiverId = 0;
  #known: ArchiveReport = NO_ARCHIVE;

  constructor(host: ArchiveHost, clock: Pick<Clock, "monotonicMs">) {
    this.#host = host;
    this.#clock = clock;
  }

  /** The member that archives, as the leader has said last; 0 = none. */
  get archiverId(): number {
    return this.#archiverId;
  }

  /** How far the archive is, as the leader has said last. */
  get known(): ArchiveReport {
    return this.#known;
  }

  get isHeld(): boolean {
    return this.#clock.monotonicMs() < this.#heldUntilMs;
  }

  /** Asks if it is time. @param report what this member knows of the archive */
  ask(report: ArchiveReport): void {
    const { replica, memberId } = this.#host;
    const nowMs = this.#clock.monotonicMs();
    if (replica === null || this.#isAsking || nowMs - this.#askedMs < ASK_MS) {
      return;
    }
    this.#isAsking = true;
    this.#askedMs = nowMs;
    replica.membershipView(
      nowMs + ANSWER_MS,
      (_error, view) => {
        this.#isAsking = false;
        const duty = view?.archive;
        if (duty === undefined) {
          return;
        }
        this.#archiverId = duty.archiverId;
        this.#known = duty.archive;
        this.#heldUntilMs = duty.archiverId === memberId ? nowMs + LEASE_MS : Number.NEGATIVE_INFINITY;
      },
      report,
    );
  }
}
