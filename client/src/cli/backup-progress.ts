/** How far a backup is, on one line of a terminal: part, bytes, records, and how many bytes a second. */

import { formatSize } from "./byte-size.ts";
import { ProgressLine } from "./progress-line.ts";
import type { Terminal } from "./terminal.ts";
import { bar } from "./transfer-progress.ts";

/** A terminal shows no more than this, and each line costs time. */
const lineMs = 100;
/** So that a line of 80 characters has room for all of it. */
const barCharacters = 16;

/** A line that says how far a stream of bytes is. */
export class BackupProgress {
  readonly #line: ProgressLine;
  readonly #runtime: Terminal["runtime"];
  readonly #verb: string;
  readonly #startMs: number;
  #shownMs = Number.NEGATIVE_INFINITY;

  /** @param verb what is done, such as `reading`. */
  constructor(terminal: Pick<Terminal, "stderr" | "runtime">, verb: string) {
    this.#line = new ProgressLine(terminal);
    this.#runtime = terminal.runtime;
    this.#verb = verb;
    this.#startMs = terminal.runtime.monotonicMs();
  }

  /**
   * Shows how far it is, a few times a second at most.
   *
   * @param records what was read, such as `12 rows`.
   * @param totalBytes undefined = it is not known.
   */
  show(doneBytes: number, records: string, totalBytes?: number): void {
    const nowMs = this.#runtime.monotonicMs();
    if (nowMs - this.#shownMs < lineMs) return;
    this.#shownMs = nowMs;
    const seconds = (nowMs - this.#startMs) / 1_000;
    const rate = seconds > 0 ? `, ${formatSize(Math.round(doneBytes / seconds))}/s` : "";
    const part = totalBytes ? `${bar(Math.min(1, doneBytes / totalBytes), barCharacters)} ` : "";
    this.#line.show(`${this.#verb} ${part}${formatSize(doneBytes)}${rate}, ${records}`);
  }

  /** Takes the line away. */
  clear(): void {
    this.#line.clear();
  }
}

/** The same bytes; each chunk is counted when it has come. */
export async function* counted(
  bytes: AsyncIterable<Uint8Array>,
  onBytes: (count: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of bytes) {
    onBytes(chunk.length);
    yield chunk;
  }
}
