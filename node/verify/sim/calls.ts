/**
 * Calls that wait at simulated members. Checks that each caller gets its answer, and that none waits for longer than
 * its deadline.
 *
 * A call ends once. If its process dies first, the caller loses its connection and does not know the outcome.
 */

import type { EventHeap } from "./event-heap.ts";
import type { LimitRules } from "./limit-rules.ts";
import type { Process } from "./process.ts";
import { must } from "./rule-violation.ts";

interface Call {
  readonly process: Process;
  /** The process has received the call. */
  isSeen: boolean;
  readonly what: string;
  readonly deadlineMs: number;
  readonly lose: () => void;
}

/** Calls the process with the deadline by its clock, and a callback for the answer. */
type Start<Answer, Result> = (deadlineMs: number, done: (answer: Answer) => void) => Result;

/** How late an answer may be after the deadline: two ticks, a turn, and some margin. */
const LATE_MS_MAX = 400;

export class Calls {
  readonly #heap: EventHeap;
  readonly #open = new Set<Call>();

  constructor(heap: EventHeap) {
    this.#heap = heap;
  }

  /** Calls without an answer. */
  get open(): number {
    return this.#open.size;
  }

  /**
   * Calls the process, which has `limitMs` of its own time for the answer. `onEnd` gets the answer, or null if the
   * process is lost.
   */
  call<Answer>(
    process: Process,
    what: string,
    limitMs: number,
    start: Start<Answer, void>,
    onEnd: (answer: Answer | null) => void,
  ): void {
    const startForGood: Start<Answer, () => void> = (deadlineMs, done) => {
      start(deadlineMs, done);
      return () => undefined;
    };
    this.callUntilLeft(process, what, limitMs, startForGood, onEnd);
  }

  /**
   * The same for a caller who may leave. `start` returns the function that reports this to the process. The returned
   * function makes the caller leave; it returns false if the call was over already. The process learns of it when the
   * message arrives; after that, `onEnd` is not called any more.
   */
  callUntilLeft<Answer>(
    process: Process,
    what: string,
    limitMs: number,
    start: Start<Answer, () => void>,
    onEnd: (answer: Answer | null) => void,
  ): () => boolean {
    if (process.loop.isDead) {
      this.#heap.after(1, () => onEnd(null));
      return () => false;
    }
    let isOver = false;
    let abandon = (): void => undefined;
    const call: Call = {
      process,
      isSeen: false,
      what,
      deadlineMs: process.loop.monotonicMs() + limitMs,
      lose: () => {
        if (!isOver) {
          isOver = true;
          this.#open.delete(call);
          this.#heap.after(1, () => onEnd(null));
        }
      },
    };
    this.#open.add(call);
    process.loop.arrive(() => {
      call.isSeen = true;
      let isAnswered = false;
      abandon = start(call.deadlineMs, (answer) => {
        must(!isAnswered || process.loop.isDead, "I16 a call is answered once", () => `m${process.memberId}: ${what}`);
        isAnswered = true;
        if (isOver) {
          return;
        }
        isOver = true;
        this.#open.delete(call);
        onEnd(answer);
      });
    });
    return () => {
      if (isOver) {
        return false;
      }
      isOver = true;
      this.#open.delete(call);
      process.loop.arrive(() => abandon());
      return true;
    };
  }

  /** The process has ended. */
  onDeath(process: Process): void {
    for (const call of [...this.#open]) {
      if (call.process === process) {
        call.lose();
      }
    }
  }

  /** No call waits beyond its deadline, except for time in which the process was hindered. */
  check(): void {
    for (const { process, what, deadlineMs } of this.#open) {
      const { loop } = process;
      const lateMs = Math.min(loop.monotonicMs() - deadlineMs, loop.unhinderedMs);
      must(lateMs <= LATE_MS_MAX, "I16 no call outlives its deadline", () => {
        return `m${process.memberId}: ${what}, ${Math.round(lateMs)} ms late`;
      });
    }
  }

  /** No process has more waiting callers than its limit, not counting those whose refusal is on its way. */
  checkLimits(limits: LimitRules): void {
    const counts = new Map<Process, number>();
    for (const { process, isSeen } of this.#open) {
      counts.set(process, (counts.get(process) ?? 0) + Number(isSeen));
    }
    for (const [{ memberId, loop }, count] of counts) {
      limits.onWaiting(memberId, count, loop.waiting);
    }
  }

  /** The waiting calls, in words. */
  describe(): string {
    return [...this.#open].map(({ process, what }) => `m${process.memberId}: ${what}`).join("; ");
  }
}
