/**
 * Crash points: named marks between two durable steps.
 *
 * The specs of this folder kill a child process at every crash point and check what the next start finds. They iterate
 * over these lists, so each new durable step must add its points here.
 */

import { mark } from "../../primitives/index.ts";

export const CRASH_POINTS = [
  "log.batch.before",
  "log.batch.after",
  "log.segment.before",
  "log.segment.begun",
  "log.segment.after",
  "mirror.write.before",
  "mirror.write.after",
  "mirror.sync.before",
  "mirror.sync.after",
  "log.ack.before",
  "log.ack.after",
  "log.clear.before",
  "log.clear.after",
  "state.batch.before",
  "state.batch.after",
  "state.sync.before",
  "state.sync.after",
  "file.write.before",
  "file.rename.before",
  "file.rename.after",
  "file.directory-sync.after",
  "file.link.before",
  "file.link.after",
  "found.log.before",
  "found.log.after",
  "found.state.after",
  "found.identity.after",
] as const;

/** Crash points of a start that finds acknowledged data lost, in order. */
export const DAMAGE_CRASH_POINTS = [
  "damage.mark.before",
  "damage.mark.after",
  "damage.move.before",
  "damage.move.after",
  "damage.moved",
  "damage.made",
  "damage.started",
] as const;

/** Crash points of the installation of a snapshot, in the order of an undisturbed run. */
export const INSTALL_CRASH_POINTS = [
  "install.begin.before",
  "install.begin.after",
  "install.rows.before",
  "install.rows.after",
  "install.finish.before",
  "install.finish.after",
  "install.place.before",
  "install.place.after",
  "install.switch.before",
  "install.switch.after",
  "install.delete.before",
  "install.delete.after",
] as const;

/** Crash points of a succession, in the order of an undisturbed run. */
export const SUCCESSION_CRASH_POINTS = [
  "successor.begin.after",
  "successor.state.after",
  "successor.log.after",
  "successor.made.before",
  "successor.made.after",
  "successor.move.before",
  "successor.move.after",
  "successor.retired.after",
  "successor.away.after",
  "successor.placing.after",
  "successor.placed.after",
] as const;

/** Crash points of the conversion of a log of the former format, in order. */
export const CONVERSION_CRASH_POINTS = [
  "convert.begin.after",
  "convert.written.after",
  "convert.placed.after",
  "convert.identity.after",
  "convert.aside.after",
] as const;

/** Crash points of each range of rows that is dropped after a batch. */
export const DROP_CRASH_POINTS = ["state.drop.before", "state.drop.after"] as const;

export type CrashPoint =
  | (typeof CRASH_POINTS)[number]
  | (typeof DAMAGE_CRASH_POINTS)[number]
  | (typeof INSTALL_CRASH_POINTS)[number]
  | (typeof SUCCESSION_CRASH_POINTS)[number]
  | (typeof CONVERSION_CRASH_POINTS)[number]
  | (typeof DROP_CRASH_POINTS)[number];

/** Passes the crash point; a listener may end the process here. */
export function crashPoint(point: CrashPoint): void {
  mark(point);
}
