/** Why a call about backups fails. */

import { BackupError, StoreFailure } from "@quoin/backup";
import { StateExportEnded } from "../../replica/index.ts";
import { CoordinationError } from "../../state/index.ts";
import { toError } from "./attempt.ts";

/** The refusal of a call that needs a store at a member without one. */
export function noStore(): CoordinationError {
  return new CoordinationError(
    "NO_BACKUP_STORE",
    "this member has no backup store. Start it with --backup-store, or stream a backup with Snapshot",
  );
}

/** Turns an error into the refusal that the caller gets. */
export function refusalOf(error: unknown): CoordinationError | Error {
  if (error instanceof BackupError && error.code === "unsupported-node") {
    // It says nothing about the store, and a retry does not help.
    return new CoordinationError("NOT_SERVED", error.message);
  }
  if (error instanceof StoreFailure || error instanceof BackupError) {
    return new CoordinationError("BACKUP_STORE_UNAVAILABLE", error.message);
  }
  if (error instanceof StateExportEnded) {
    return new CoordinationError("LEADER_CHANGED", `the backup has ended: ${error.message}`);
  }
  return toError(error);
}
