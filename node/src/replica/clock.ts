/**
 * Time and turns, passed in so that the driver runs the same under a simulated clock.
 */

export interface Clock {
  /** Milliseconds that only grow, from an arbitrary start, with fractions. */
  monotonicMs(): number;
  /** Milliseconds since the Unix epoch, whole; may jump. */
  wallMs(): number;
}

export interface Scheduler {
  /** Calls back in a turn of its own, after the sockets were polled. */
  immediate(callback: () => void): void;
  /** Calls back every so many milliseconds until the returned function is called. */
  every(intervalMs: number, callback: () => void): () => void;
}
