/** A change as all its watchers share it: read once, and encoded once for each way in which it is told. */

import { encodeText, type RevisionChanges, type WatchedChange } from "../state/index.ts";

/** Bytes that a change takes in a message beside its texts, key and values, about. */
const OVERHEAD_BYTES = 64;

export class SharedChange {
  readonly change: WatchedChange;
  readonly revision: number;
  /** Cluster tick of the change, in milliseconds. */
  readonly tickMs: number;
  /** What the changed thing is called, by which it is watched: a key, or the name of a lock in UTF-8. */
  readonly name: Uint8Array;
  readonly #encodings: (Uint8Array | undefined)[] = [];

  constructor(change: WatchedChange, revision: number, tickMs: number) {
    this.change = change;
    this.revision = revision;
    this.tickMs = tickMs;
    this.name = change.about === "key" ? change.current.key : encodeText(change.name);
  }

  /** About as many bytes as it takes in a message at most. */
  get bytes(): number {
    const { change, name } = this;
    if (change.about === "lock") {
      return OVERHEAD_BYTES + name.length + change.owner.length;
    }
    const { current, previous } = change;
    return OVERHEAD_BYTES + 2 * name.length + current.value.length + (previous?.value.length ?? 0);
  }

  /**
   * The change in one of the ways in which it is told, encoded when this is first asked for.
   *
   * @param variant a small number of the way; whoever uses the same number encodes in the same way.
   */
  encoded(variant: number, encode: (shared: SharedChange) => Uint8Array): Uint8Array {
    const made = this.#encodings[variant] ?? encode(this);
    this.#encodings[variant] = made;
    return made;
  }
}

/** All changes of one revision. */
export interface SharedRevision {
  readonly revision: number;
  readonly changes: readonly SharedChange[];
  /** Bytes that they take in the history. */
  readonly bytes: number;
}

export function shared({ revision, tickMs, changes, bytes }: RevisionChanges): SharedRevision {
  return { revision, changes: changes.map((change) => new SharedChange(change, revision, tickMs)), bytes };
}
