/**
 * Finds the watchers of a name without checking each of them: by namespace, then by each length of a prefix in that
 * namespace. A change costs one look-up for each different length, however many watchers there are.
 */

interface Prefixes<Watcher> {
  /** By the bytes of the prefix, one character each. */
  readonly watchers: Map<string, Set<Watcher>>;
  /** How many prefixes have this length. */
  readonly lengths: Map<number, number>;
}

export class PrefixIndex<Watcher> {
  readonly #namespaces = new Map<string, Prefixes<Watcher>>();

  add(namespace: string, prefix: Uint8Array, watcher: Watcher): void {
    let prefixes = this.#namespaces.get(namespace);
    if (prefixes === undefined) {
      prefixes = { watchers: new Map(), lengths: new Map() };
      this.#namespaces.set(namespace, prefixes);
    }
    const name = firstBytes(prefix, prefix.length);
    const watchers = prefixes.watchers.get(name);
    if (watchers !== undefined) {
      watchers.add(watcher);
      return;
    }
    prefixes.watchers.set(name, new Set([watcher]));
    prefixes.lengths.set(prefix.length, (prefixes.lengths.get(prefix.length) ?? 0) + 1);
  }

  /** Removes what `add` added for the same arguments, without a trace. */
  remove(namespace: string, prefix: Uint8Array, watcher: Watcher): void {
    const prefixes = this.#namespaces.get(namespace);
    const name = firstBytes(prefix, prefix.length);
    const watchers = prefixes?.watchers.get(name);
    if (prefixes === undefined || watchers?.delete(watcher) !== true || watchers.size > 0) {
      return;
    }
    prefixes.watchers.delete(name);
    const left = (prefixes.lengths.get(prefix.length) ?? 0) - 1;
    if (left > 0) {
      prefixes.lengths.set(prefix.length, left);
    } else {
      prefixes.lengths.delete(prefix.length);
    }
    if (prefixes.watchers.size === 0) {
      this.#namespaces.delete(namespace);
    }
  }

  /** Calls `visit` once for each watcher whose prefix matches the name. */
  visit(namespace: string, name: Uint8Array, visit: (watcher: Watcher) => void): void {
    const prefixes = this.#namespaces.get(namespace);
    if (prefixes === undefined) {
      return;
    }
    for (const length of prefixes.lengths.keys()) {
      const watchers = length <= name.length ? prefixes.watchers.get(firstBytes(name, length)) : undefined;
      watchers?.forEach(visit);
    }
  }

  /** Whether the index is empty. */
  get isEmpty(): boolean {
    return this.#namespaces.size === 0;
  }
}

function firstBytes(bytes: Uint8Array, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, length).toString("latin1");
}
