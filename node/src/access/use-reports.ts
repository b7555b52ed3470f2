/**
 * What a member has answered without an entry in the log, and which API keys were used: kept here for a while, and then
 * reported to the cluster in one entry, beside the requests and never in their way.
 *
 * A principal is reported a second after the first use, and then at most once a minute. A report whose outcome is not
 * known is not repeated: what it told may be missing, and is never counted twice. The same becomes of what was not
 * reported when the process ends, and of principals beyond the bound.
 */

import type { Clock } from "../replica/index.ts";
import type { Principal, ReportedUse } from "../state/index.ts";

/** What a read was of. */
export type ReadArea = "keys" | "locks" | "memory" | "other";

/** Whether a report that ended was certainly not executed, so that it can be made again. */
export type ReportDone = (isLost: boolean) => void;

/** Proposes a report and calls back when its outcome is known or never will be; false if it cannot be made now. */
export type Report = (uses: readonly ReportedUse[], done: ReportDone) => boolean;

interface Use {
  readonly principal: Principal;
  /** Monotonic; when it was reported last. */
  reportedMs: number;
  /** Something is to be reported. */
  isPending: boolean;
  requests: number;
  kvOperations: number;
  lockOperations: number;
  memoryOperations: number;
}

const INTERVAL_MS = 60_000;
/** Principals of one report: it bounds the work of its entry (S44). */
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

  /** Somebody has shown a token. Only the use of API keys is noted. */
  used(principal: Principal): void {
    if (principal.apiKeyId === "") {
      return;
    }
    const use = this.#useOf(principal);
    if (use !== undefined) {
      use.isPending = true;
    }
  }

  /** A read of the principal was answered. */
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

  /** To be called once a second: reports what is due, and forgets who was not there for a while. */
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
    const told = due.map(({ principal, requests, kvOperations, lockOperations, memoryOperations }) => {
      return { principal, requests, kvOperations, lockOperations, memoryOperations };
    });
    const isUnderWay = this.#report(told, (isLost) => {
      if (isLost) {
        for (const [at, use] of told.entries()) {
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

/** What was not executed is to be told again; if the principal was forgotten meanwhile, it is missing. */
function addTo(use: Use, lost: ReportedUse): void {
  use.isPending = true;
  use.requests += lost.requests;
  use.kvOperations += lost.kvOperations;
  use.lockOperations += lost.lockOperations;
  use.memoryOperations += lost.memoryOperations;
}
