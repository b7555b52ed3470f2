export { addMemoryCommands } from "./memory-commands.ts";
