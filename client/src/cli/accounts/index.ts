export { API_KEY_COMMANDS } from "./key-commands.ts";
export { OWNER_COMMANDS } from "./owner-commands.ts";
export { TOKEN } from "./token-command.ts";
export { USAGE } from "./usage-command.ts";
export { USER_COMMANDS } from "./user-commands.ts";
export { WHOAMI } from "./whoami-command.ts";
