/**
 * Removes everything that a run has made outside its own memory. A program of its own, so that a run which ends in the
 * middle of something can wait for it and do nothing else meanwhile.
 *
 *     node remove.ts <process id of the run>
 */

import { removeTraces } from "./leftovers.ts";

const runner = Number(process.argv[2]);
/** What is on its way when everything is removed is there a moment later. */
const ROUNDS_MAX = 5;

for (let rounds = 0; rounds < ROUNDS_MAX; rounds++) {
  if ((await removeTraces((one) => one === runner)).length === 0) {
    break;
  }
}
