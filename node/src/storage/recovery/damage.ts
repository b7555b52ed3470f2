/**
 * Handles stores that have lost acknowledged data: marks the damage, and quarantines the stores.
 *
 * In a cluster of several members a damaged member continues without a vote (P46). The mirror records that durably
 * before anything else changes. The lost stores move to `lost-<n>/` and are never deleted. If a crash interrupts any
 * step here, the next start finds the damage again, and puts aside what is left.
 */

import { mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import {
  crashPoint,
  DIRECTORY_MODE,
  type HardStateMirror,
  replaceFile,
  type StoreError,
  syncDirectory,
  writeMirror,
} from "../files/index.ts";

/** Files that a running member writes when it reads corrupt data: the next start treats that store as lost. */
export const SUSPECT_LOG = "suspect";
export const SUSPECT_STATE = "suspect-state";

export type LostStore = "log" | "state";

/** File in each `lost-<n>/` with the reason. */
const REASON_FILE = "reason";
const LOST_PATTERN = /^lost-([1-9][0-9]*)$/;
/** Names that belong to a store: its directories, those of the former format, and the copies kept before recovery. */
const CONTENTS: Readonly<Record<LostStore, RegExp>> = {
  log: /^(log|raft(-before-recovery.*)?)$/,
  state: /^state(-[1-9][0-9]*(-before-recovery.*)?)?$/,
};
const NOTES: Readonly<Record<LostStore, string>> = { log: SUSPECT_LOG, state: SUSPECT_STATE };

/** Returns a function that reports errors to `onFatal`. For a corruption it first writes a durable note. */
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

/** Writes the mark of damage into the mirror; returns the mirror, durable. */
export function markDamaged(mirrorPath: string, mirror: HardStateMirror): HardStateMirror {
  const marked = { ...mirror, counter: mirror.counter + 1, damaged: true };
  crashPoint("damage.mark.before");
  writeMirror(mirrorPath, marked);
  crashPoint("damage.mark.after");
  return marked;
}

/**
 * Moves the files of the stores, which must be closed, into the next `lost-<n>/`, with the reason. Moves the notes
 * about them only after the stores have durably moved. Durable on return.
 */
export function quarantine(directory: string, stores: readonly LostStore[], reason: string): void {
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

/** The message of a damaged member while it heals: what was lost last, and where the remaining files are. */
export function describeLoss(directory: string): string {
  const newest = newestLost(readdirSync(directory));
  const lost = newest === 0 ? null : join(directory, `lost-${newest}`);
  const whatIsLeft = lost === null ? "" : ` (${readReason(lost)}; what is left of it is in ${lost})`;
  return (
    `acknowledged data was lost here${whatIsLeft}; this member neither votes nor leads until it has everything again ` +
    "from the others, and then continues by itself"
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
    // A person may have deleted the file, and the reason is only for display.
    return `the reason cannot be read: ${String(error)}`;
  }
}
