export { addLockCommands, addReadWriteLockCommands } from "./lock-commands.ts";
