/** The changes that members have sent to watchers, in the form that the oracles of histories use. */

import type { KeyChange, LockChange } from "../../src/state/index.ts";
import type { WatchedChange, WatchedLockChange } from "../history/index.ts";
import { contentOf, textOf } from "./key-history.ts";
import { nameInHistory } from "./lock-history.ts";

export function sentKeyChange({ kind, current, previous }: KeyChange): WatchedChange {
  const content = contentOf(current);
  return { kind, key: textOf(current.key), content, previous: previous === null ? null : contentOf(previous) };
}

export function sentLockChange(change: LockChange, revision: number): WatchedLockChange {
  const { kind, owner, mode, token, reason } = change;
  return { kind, lock: nameInHistory(change), owner, mode, token, reason, revision };
}
