/** What tests of every package use: waiting for facts, and the programs of the system. */
export { BlackHole } from "./black-hole.ts";
export { CommandError, endCommands, type RunOptions, run, runLogged, succeeds, tailOf } from "./command.ts";
export { type Attempt, until } from "./until.ts";
