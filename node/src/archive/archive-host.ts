/** What backups need of the member that makes them. */

import type { Member, Replica } from "../replica/index.ts";

export interface ArchiveHost extends Pick<Member, "name" | "clusterName" | "clusterId" | "memberId" | "version"> {
  /** Null unless the member serves. */
  readonly replica: Pick<Replica, "state" | "backups" | "status" | "membershipView" | "readBarrier"> | null;
}

/** Where a backup tells what happens to it. A pino logger is one. */
export interface BackupLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
