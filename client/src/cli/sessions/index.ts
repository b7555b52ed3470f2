export { SESSION_COMMANDS } from "./session-commands.ts";
