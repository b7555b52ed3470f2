/** Things that one action at a time uses, so that what it does with one has a result that is known in advance. */

export class Pool<Thing> {
  readonly all: readonly Thing[];
  readonly #free: Thing[];

  constructor(all: readonly Thing[]) {
    this.all = all;
    this.#free = [...all];
  }

  /** Does the work with one of those that are free, chosen at random; null = none is. */
  use(work: (thing: Thing) => Promise<void>): Promise<void> | null {
    const at = Math.floor(Math.random() * this.#free.length);
    const thing = this.#free[at];
    if (thing === undefined) {
      return null;
    }
    this.#free[at] = this.#free.at(-1) as Thing;
    this.#free.pop();
    return work(thing).finally(() => this.#free.push(thing));
  }
}
