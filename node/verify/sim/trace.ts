/**
 * The events of a run: a hash over all of them, which compares two runs, and the last ones in words.
 *
 * Words are made only on request, because they are rarely needed.
 */

/** Lines that are kept. */
const KEPT = 400;
const FNV_PRIME = 0x01000193;

interface Line {
  readonly atMs: number;
  readonly who: number;
  readonly what: string;
  readonly numbers: readonly number[];
  readonly words: (() => string) | null;
}

/** An event in words. */
export interface TraceLine {
  readonly atMs: number;
  /** Id of the member; 0 = none in particular. */
  readonly who: number;
  readonly words: string;
}

/** Lines between two checkpoints. */
export const CHECKPOINT_LINES = 1_000;

export class Trace {
  readonly #clock: () => number;
  readonly #listener: ((line: TraceLine) => void) | null;
  readonly #checkpoints: string[] = [];
  #count = 0;
  #lines: Line[] = [];
  #high = 0x811c9dc5;
  #low = 0x050c5d1f;

  /** `listener` gets every line in words. */
  constructor(clock: () => number, listener: ((line: TraceLine) => void) | null) {
    this.#clock = clock;
    this.#listener = listener;
  }

  /** 16 hexadecimal digits: equal runs have equal ones. */
  get hash(): string {
    return [this.#high, this.#low].map((part) => (part >>> 0).toString(16).padStart(8, "0")).join("");
  }

  /** The hash after each thousand lines. */
  get checkpoints(): readonly string[] {
    return this.#checkpoints;
  }

  /** Something happens to a member; 0 = to none in particular. The hash covers the numbers, not the words. */
  record(who: number, what: string, numbers: readonly number[] = [], words: (() => string) | null = null): void {
    const atMs = this.#clock();
    this.#mix(Math.floor(atMs * 1000));
    this.#mix(who);
    for (let at = 0; at < what.length; at++) {
      this.#mix(what.charCodeAt(at));
    }
    for (const number of numbers) {
      this.#mix(number);
    }
    this.#count++;
    if (this.#count % CHECKPOINT_LINES === 0) {
      this.#checkpoints.push(this.hash);
    }
    const line = { atMs, who, what, numbers, words };
    this.#listener?.(formatLine(line));
    this.#lines.push(line);
    if (this.#lines.length > 2 * KEPT) {
      this.#lines = this.#lines.slice(-KEPT);
    }
  }

  /** The last lines, oldest first. */
  last(count: number): TraceLine[] {
    return this.#lines.slice(-count).map(formatLine);
  }

  #mix(number: number): void {
    // The part above 32 bits counts as well.
    this.#high = Math.imul(this.#high ^ (number | 0), FNV_PRIME);
    this.#low = Math.imul(this.#low ^ Math.floor(number / 0x1_0000_0000) ^ this.#high ^ (this.#high >>> 15), FNV_PRIME);
  }
}

function formatLine({ atMs, who, what, numbers, words }: Line): TraceLine {
  const tail = words === null ? numbers.join(" ") : words();
  return { atMs, who, words: `${what} ${tail}`.trimEnd() };
}
