/** Time for connections, passed in so that specs move it. */

export interface PeerClock {
  /** Milliseconds that only grow, from an arbitrary start. */
  monotonicMs(): number;
  /** Milliseconds since the Unix epoch; may jump. For the dates in certificates alone. */
  wallMs(): number;
  /** Calls back once, after the delay, unless the returned function was called before. */
  after(delayMs: number, callback: () => void): () => void;
  /** Calls back in a later turn, after the sockets were polled once more. */
  afterPoll(callback: () => void): void;
}

/** The longest delay that a timer of Node takes; a longer one would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** The clock and the timers of this process. A delay above 24 days ends early: who waits so long looks again. */
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
