/** Kubernetes and members in memory, for what the operator does from beginning to end. */
export { BackupDrive } from "./backup-drive.ts";
export { Drive } from "./drive.ts";
export { MemberRefusal } from "./quorum.ts";
export { World } from "./world.ts";
