export { addBackupCommands } from "./backup-commands.ts";
