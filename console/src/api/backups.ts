/** Backups: the store, what it contains, and the state of each member's backups. */

import type * as Proto from "@quoin/proto";
import { type CallOptions, read } from "./call.ts";
import type { Json } from "./json.ts";

export type BackupStatus = Json<Proto.GetBackupStatusResponse>;
export type BackupEntry = Json<Proto.BackupEntry>;
export type BackupList = Json<Proto.ListBackupsResponse>;

/** @param memberId empty = the member that serves this page. */
export async function getBackupStatus(memberId: string, options: CallOptions): Promise<BackupStatus> {
  return await read<Proto.GetBackupStatusRequest, Proto.GetBackupStatusResponse>(
    "ClusterAdminService",
    "GetBackupStatus",
    { memberId },
    options,
  );
}

/** The backups of this cluster, oldest first. */
export async function listBackups(options: CallOptions): Promise<BackupList> {
  return await read<Proto.ListBackupsRequest, Proto.ListBackupsResponse>(
    "ClusterAdminService",
    "ListBackups",
    {},
    options,
  );
}
