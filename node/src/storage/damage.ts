/**
 * Stores that have lost acknowledged data: how that is remembered, and how they are put aside.
 *
 * A damaged member of several goes on without a vote (P46): the fence says so, durably, before anything else changes.
 * The lost stores move to `lost-<n>/` and are never deleted. A start that is cut short anywhere here is damaged again,
 * and puts aside what is left.
 */

import { mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { crashPoint } from "./crash-point.ts";
import { replaceFile, syncDirectory } from "./durable-file.ts";
import { type Fence, writeFence } from "./fence.ts";
import { DIRECTORY_MODE } from "./member-stores.ts";
import type { StoreError } from "./store-error.ts";

/** Files that a running member leaves when it read something corrupt: the next start takes the store for lost. */
export const SUSPECT_LOG = "suspect";
export const SUSPECT_STATE = "suspect-state";

export type LostStore = "log" | "state";

/** In each `lost-<n>/`: why it is there. */
const REASON_FILE = "reason";
const LOST_PATTERN = /^lost-([1-9][0-9]*)$/;
/** What belongs to a store: its directories, and what was kept of them. */
const CONTENTS: Readonly<Record<LostStore, RegExp>> = {
  log: /^raft(-before-recovery.*)?$/,
  state: /^state(-[1-9][0-9]*(-before-recovery.*)?)?$/,
};
const NOTES: Readonly<Record<LostStore, string>> = { log: SUSPECT_LOG, state: SUSPECT_STATE };

/** Reports errors to `onFatal`, a corruption only after a note of it is durable. */
export function noteCorruption(
  directory: string,
  file: typeof SUSPECT_LOG | typeof SUSPECT_STATE,
  onFatal: (error: StoreError) => void,
): (error: StoreError) => void {
  return (error) => {
    try {
      if (error.kind === "corruption") {
        replaceFile(join(directory, file), `${error.message}\n`);
      }
    } finally {
      onFatal(error);
    }
  };
}

/** Writes the mark of damage into the fence; returns the fence, durable. */
export function markDamaged(fencePath: string, fence: Fence): Fence {
  const marked = { ...fence, counter: fence.counter + 1, damaged: true };
  crashPoint("damage.mark.before");
  writeFence(fencePath, marked);
  crashPoint("damage.mark.after");
  return marked;
}

/**
 * Moves what is there of the stores, which must be closed, into the next `lost-<n>/`, with the reason; notes about them
 * follow when their stores are gone for certain. Durable on return.
 */
export function putAside(directory: string, stores: readonly LostStore[], reason: string): void {
  const names = readdirSync(directory);
  const lost = join(directory, `lost-${newestLost(names) + 1}`);
  mkdirSync(lost, { mode: DIRECTORY_MODE });
  syncDirectory(directory);
  replaceFile(join(lost, REASON_FILE), `${reason}\n`);
  const contents = stores.flatMap((store) => names.filter((name) => CONTENTS[store].test(name)));
  const notes = stores.map((store) => NOTES[store]).filter((name) => names.includes(name));
  for (const moved of [contents, notes]) {
    for (const name of moved) {
      crashPoint("damage.move.before");
      renameSync(join(directory, name), join(lost, name));
      crashPoint("damage.move.after");
    }
    syncDirectory(lost);
    syncDirectory(directory);
  }
  crashPoint("damage.moved");
}

/** What a damaged member says of itself while it heals: what was lost last, and where the rest of it is. */
export function describeLoss(directory: string): string {
  const newest = newestLost(readdirSync(directory));
  const lost = newest === 0 ? null : join(directory, `lost-${newest}`);
  const whatIsLeft = lost === null ? "" : ` (${readReason(lost)}; what is left of it is in ${lost})`;
  return (
    `acknowledged data was lost here${whatIsLeft}; this member neither votes nor leads until it has everything again ` +
    "from the others, and then goes on by itself"
  );
}

/** Number of the newest `lost-<n>`; 0 = there is none. */
function newestLost(names: readonly string[]): number {
  return Math.max(0, ...names.map((name) => Number(LOST_PATTERN.exec(name)?.[1] ?? 0)));
}

function readReason(lost: string): string {
  try {
    return readFileSync(join(lost, REASON_FILE), "utf8").trim();
  } catch (error) {
    // A person may have taken it away, and it is only told.
    return `the reason cannot be read: ${String(error)}`;
  }
}
