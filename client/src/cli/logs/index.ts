export { LOG_COMMANDS } from "./log-commands.ts";
