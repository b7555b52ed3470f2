/** The locks of a namespace that is being deleted. */

import {
  type CoordinationError,
  lockRow,
  type NamespacedRows,
  namespaceRefusalOf,
  prefixRange,
  splitLockRow,
} from "../core/index.ts";
import { removeEnded } from "./lock-grants.ts";
import { decodeLock, readHolds, waitsOf } from "./lock-rows.ts";
import { removeUnheld } from "./locks.ts";

/** Of a hold or a wait: its own row, its timer, and the state of its request. */
const ROWS_OF_REQUEST = 3;

/** All locks of a namespace, with their holds and waits. */
export const namespaceLocks: NamespacedRows = {
  rangeOf: (namespace) => ({
    from: lockRow(namespace, false, ""),
    to: prefixRange(lockRow(namespace, true, "")).to,
  }),
  erase: (context, namespace, { key, value }) => {
    const lock = decodeLock(splitLockRow(key), value);
    const holds = readHolds(context.transaction, lock);
    const rows = 1 + ROWS_OF_REQUEST * (holds.length + waitsOf(lock));
    for (const hold of holds) {
      removeEnded(context, lock, hold, "granted");
    }
    removeUnheld(context, lock, namespaceRefusalOf(context.transaction, namespace) as CoordinationError);
    return rows;
  },
};
