/** Time for connections, passed in so that specs control it. */

export interface PeerClock {
  /** Milliseconds that never decrease, from an arbitrary start. */
  monotonicMs(): number;
  /** Milliseconds since the Unix epoch; may jump. Only for the dates in certificates. */
  wallMs(): number;
  /** Calls back once after the delay, unless the caller first calls the returned function. */
  after(delayMs: number, callback: () => void): () => void;
  /** Calls back in a later turn, after the process has polled the sockets once more. */
  afterPoll(callback: () => void): void;
}

/** The longest delay of a Node timer; a longer one would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * The clock and the timers of this process. A delay above 24 days ends early, so such callers must check the time
 * again.
 */
export const systemPeerClock: PeerClock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, Math.min(delayMs, TIMER_MS_MAX));
    return () => clearTimeout(timer);
  },
  afterPoll: (callback) => {
    setImmediate(callback);
  },
};
