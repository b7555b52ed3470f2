/**
 * The number of keys with a prefix, counted in steps, between which the keys may change. The history tells what has
 * changed among the keys that are counted already, so the number is exact at the revision of the last step.
 */

import { compareBytes, withNul } from "../../bytes/index.ts";
import {
  completeFrom,
  keyRow,
  prefixRange,
  requireNamespace,
  type StateReader,
  type Steps,
  scanHistory,
  type WatchedChange,
} from "../core/index.ts";

/** A state that changes between steps, and its revision. */
interface CountedState {
  readonly state: StateReader;
  readonly revision: number;
}

export interface KeyCount {
  /** At most `keysMax`. */
  readonly keys: number;
  /** Whether there are more keys than `keysMax`. */
  readonly more: boolean;
  readonly revision: number;
}

/**
 * Counts the keys with the prefix. Raises NAMESPACE_NOT_FOUND.
 *
 * @param mayGoOn asked after each row; false = the step ends.
 */
export function* countKeys(
  from: CountedState,
  { namespace, prefix }: { readonly namespace: string; readonly prefix: Uint8Array },
  keysMax: number,
  mayGoOn: () => boolean,
): Steps<KeyCount> {
  const { from: first, to: end } = prefixRange(keyRow(namespace, prefix));
  let keys = 0;
  /** The rows below are counted, as of `revision`. */
  let next = first;
  let { revision } = from;
  const difference = (change: WatchedChange): number => {
    if (change.about === "lock" || change.namespace !== namespace) {
      return 0;
    }
    const row = keyRow(namespace, change.current.key);
    if (compareBytes(row, first) < 0 || compareBytes(row, next) >= 0) {
      return 0;
    }
    return (change.kind === "put" ? 1 : 0) - (change.previous === null ? 0 : 1);
  };
  for (;;) {
    const { state, revision: last } = from;
    requireNamespace(state, namespace);
    let isPaused = false;
    if (revision < last && revision + 1 < completeFrom(state, namespace)) {
      [keys, next, revision] = [0, first, last];
    }
    scanHistory(state, revision + 1, last, (read) => {
      revision = read.revision;
      for (const change of read.changes) {
        keys += difference(change);
      }
      isPaused = !mayGoOn();
      return !isPaused;
    });
    if (!isPaused) {
      revision = last;
      let counted: Uint8Array | null = null;
      state.scan(next, end, ({ key }) => {
        counted = key;
        keys++;
        isPaused = keys <= keysMax && !mayGoOn();
        return keys <= keysMax && !isPaused;
      });
      next = counted === null ? next : withNul(counted);
    }
    if (!isPaused) {
      return { keys: Math.min(keys, keysMax), more: keys > keysMax, revision };
    }
    yield;
  }
}
