/** The times of other work of members besides puts, as far as regular samples of their metrics show them. */

import { sumOfMetric } from "../clusters/index.ts";

/** Other work of members. */
export type Work = "snapshot" | "log" | "rocks";

/** Milliseconds of `performance.now()`. */
export interface Episode {
  readonly work: Work;
  readonly startMs: number;
  readonly endMs: number;
}

/** The metrics of one member at one moment. */
interface Sample {
  readonly atMs: number;
  readonly logEntries: number;
  readonly compactions: number;
}

/**
 * The episodes of one member. Each is as long as the work can have lasted: from the sample before it appeared to the
 * first sample without it.
 */
export class MemberEpisodes {
  readonly #episodes: Episode[] = [];
  #last: Sample | null = null;
  #compactingSinceMs: number | null = null;

  /** Takes a text for Prometheus that the member returned at that moment. */
  add(atMs: number, text: string): void {
    const sample = {
      atMs,
      logEntries: sumOfMetric(text, "quoin_raft_log_entries"),
      compactions: sumOfMetric(text, "quoin_rocksdb_running_compactions"),
    };
    const beforeMs = this.#last?.atMs ?? atMs;
    if (this.#last !== null && sample.logEntries < this.#last.logEntries) {
      this.#episodes.push({ work: "log", startMs: beforeMs, endMs: atMs });
    }
    if (sample.compactions > 0) {
      this.#compactingSinceMs ??= beforeMs;
    } else {
      this.#endCompaction(atMs);
    }
    this.#last = sample;
  }

  /** All episodes. The last one may not be over at that moment. */
  episodes(atMs: number): readonly Episode[] {
    this.#endCompaction(atMs);
    return this.#episodes;
  }

  #endCompaction(endMs: number): void {
    if (this.#compactingSinceMs !== null) {
      this.#episodes.push({ work: "rocks", startMs: this.#compactingSinceMs, endMs });
      this.#compactingSinceMs = null;
    }
  }
}
