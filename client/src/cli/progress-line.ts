/**
 * One line on the standard error that changes while a command waits. Nothing if that is not a terminal, or if the output
 * is for programs.
 */

import { escapeControls } from "./displayed-text.ts";
import type { OutputFormat } from "./output.ts";
import type { Terminal } from "./terminal.ts";

/** The width if the terminal does not report it. */
const usualColumns = 80;

/** Moves to the first column and erases the rest of the line (ECMA-48: CR, EL). */
const eraseLine = "\r\u001b[K";

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
  readonly #isVisible: boolean;
  #isShown = false;

  constructor(place: ProgressPlace) {
    this.#stderr = place.terminal.stderr;
    this.#isVisible = showsProgress(place);
  }

  /** Replaces the text, cut to the width of the terminal. */
  show(text: string): void {
    if (!this.#isVisible) return;
    const width = (this.#stderr.columns ?? usualColumns) - 1;
    const characters = Array.from(escapeControls(text));
    const shown = characters.length <= width ? characters : [...characters.slice(0, width - 1), "…"];
    this.#stderr.write(`${eraseLine}${shown.join("")}`);
    this.#isShown = true;
  }

  /** Removes the line. */
  clear(): void {
    if (this.#isShown) this.#stderr.write(eraseLine);
    this.#isShown = false;
  }
}
