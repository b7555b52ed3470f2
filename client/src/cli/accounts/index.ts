export { addKeyCommands } from "./key-commands.ts";
export { addOwnerCommands } from "./owner-commands.ts";
export { addTokenCommand } from "./token-command.ts";
export { addUsageCommand } from "./usage-command.ts";
export { addUserCommands } from "./user-commands.ts";
export { addWhoamiCommand } from "./whoami-command.ts";
