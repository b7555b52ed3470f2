/** How commands show that they are reading a backup: a line on standard error, from time to time. */

import type { RebuildProgress } from "./rebuild/index.ts";

/** How often the progress is printed, in milliseconds. */
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

/** Which object is being read, for people. */
export function describeProgress({ object, objects, objectsTotal, rows, entries }: RebuildProgress): string {
  return `reading object ${objects + 1} of ${objectsTotal}, ${rows} rows and ${entries} entries so far: ${object}`;
}
