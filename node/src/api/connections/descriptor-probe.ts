/**
 * Notices that a process has no file descriptors left: the system then closes connections as they come, without a word
 * to the process. Connections that are there go on.
 */

import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import type { WarningLog } from "./sparse-log.ts";

/** How often it looks, in milliseconds. */
const LOOK_MS = 1_000;
/** So long after descriptors were used up the alarm is over, in milliseconds. */
const ALARM_MS = 60_000;
/** What opening a file says when there is no descriptor, in this process or on this machine. */
const NO_DESCRIPTOR = new Set(["EMFILE", "ENFILE"]);

export class DescriptorProbe {
  readonly #log: WarningLog;
  readonly #monotonicMs: () => number;
  #usedUpMs = Number.NEGATIVE_INFINITY;

  /** Looks from now on. @param monotonicMs milliseconds that only grow. */
  constructor(log: WarningLog, monotonicMs: () => number) {
    this.#log = log;
    this.#monotonicMs = monotonicMs;
    setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** What is wrong at the moment, for people. */
  get alarms(): string[] {
    return this.#isAlarm() ? ["no file descriptors are left for new connections: raise ulimit -n"] : [];
  }

  #look(): void {
    try {
      closeSync(openSync(devNull, "r"));
    } catch (error) {
      const { code = "", message } = error as NodeJS.ErrnoException;
      if (!NO_DESCRIPTOR.has(code)) {
        throw error;
      }
      if (!this.#isAlarm()) {
        this.#log.warn({ reason: message }, "no file descriptors are left: new connections are closed as they come");
      }
      this.#usedUpMs = this.#monotonicMs();
    }
  }

  #isAlarm(): boolean {
    return this.#monotonicMs() - this.#usedUpMs < ALARM_MS;
  }
}
