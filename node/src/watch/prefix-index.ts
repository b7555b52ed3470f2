/**
 * Finds the watchers of a name without checking each of them: by namespace, then by each length of a prefix in that
 * namespace. A change costs one look-up for each different length, and one for all watchers of exactly one name, however
 * many watchers there are.
 */

/** The names that a watcher watches: those with the prefix, or only the one that is equal to it. */
interface Names {
  readonly namespace: string;
  readonly prefix: Uint8Array;
  /** Absent = false. */
  readonly isExact?: boolean;
}

/** Behind the bytes of an exact name; no byte has this character. */
const EXACT = "\u0100";
/** Counts exact names among the lengths of prefixes. */
const EXACT_LENGTH = -1;

interface Prefixes<Watcher> {
  /** By the bytes of the prefix, one character each, and `EXACT` if only that name is watched. */
  readonly watchers: Map<string, Set<Watcher>>;
  /** How many prefixes have this length. */
  readonly lengths: Map<number, number>;
}

export class PrefixIndex<Watcher> {
  readonly #namespaces = new Map<string, Prefixes<Watcher>>();

  add(names: Names, watcher: Watcher): void {
    const { namespace } = names;
    let prefixes = this.#namespaces.get(namespace);
    if (prefixes === undefined) {
      prefixes = { watchers: new Map(), lengths: new Map() };
      this.#namespaces.set(namespace, prefixes);
    }
    const { name, length } = placeOf(names);
    const watchers = prefixes.watchers.get(name);
    if (watchers !== undefined) {
      watchers.add(watcher);
      return;
    }
    prefixes.watchers.set(name, new Set([watcher]));
    prefixes.lengths.set(length, (prefixes.lengths.get(length) ?? 0) + 1);
  }

  /** Removes what `add` added for the same arguments, without a trace. */
  remove(names: Names, watcher: Watcher): void {
    const { namespace } = names;
    const prefixes = this.#namespaces.get(namespace);
    const { name, length } = placeOf(names);
    const watchers = prefixes?.watchers.get(name);
    if (prefixes === undefined || watchers?.delete(watcher) !== true || watchers.size > 0) {
      return;
    }
    prefixes.watchers.delete(name);
    const left = (prefixes.lengths.get(length) ?? 0) - 1;
    if (left > 0) {
      prefixes.lengths.set(length, left);
    } else {
      prefixes.lengths.delete(length);
    }
    if (prefixes.watchers.size === 0) {
      this.#namespaces.delete(namespace);
    }
  }

  /** Calls `visit` once for each watcher of the name. */
  visit(namespace: string, name: Uint8Array, visit: (watcher: Watcher) => void): void {
    const prefixes = this.#namespaces.get(namespace);
    if (prefixes === undefined) {
      return;
    }
    for (const length of prefixes.lengths.keys()) {
      if (length <= name.length) {
        const isExact = length === EXACT_LENGTH;
        prefixes.watchers
          .get(isExact ? firstBytes(name, name.length) + EXACT : firstBytes(name, length))
          ?.forEach(visit);
      }
    }
  }

  /** Whether the index is empty. */
  get isEmpty(): boolean {
    return this.#namespaces.size === 0;
  }
}

/** Where the watchers of these names are. */
function placeOf({ prefix, isExact = false }: Names): { readonly name: string; readonly length: number } {
  const { length } = prefix;
  const name = firstBytes(prefix, length);
  return isExact ? { name: name + EXACT, length: EXACT_LENGTH } : { name, length };
}

function firstBytes(bytes: Uint8Array, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, length).toString("latin1");
}
