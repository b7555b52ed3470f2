export { addLeaderCommands } from "./leader-commands.ts";
export { addMemberCommands } from "./member-commands.ts";
export { addSettingsCommands } from "./settings-commands.ts";
export { addStatusCommand } from "./status-command.ts";
