export { addLogCommands } from "./log-commands.ts";
