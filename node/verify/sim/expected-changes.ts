/** Changes that the log has made, as comparable text, as watch streams must send them. */

/** A change of a named thing. */
export interface ExpectedChange {
  readonly revision: number;
  readonly namespace: string;
  readonly name: string;
  readonly words: string;
}

export class ExpectedChanges {
  readonly #changes: ExpectedChange[] = [];

  /** Adds changes; their revisions never fall. */
  add(changes: readonly ExpectedChange[]): void {
    this.#changes.push(...changes);
  }

  /** The changes of the namespace with the prefix between the two revisions, both included, in words. */
  between(namespace: string, prefix: string, from: number, to: number): string[] {
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle] as ExpectedChange).revision < from) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const words: string[] = [];
    for (let at = low; at < this.#changes.length; at++) {
      const change = this.#changes[at] as ExpectedChange;
      if (change.revision > to) {
        break;
      }
      if (change.namespace === namespace && change.name.startsWith(prefix)) {
        words.push(change.words);
      }
    }
    return words;
  }
}
