/**
 * A work queue by key: never two runs of one key at once, several keys in parallel. A key that is added while it runs
 * runs once more. Failed work is retried with exponential backoff.
 */
import { backoffMs, type Timing } from "./timing.ts";

const WORKERS = 4;
const BACKOFF_FIRST_MS = 200;
/** Longest backoff: after an hour of failures, the operator notices within this time that the cause is gone. */
const BACKOFF_LAST_MS = 15_000;

/** @returns milliseconds until the key runs again by itself; null = not until it is added again */
export type Work = (key: string) => Promise<number | null>;

interface Entry {
  /** On the timing's clock: the earliest requested time; null if there is none. */
  dueMs: number | null;
  running: boolean;
  failures: number;
}

export class WorkQueue {
  readonly #work: Work;
  readonly #timing: Timing;
  readonly #entries = new Map<string, Entry>();
  readonly #runs = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  /** Ends the present pause when another key is due earlier. */
  #waking = new AbortController();
  #loop: Promise<void> | null = null;

  constructor(work: Work, timing: Timing) {
    this.#work = work;
    this.#timing = timing;
  }

  /** Number of keys that are due and not running. */
  get depth(): number {
    const nowMs = this.#timing.monotonicMs();
    return [...this.#entries.values()].filter(({ dueMs, running }) => !running && dueMs !== null && dueMs <= nowMs)
      .length;
  }

  add(key: string, delayMs = 0): void {
    const dueMs = this.#timing.monotonicMs() + delayMs;
    const entry = this.#entries.get(key) ?? { dueMs: null, running: false, failures: 0 };
    entry.dueMs = Math.min(entry.dueMs ?? Number.POSITIVE_INFINITY, dueMs);
    this.#entries.set(key, entry);
    this.#waking.abort();
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#waking.abort();
    await this.#loop;
    await Promise.all(this.#runs);
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#waking = new AbortController();
      const nowMs = this.#timing.monotonicMs();
      for (const [key, entry] of this.#entries) {
        if (this.#runs.size < WORKERS && !entry.running && entry.dueMs !== null && entry.dueMs <= nowMs) {
          this.#begin(key, entry);
        }
      }
      await this.#timing.sleep(this.#pauseMs(nowMs), this.#waking.signal);
    }
  }

  /** Pause until the next key is due. The end of a run also wakes the loop. */
  #pauseMs(nowMs: number): number {
    const waiting = [...this.#entries.values()].filter(({ running, dueMs }) => !running && dueMs !== null);
    const isFull = this.#runs.size >= WORKERS;
    const next = isFull
      ? BACKOFF_LAST_MS
      : Math.min(BACKOFF_LAST_MS, ...waiting.map(({ dueMs }) => (dueMs ?? 0) - nowMs));
    return Math.max(0, next);
  }

  #begin(key: string, entry: Entry): void {
    entry.running = true;
    entry.dueMs = null;
    const run = this.#once(key, entry).finally(() => {
      entry.running = false;
      this.#runs.delete(run);
      if (entry.dueMs === null) {
        this.#entries.delete(key);
      }
      this.#waking.abort();
    });
    this.#runs.add(run);
  }

  /** Never rejects: the worker reports its own failures. */
  async #once(key: string, entry: Entry): Promise<void> {
    try {
      const nextMs = await this.#work(key);
      entry.failures = 0;
      if (nextMs !== null) {
        this.add(key, nextMs);
      }
    } catch {
      entry.failures += 1;
      this.add(key, backoffMs(entry.failures, BACKOFF_FIRST_MS, BACKOFF_LAST_MS, this.#timing.random()));
    }
  }
}
