/**
 * Names of everything that a run creates outside its own memory. All names contain the process id of the runner, so
 * that a later run can recognise the leftovers of a runner that has ended.
 */

import { tmpdir } from "node:os";
import { join } from "node:path";

/** The environment variable that marks the processes of a run, with the process id of its runner. */
export const RUN_VARIABLE = "QUOIN_NEMESIS_RUN";

const DIRECTORY = "quoin-nemesis-";

/** Network namespace of a member; `runner` is a process id. */
export function namespaceOf(runner: number, member: string): string {
  return `qn${runner}-${member}`;
}

/** The bridge between all members. Names of links have 15 characters at most. */
export function bridgeOf(runner: number): string {
  return `qn${runner}br`;
}

/** The end of a member's cable at the bridge. */
export function cableOf(runner: number, position: number): string {
  return `qn${runner}v${position}`;
}

/** The directory for the mount points of a run. */
export function directoryOf(runner: number): string {
  return join(tmpdir(), `${DIRECTORY}${runner}`);
}

/** The name of a run's control groups, below the root groups of the system. */
export function groupsOf(runner: number): string {
  return `${DIRECTORY}${runner}`;
}

/** Process id of the runner that a namespace, link or path belongs to; null if it belongs to no run. */
export function runnerOf(name: string): number | null {
  const match = /^qn([0-9]+)(?:-|br$|v[0-9]+$)/.exec(name) ?? /(?:^|\/)quoin-nemesis-([0-9]+)(?:\/|$)/.exec(name);
  return match === null ? null : Number(match[1]);
}
