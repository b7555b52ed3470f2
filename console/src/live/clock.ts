/** The time once a second, for countdowns, while the page is visible. */

import { signal } from "@preact/signals";

const TICK_MS = 1_000;

/** Unix time in milliseconds. */
export const nowMs = signal(Date.now());

setInterval(() => {
  if (!document.hidden) {
    nowMs.value = Date.now();
  }
}, TICK_MS);
