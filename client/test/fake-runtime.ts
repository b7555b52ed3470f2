/** A runtime in the hands of a spec: its clock moves when it is told to, and in pauses, which it remembers. */

import type { Runtime } from "../src/index.ts";

/** Clock, chance and pauses under control. */
export class FakeRuntime implements Runtime {
  nowMs = 1_000;
  /** What random() answers. */
  chance = 0.5;
  readonly pausesMs: number[] = [];

  monotonicMs(): number {
    return this.nowMs;
  }

  random(): number {
    return this.chance;
  }

  async sleep(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    this.pausesMs.push(durationMs);
    this.nowMs += durationMs;
  }
}
