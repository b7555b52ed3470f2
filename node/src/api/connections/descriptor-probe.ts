/**
 * Detects that the process has no file descriptors left. The system then closes new connections without an error to the
 * process. Existing connections continue.
 */

import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import type { WarningLog } from "./sparse-log.ts";

/** Interval of the check, in milliseconds. */
const CHECK_INTERVAL_MS = 1_000;
/** How long the alarm lasts after the last time without a free descriptor, in milliseconds. */
const ALARM_MS = 60_000;
/** Error codes when no descriptor is left, in this process or on this machine. */
const NO_DESCRIPTOR = new Set(["EMFILE", "ENFILE"]);

export class DescriptorProbe {
  readonly #log: WarningLog;
  readonly #monotonicMs: () => number;
  #usedUpMs = Number.NEGATIVE_INFINITY;

  /** Starts the periodic check. @param monotonicMs monotonic clock in milliseconds. */
  constructor(log: WarningLog, monotonicMs: () => number) {
    this.#log = log;
    this.#monotonicMs = monotonicMs;
    setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref();
  }

  /** The active alarms, as text for people. */
  get alarms(): string[] {
    return this.#isAlarm() ? ["no file descriptors are left for new connections: raise ulimit -n"] : [];
  }

  #check(): void {
    try {
      closeSync(openSync(devNull, "r"));
    } catch (error) {
      const { code = "", message } = error as NodeJS.ErrnoException;
      if (!NO_DESCRIPTOR.has(code)) {
        throw error;
      }
      if (!this.#isAlarm()) {
        this.#log.warn({ reason: message }, "no file descriptors are left: new connections are closed on arrival");
      }
      this.#usedUpMs = this.#monotonicMs();
    }
  }

  #isAlarm(): boolean {
    return this.#monotonicMs() - this.#usedUpMs < ALARM_MS;
  }
}
