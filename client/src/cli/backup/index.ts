export { BACKUP_COMMANDS } from "./backup-commands.ts";
