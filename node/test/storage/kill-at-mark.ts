/**
 * Ends the process, as a crash does, when it passes a mark for the nth time. `--import` loads it before the program, in
 * every thread; the environment sets the mark: `QUOIN_TEST_KILL=<mark>:<n>`.
 */

import { isMainThread } from "node:worker_threads";
import { listenToMarks } from "../../src/primitives/index.ts";

/**
 * How long a worker thread stops at its mark before the end, in milliseconds. The main thread then has time to print
 * its output, so that a premature answer shows.
 */
const STAND_STILL_MS = 20;

const [mark, count] = (process.env.QUOIN_TEST_KILL ?? "").split(":");
if (mark === undefined || mark === "" || count === undefined) {
  throw new Error("QUOIN_TEST_KILL is missing");
}
let left = Number(count);
listenToMarks((name) => {
  if (name !== mark || --left !== 0) {
    return;
  }
  if (!isMainThread) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STAND_STILL_MS);
  }
  process.kill(process.pid, "SIGKILL");
});
