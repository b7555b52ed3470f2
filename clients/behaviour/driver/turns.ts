/** Turns of work on one cluster: some of it must run alone. First come, first served. */

interface Waiting {
  readonly isAlone: boolean;
  readonly start: () => void;
}

export class Turns {
  #running = 0;
  #isAlone = false;
  readonly #waiting: Waiting[] = [];

  /** Resolves when it is the caller's turn, to a function that ends the turn. */
  async take(isAlone: boolean): Promise<() => void> {
    await new Promise<void>((start) => {
      this.#waiting.push({ isAlone, start });
      this.#admit();
    });
    return () => {
      this.#running -= 1;
      this.#isAlone = false;
      this.#admit();
    };
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#isAlone || (next.isAlone && this.#running > 0)) {
        return;
      }
      this.#waiting.shift();
      this.#running += 1;
      this.#isAlone = next.isAlone;
      next.start();
    }
  }
}
