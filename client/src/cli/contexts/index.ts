export { addContextCommands } from "./context-commands.ts";
export { addLoginCommand } from "./login-command.ts";
export { addLogoutCommand } from "./logout-command.ts";
