/**
 * Collects the reads that a member has answered without a log entry, and the API keys that were used. It reports them
 * to the cluster in one entry from time to time, without delaying requests.
 *
 * A principal is reported a second after the first use, and then at most once a minute. A report with an unknown
 * outcome is not repeated: its counts may be missing, but are never counted twice. Counts that were not reported when
 * the process ends, and counts of principals above the limit, are missing too.
 */

import type { Clock } from "../replica/index.ts";
import type { Principal, ReportedUse } from "../state/index.ts";

/** The kind of data that was read. */
export type ReadArea = "keys" | "locks" | "memory" | "other";

/** Called at the end of a report; `isLost` = it was certainly not executed, so it can be repeated. */
export type ReportDone = (isLost: boolean) => void;

/** Proposes a report; calls `done` when its outcome is known or can no longer be known. False = not possible now. */
export type Report = (uses: readonly ReportedUse[], done: ReportDone) => boolean;

interface Use {
  readonly principal: Principal;
  /** Time of the last report, on the monotonic clock. */
  reportedMs: number;
  /** Whether there is something to report. */
  isPending: boolean;
  requests: number;
  kvOperations: number;
  lockOperations: number;
  memoryOperations: number;
}

const INTERVAL_MS = 60_000;
/** Maximum number of principals in one report; bounds the work of its entry (S44). */
const USES_MAX = 256;
const PRINCIPALS_MAX = 10_000;

export class UseReports {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #report: Report;
  readonly #uses = new Map<string, Use>();

  constructor(clock: Pick<Clock, "monotonicMs">, report: Report) {
    this.#clock = clock;
    this.#report = report;
  }

  /** Notes that a principal has presented a token. Only the use of API keys is counted. */
  used(principal: Principal): void {
    if (principal.apiKeyId === "") {
      return;
    }
    const use = this.#useOf(principal);
    if (use !== undefined) {
      use.isPending = true;
    }
  }

  /** Counts a read of the principal that was answered. */
  read(principal: Principal, area: ReadArea): void {
    const use = this.#useOf(principal);
    if (use === undefined) {
      return;
    }
    use.isPending = true;
    use.requests++;
    if (area === "keys") {
      use.kvOperations++;
    } else if (area === "locks") {
      use.lockOperations++;
    } else if (area === "memory") {
      use.memoryOperations++;
    }
  }

  /** Call it once a second. It reports what is due, and drops principals without recent use. */
  onSecond(): void {
    const nowMs = this.#clock.monotonicMs();
    const due: Use[] = [];
    for (const [who, use] of this.#uses) {
      if (nowMs - use.reportedMs < INTERVAL_MS || due.length === USES_MAX) {
        continue;
      }
      if (use.isPending) {
        due.push(use);
      } else {
        this.#uses.delete(who);
      }
    }
    if (due.length > 0) {
      this.#send(due, nowMs);
    }
  }

  #send(due: readonly Use[], nowMs: number): void {
    const reported = due.map(({ principal, requests, kvOperations, lockOperations, memoryOperations }) => {
      return { principal, requests, kvOperations, lockOperations, memoryOperations };
    });
    const isUnderWay = this.#report(reported, (isLost) => {
      if (isLost) {
        for (const [at, use] of reported.entries()) {
          addTo(due[at] as Use, use);
        }
      }
    });
    if (!isUnderWay) {
      return;
    }
    for (const use of due) {
      use.reportedMs = nowMs;
      use.isPending = false;
      use.requests = use.kvOperations = use.lockOperations = use.memoryOperations = 0;
    }
  }

  #useOf(principal: Principal): Use | undefined {
    const who = `${principal.subject}\0${principal.apiKeyId}`;
    let use = this.#uses.get(who);
    if (use === undefined && this.#uses.size < PRINCIPALS_MAX) {
      const counts = { requests: 0, kvOperations: 0, lockOperations: 0, memoryOperations: 0 };
      use = { principal, reportedMs: Number.NEGATIVE_INFINITY, isPending: false, ...counts };
      this.#uses.set(who, use);
    }
    return use;
  }
}

/**
 * Adds the counts of a report that was not executed, to report them again. They are lost if the principal was dropped.
 */
function addTo(use: Use, lost: ReportedUse): void {
  use.isPending = true;
  use.requests += lost.requests;
  use.kvOperations += lost.kvOperations;
  use.lockOperations += lost.lockOperations;
  use.memoryOperations += lost.memoryOperations;
}
