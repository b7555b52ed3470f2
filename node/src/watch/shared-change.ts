/** A change that all its watchers share: read once, and encoded once for each variant. */

import { encodeText, type RevisionChanges, type WatchedChange } from "../state/index.ts";

/** Bytes of a change in a message besides its texts, key and values; an estimate. */
const OVERHEAD_BYTES = 64;

export class SharedChange {
  readonly change: WatchedChange;
  readonly revision: number;
  /** Cluster tick of the change, in milliseconds. */
  readonly tickMs: number;
  /** The name by which the changed object is watched: a key, or the name of a lock in UTF-8. */
  readonly name: Uint8Array;
  readonly #encodings: (Uint8Array | undefined)[] = [];

  constructor(change: WatchedChange, revision: number, tickMs: number) {
    this.change = change;
    this.revision = revision;
    this.tickMs = tickMs;
    this.name = change.about === "key" ? change.current.key : encodeText(change.name);
  }

  /** An estimate of the most bytes that it takes in a message. */
  get bytes(): number {
    const { change, name } = this;
    if (change.about === "lock") {
      return OVERHEAD_BYTES + name.length + change.owner.length;
    }
    const { current, previous } = change;
    return OVERHEAD_BYTES + 2 * name.length + current.value.length + (previous?.value.length ?? 0);
  }

  /**
   * The change, encoded on the first call for a variant and cached from then on.
   *
   * @param variant a small number for the encoding; callers with the same number must encode in the same way.
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
  /** Their bytes in the history. */
  readonly bytes: number;
}

export function shared({ revision, tickMs, changes, bytes }: RevisionChanges): SharedRevision {
  return { revision, changes: changes.map((change) => new SharedChange(change, revision, tickMs)), bytes };
}
