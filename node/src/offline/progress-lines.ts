/** Progress of commands that read a backup: one line at a time on standard error. */

import type { RebuildProgress } from "../rebuild/index.ts";

/** Interval of the lines, in milliseconds. */
const LINE_MS = 1_000;

export function progressLines(): (progress: RebuildProgress) => void {
  let shownMs = performance.now();
  return (progress) => {
    if (performance.now() - shownMs >= LINE_MS) {
      shownMs = performance.now();
      process.stderr.write(`quoin-node: ${describeProgress(progress)}\n`);
    }
  };
}

/** Describes the object that is being read, for people. */
export function describeProgress({ object, objects, objectsTotal, rows, entries }: RebuildProgress): string {
  return `reading object ${objects + 1} of ${objectsTotal}, ${rows} rows and ${entries} entries so far: ${object}`;
}
