/**
 * One line on the standard error that changes while a command waits. Nothing if that is not a terminal, or if the output
 * is for programs.
 */

import type { Terminal } from "../terminal/index.ts";
import { escapeControls } from "../text/index.ts";
import type { OutputFormat } from "./output.ts";

/** The width if the terminal does not report it. */
const USUAL_COLUMNS = 80;

/** Moves to the first column and erases the rest of the line (ECMA-48: CR, EL). */
const ERASE_LINE = "\r\u001b[K";

/** Update at most this often: a terminal shows no more, and each update costs time. */
const UPDATE_MS = 100;

/** Where progress is shown: a part of the session. */
export interface ProgressPlace {
  readonly terminal: Pick<Terminal, "stderr" | "runtime">;
  readonly outputFormat: OutputFormat;
}

/** Whether people see progress there. */
export function showsProgress({ terminal, outputFormat }: ProgressPlace): boolean {
  return terminal.stderr.isTTY === true && outputFormat === "table";
}

/** A line that can be replaced. */
export class ProgressLine {
  readonly #stderr: Terminal["stderr"];
  readonly #runtime: Terminal["runtime"];
  readonly #isVisible: boolean;
  #isShown = false;
  #shownMs = Number.NEGATIVE_INFINITY;

  constructor(place: ProgressPlace) {
    this.#stderr = place.terminal.stderr;
    this.#runtime = place.terminal.runtime;
    this.#isVisible = showsProgress(place);
  }

  /** Replaces the text, cut to the width of the terminal. */
  show(text: string): void {
    if (!this.#isVisible) {
      return;
    }
    const width = (this.#stderr.columns ?? USUAL_COLUMNS) - 1;
    const characters = Array.from(escapeControls(text));
    const shown = characters.length <= width ? characters : [...characters.slice(0, width - 1), "…"];
    this.#stderr.write(`${ERASE_LINE}${shown.join("")}`);
    this.#isShown = true;
  }

  /** The same, at most a few times a second: `text` makes it only then. */
  showOften(text: () => string): void {
    if (!this.#isVisible) {
      return;
    }
    const nowMs = this.#runtime.monotonicMs();
    if (nowMs - this.#shownMs < UPDATE_MS) {
      return;
    }
    this.#shownMs = nowMs;
    this.show(text());
  }

  /** Removes the line. */
  clear(): void {
    if (this.#isShown) {
      this.#stderr.write(ERASE_LINE);
    }
    this.#isShown = false;
  }
}

/** Runs work that shows its progress on a line, and removes the line at its end. */
export async function withProgressLine<Result>(
  place: ProgressPlace,
  work: (line: ProgressLine) => Promise<Result>,
): Promise<Result> {
  const line = new ProgressLine(place);
  try {
    return await work(line);
  } finally {
    line.clear();
  }
}
