/** What a run of the simulator reports. */

import type { Script } from "./script.ts";
import type { TraceLine } from "./trace.ts";

/** The result of a run. */
export interface RunResult {
  readonly script: Script;
  /** Null if every rule held. */
  readonly failure: Failure | null;
  readonly traceHash: string;
  /** The hash after each thousand lines of the trace, which locate the first difference of two runs. */
  readonly checkpoints: readonly string[];
  readonly nowMs: number;
  /** The part of it before the first item of the script, in milliseconds. */
  readonly grownMs: number;
  readonly events: number;
  /** The last events, if a rule was broken. */
  readonly lines: readonly TraceLine[];
  /** The members at the end, if a rule was broken. */
  readonly states: string;
  /** Marks, and pairs of roles and frames, with the number of times each was reached. */
  readonly reached: ReadonlyMap<string, number>;
  readonly counts: Readonly<Record<string, number>>;
}

/** A rule that was broken. */
export interface Failure {
  readonly rule: string;
  readonly details: string;
}
