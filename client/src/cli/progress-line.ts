/** One line on the standard error that changes while a command waits; nothing if that is not a terminal. */

import { escapeControls } from "./displayed-text.ts";
import type { Terminal } from "./terminal.ts";

/** The width if the terminal does not report it. */
const usualColumns = 80;

/** Moves to the first column and erases the rest of the line (ECMA-48: CR, EL). */
const eraseLine = "\r\u001b[K";

/** A line that can be replaced. */
export class ProgressLine {
  readonly #stderr: Terminal["stderr"];
  #isShown = false;

  constructor({ stderr }: Pick<Terminal, "stderr">) {
    this.#stderr = stderr;
  }

  /** Replaces the text, cut to the width of the terminal. */
  show(text: string): void {
    if (this.#stderr.isTTY !== true) return;
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
