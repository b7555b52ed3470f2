/** The progress of a backup on one line of a terminal: part, bytes, records, and bytes per second. */

import { bar, ProgressLine, type ProgressPlace } from "../output/index.ts";
import type { Terminal } from "../terminal/index.ts";
import { formatSize } from "../text/index.ts";

/** Short enough for a line of 80 characters. */
const BAR_CHARACTERS = 16;

/** A line with the progress of a stream of bytes. */
export class BackupProgress {
  readonly #line: ProgressLine;
  readonly #runtime: Terminal["runtime"];
  readonly #verb: string;
  readonly #startMs: number;

  /** @param verb the activity, such as `reading`. */
  constructor(place: ProgressPlace, verb: string) {
    this.#line = new ProgressLine(place);
    this.#runtime = place.terminal.runtime;
    this.#verb = verb;
    this.#startMs = this.#runtime.monotonicMs();
  }

  /**
   * Shows the progress, at most a few times a second.
   *
   * @param records what was read, such as `12 rows`.
   * @param totalBytes undefined = not known.
   */
  show(doneBytes: number, records: string, totalBytes?: number): void {
    this.#line.showOften(() => {
      const seconds = (this.#runtime.monotonicMs() - this.#startMs) / 1_000;
      const rate = seconds > 0 ? `, ${formatSize(Math.round(doneBytes / seconds))}/s` : "";
      const part = totalBytes ? `${bar(Math.min(1, doneBytes / totalBytes), BAR_CHARACTERS)} ` : "";
      return `${this.#verb} ${part}${formatSize(doneBytes)}${rate}, ${records}`;
    });
  }

  /** Removes the line. */
  clear(): void {
    this.#line.clear();
  }
}

/** Passes the same bytes on, and counts each chunk when it arrives. */
export async function* counted(
  bytes: AsyncIterable<Uint8Array>,
  onBytes: (count: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of bytes) {
    onBytes(chunk.length);
    yield chunk;
  }
}
