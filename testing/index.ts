/** For the tests of every package: waiting for facts, running programs, directories, collecting traces, and drawing. */
export { BlackHole } from "./black-hole.ts";
export { CommandError, endCommands, type RunOptions, run, runLogged, succeeds, tailOf } from "./command.ts";
export { drawnSeed, SEED_VARIABLE, seedFor, testSeed } from "./drawn-seed.ts";
export { mapWithLimit } from "./parallel.ts";
export { importing, PROGRAMS_VARIABLE, programOf } from "./programs.ts";
export { removeTemporaryDirectories, temporaryDirectory } from "./temporary-directory.ts";
export { type CollectedSpan, TraceCollector } from "./trace-collector.ts";
export { type Attempt, until } from "./until.ts";
export { madeOnce, userCache } from "./user-cache.ts";
