/** Kubernetes and members in memory, for tests of the whole operator. */
export { BackupDrive } from "./backup-drive.ts";
export { Drive } from "./drive.ts";
export { MemberRefusal } from "./quorum.ts";
export { World } from "./world.ts";
