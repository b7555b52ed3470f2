export { ELECTION_COMMANDS } from "./election-commands.ts";
export { LOCK_COMMANDS, READ_WRITE_LOCK_COMMANDS, SEMAPHORE_COMMANDS } from "./lock-commands.ts";
