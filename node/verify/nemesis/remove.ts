/**
 * Removes everything that a run has created outside its own memory. It is a separate program, so that a run that ends
 * at any point can wait for it and do nothing else meanwhile.
 *
 *     node remove.ts <process id of the run>
 */

import { removeTraces } from "./leftovers.ts";

const runner = Number(process.argv[2]);
/** Several rounds, because things that are being created during one round exist only afterwards. */
const ROUNDS_MAX = 5;

for (let rounds = 0; rounds < ROUNDS_MAX; rounds++) {
  if ((await removeTraces((one) => one === runner)).length === 0) {
    break;
  }
}
