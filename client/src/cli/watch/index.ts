export { WATCH_COMMANDS } from "./watch-commands.ts";
