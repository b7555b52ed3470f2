export { LEADER_COMMANDS } from "./leader-commands.ts";
export { MEMBER_COMMANDS } from "./member-commands.ts";
export { SETTINGS_COMMANDS } from "./settings-commands.ts";
export { STATUS } from "./status-command.ts";
