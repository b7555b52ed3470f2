export { LOCK_COMMANDS, READ_WRITE_LOCK_COMMANDS } from "./lock-commands.ts";
