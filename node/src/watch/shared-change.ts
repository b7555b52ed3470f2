/** A change as all its watchers share it: read once, and encoded once for each way in which it is told. */

import type { KeyChange, RevisionChanges } from "../state/index.ts";

/** Bytes that a change takes in a message beside its key and values, about. */
const OVERHEAD_BYTES = 64;

export class SharedChange {
  readonly change: KeyChange;
  /** Cluster tick of the change, in milliseconds. */
  readonly tickMs: number;
  readonly #encodings: (Uint8Array | undefined)[] = [];

  constructor(change: KeyChange, tickMs: number) {
    this.change = change;
    this.tickMs = tickMs;
  }

  /** About as many bytes as it takes in a message at most. */
  get bytes(): number {
    const { current, previous } = this.change;
    return OVERHEAD_BYTES + 2 * current.key.length + current.value.length + (previous?.value.length ?? 0);
  }

  /**
   * The change in one of the ways in which it is told, encoded when this is first asked for.
   *
   * @param variant a small number of the way; whoever uses the same number encodes in the same way.
   */
  encoded(variant: number, encode: (change: KeyChange, tickMs: number) => Uint8Array): Uint8Array {
    const made = this.#encodings[variant] ?? encode(this.change, this.tickMs);
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
  return { revision, changes: changes.map((change) => new SharedChange(change, tickMs)), bytes };
}
