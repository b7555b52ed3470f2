/** For the tests of every package: waiting for facts, and running programs of the system. */
export { BlackHole } from "./black-hole.ts";
export { CommandError, endCommands, type RunOptions, run, runLogged, succeeds, tailOf } from "./command.ts";
export { type Attempt, until } from "./until.ts";
