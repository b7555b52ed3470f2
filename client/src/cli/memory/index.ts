export { MEMORY_COMMANDS } from "./memory-commands.ts";
