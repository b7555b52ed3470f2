/** The operator's client for members. */
export type { ArchiveReport, BackupReport, BackupRunReport, StoredBackup } from "./backup-messages.ts";
export type { MemberAddress } from "./member-channels.ts";
export { MemberClient, type Owner } from "./member-client.ts";
export { MemberError } from "./member-error.ts";
export type { MemberAnswer } from "./messages.ts";
