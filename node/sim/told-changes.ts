/** What members have told watchers, in the words of the oracles that judge histories. */

import type { KeyContent, WatchedChange, WatchedLockChange } from "../history/index.ts";
import type { KeyChange, LockChange, StoredKey } from "../src/state/index.ts";
import { nameInHistory } from "./lock-history.ts";

export function toldOfKey({ kind, current, previous }: KeyChange): WatchedChange {
  const content = contentOf(current);
  return { kind, key: textOf(current.key), content, previous: previous === null ? null : contentOf(previous) };
}

export function toldOfLock(change: LockChange, revision: number): WatchedLockChange {
  const { kind, owner, mode, token, reason } = change;
  return { kind, lock: nameInHistory(change), owner, mode, token, reason, revision };
}

function contentOf({ value, createRevision, modRevision, version }: StoredKey): KeyContent {
  return { value: textOf(value), createRevision, modRevision, version };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
