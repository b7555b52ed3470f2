/** The clock and the scheduler of this process. */

import type { Clock, Scheduler } from "./clock.ts";

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
};

export const systemScheduler: Scheduler = {
  immediate: (callback) => {
    setImmediate(callback);
  },
  every: (intervalMs, callback) => {
    const timer = setInterval(callback, intervalMs);
    return () => clearInterval(timer);
  },
};
