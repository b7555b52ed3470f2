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

  /** By namespace and name, the revision of the last change. */
  readonly #last = new Map<string, Map<string, number>>();

  /** The revision of the last change of each name that ever changed. */
  lastOf(namespace: string): ReadonlyMap<string, number> {
    return this.#last.get(namespace) ?? new Map();
  }

  /** Adds changes; their revisions never fall. */
  add(changes: readonly ExpectedChange[]): void {
    this.#changes.push(...changes);
    for (const { namespace, name, revision } of changes) {
      const last = this.#last.get(namespace) ?? new Map();
      this.#last.set(namespace, last.set(name, revision));
    }
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
