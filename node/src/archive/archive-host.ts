/** The parts of a member that its backups need. */

import type { Member, Replica } from "../replica/index.ts";

export interface ArchiveHost extends Pick<Member, "name" | "clusterName" | "clusterId" | "memberId" | "version"> {
  /** Null unless the member serves. */
  readonly replica: Pick<Replica, "state" | "backups" | "status" | "membershipView" | "readBarrier"> | null;
}

/** The log for events of a backup; a pino logger fits. */
export interface BackupLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
