/**
 * The clock and the scheduler, passed in so that the driver also runs with a simulated clock.
 */

export interface Clock {
  /** Milliseconds since an arbitrary start, with fractions; never decreases. */
  monotonicMs(): number;
  /** Milliseconds since the Unix epoch, whole; may jump. */
  wallMs(): number;
}

export interface Scheduler {
  /** Calls back in a turn of its own, after the sockets were polled. */
  immediate(callback: () => void): void;
  /** Calls back every `intervalMs` milliseconds until the returned function is called. */
  every(intervalMs: number, callback: () => void): () => void;
}
