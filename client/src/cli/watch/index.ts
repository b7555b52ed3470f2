export { addWatchCommands } from "./watch-commands.ts";
