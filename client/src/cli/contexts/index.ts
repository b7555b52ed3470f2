export { CONTEXT_COMMANDS } from "./context-commands.ts";
export { LOGIN } from "./login-command.ts";
export { LOGOUT } from "./logout-command.ts";
