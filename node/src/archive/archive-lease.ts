/**
 * Whether this member is the archiver. It asks the leader every second. After each confirmation it has the lease for a
 * few seconds, so a member that is cut off loses it by itself.
 *
 * The lease only prevents two members from doing the same work: chains of segments stay correct without it.
 */

import { type ArchiveReport, NO_ARCHIVE } from "../peers/index.ts";
import type { Clock } from "../replica/index.ts";
import type { ArchiveHost } from "./archive-host.ts";

/** How often the member asks the leader, in milliseconds. */
const RENEW_INTERVAL_MS = 1_000;
/** How long the member waits for an answer, and how long the lease lasts, both from the request on, in milliseconds. */
const REPLY_TIMEOUT_MS = 3_000;
const LEASE_MS = 4_000;

export class ArchiveLease {
  readonly #host: ArchiveHost;
  readonly #clock: Pick<Clock, "monotonicMs">;
  #requestedMs = Number.NEGATIVE_INFINITY;
  #isRenewing = false;
  #validUntilMs = Number.NEGATIVE_INFINITY;
  #archiverId = 0;
  #known: ArchiveReport = NO_ARCHIVE;

  constructor(host: ArchiveHost, clock: Pick<Clock, "monotonicMs">) {
    this.#host = host;
    this.#clock = clock;
  }

  /** The archiving member by the leader's last answer; 0 = none. */
  get archiverId(): number {
    return this.#archiverId;
  }

  /** The progress of the archive by the leader's last answer. */
  get known(): ArchiveReport {
    return this.#known;
  }

  get isValid(): boolean {
    return this.#clock.monotonicMs() < this.#validUntilMs;
  }

  /** Asks the leader if it is time. @param report what this member knows of the archive */
  renew(report: ArchiveReport): void {
    const { replica, memberId } = this.#host;
    const nowMs = this.#clock.monotonicMs();
    if (replica === null || this.#isRenewing || nowMs - this.#requestedMs < RENEW_INTERVAL_MS) {
      return;
    }
    this.#isRenewing = true;
    this.#requestedMs = nowMs;
    replica.membershipView(
      nowMs + REPLY_TIMEOUT_MS,
      (_error, view) => {
        this.#isRenewing = false;
        const assignment = view?.archive;
        if (assignment === undefined) {
          return;
        }
        this.#archiverId = assignment.archiverId;
        this.#known = assignment.archive;
        this.#validUntilMs = assignment.archiverId === memberId ? nowMs + LEASE_MS : Number.NEGATIVE_INFINITY;
      },
      report,
    );
  }
}
