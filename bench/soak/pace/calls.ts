/**
 * The calls of the load. Each is repeated with the same request id while a fault is in progress, so that it is done once
 * and its result is known. A call that fails without a fault ends the run.
 */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { QuoinError } from "@quoin/client";
import type { FaultTimes } from "./fault-times.ts";

/** A call failed without a fault, or did something else than it should; or an acknowledged change is lost. */
export class SoakError extends Error {}

export interface CallTime {
  readonly kind: string;
  /** When it was answered, on the clock of `performance.now()`. */
  readonly answeredMs: number;
  /** From when it was due to its answer, repetitions included. */
  readonly tookMs: number;
  /** Attempts that failed. */
  readonly failed: number;
  /** Whether a fault was in progress meanwhile. */
  readonly isDisturbed: boolean;
}

/** The options of one call. */
export interface CallIdentity {
  readonly requestId: string;
}

/** What a missing member or leader causes. */
const FAULT_CODES: ReadonlySet<string> = new Set(["UNAVAILABLE", "DEADLINE_EXCEEDED"]);
const REPEAT_PAUSE_MS = 100;
/** Less than the time for which members keep answers for repeated requests. */
const REPEATED_MS_MAX = 240_000;

export class Calls {
  readonly #faults: FaultTimes;
  readonly #onTime: (time: CallTime) => void;

  constructor(faults: FaultTimes, onTime: (time: CallTime) => void) {
    this.#faults = faults;
    this.#onTime = onTime;
  }

  /**
   * Makes one call, and again while a fault makes it fail. Raises a SoakError.
   *
   * @param sinceMs when it was due; by default now.
   */
  async perform<Result>(
    kind: string,
    call: (identity: CallIdentity) => Promise<Result>,
    sinceMs = performance.now(),
  ): Promise<Result> {
    const identity = { requestId: randomUUID() };
    for (let failed = 0; ; failed++) {
      const sentMs = performance.now();
      try {
        const result = await call(identity);
        this.note(kind, sinceMs, failed);
        return result;
      } catch (thrown) {
        const { code, reason, message } = QuoinError.from(thrown);
        const fault = this.#faults.since(sentMs);
        if (fault === null || !FAULT_CODES.has(code) || sentMs - sinceMs > REPEATED_MS_MAX) {
          const when = fault === null ? "while no fault was in progress" : `after: ${fault}`;
          throw new SoakError(`${kind} failed with ${[code, reason].join(" ").trim()} ${when}: ${message}`, {
            cause: thrown,
          });
        }
        await sleep(REPEAT_PAUSE_MS);
      }
    }
  }

  /** Notes a time that is not that of one call, such as that of an event. It ends now. */
  note(kind: string, sinceMs: number, failed = 0): void {
    const answeredMs = performance.now();
    const isDisturbed = this.#faults.since(sinceMs) !== null;
    this.#onTime({ kind, answeredMs, tookMs: answeredMs - sinceMs, failed, isDisturbed });
  }
}

/** Raises a SoakError unless the fact holds. */
export function assertThat(fact: boolean, otherwise: string): asserts fact {
  if (!fact) {
    throw new SoakError(otherwise);
  }
}
