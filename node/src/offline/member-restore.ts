/** The backup from which a member founds its cluster, as its flags name it. */

import { BackupError, StoreFailure } from "@quoin/backup";
import type { RestoreConfiguration } from "../process/index.ts";
import type { RebuildProgress } from "../rebuild/index.ts";
import type { Clock, FoundingBackup, Member } from "../replica/index.ts";
import { CoordinationError, type Founding, type ResetOwner, UnknownVersion } from "../state/index.ts";
import { Refused, type Restoration } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { describeRestore, restoreCluster, summaryOf } from "./cluster-restore.ts";
import { describeProgress } from "./progress-lines.ts";

/** Interval at which the member reports progress, in milliseconds. */
const PROGRESS_MS = 2_000;
/** The subject of the entry that names the owner. */
const SUBJECT = "bootstrap";

/** Returns null if the member founds an empty cluster. */
export function memberBackup(
  configuration: RestoreConfiguration | null,
  clock: Clock,
  logger: Logger,
): FoundingBackup | null {
  if (configuration === null) {
    return null;
  }
  return {
    restore: async (restoration, founding, told) => {
      logger.info({ source: configuration }, "this member founds the cluster from a backup");
      return await restore({ configuration, wallMs: clock.wallMs(), logger }, restoration, founding, told);
    },
  };
}

/** Logs once that a member with data does not need the backup. */
export function noteIgnoredBackup(
  configuration: RestoreConfiguration | null,
  { state, clusterId }: Pick<Member, "state" | "clusterId">,
  logger: Logger,
): void {
  if (configuration !== null && clusterId !== "") {
    logger.info(
      { state, clusterId },
      "--restore-from is ignored: the data directory already contains the data of a cluster",
    );
  }
}

/**
 * Returns a summary for people. Raises a CoordinationError that names the problem with the backup, a StoreError, and
 * the errors of `told`.
 */
async function restore(
  context: { readonly configuration: RestoreConfiguration; readonly wallMs: number; readonly logger: Logger },
  restoration: Restoration,
  founding: Founding,
  onProgress: (progress: string) => void,
): Promise<string> {
  const { configuration, wallMs, logger } = context;
  const { clusterId, clusterName, memberName: name, address } = founding;
  const cluster = { clusterId, wallMs, owner: ownerOf(founding), member: { clusterName, name, address } };
  try {
    const report = await restoreCluster(configuration, restoration, cluster, throttledProgress(onProgress));
    // The local launcher shows this field.
    logger.info({ restore: describeRestore(report) }, "the cluster was restored from a backup");
    return summaryOf(report);
  } catch (error) {
    throw refusalOf(error);
  }
}

/** Calls `told` every time, because that call may end the restore, but changes the text only at intervals. */
function throttledProgress(onProgress: (progress: string) => void): (progress: RebuildProgress) => void {
  let text = "the cluster is being restored from a backup";
  let changedMs = performance.now();
  return (progress) => {
    if (performance.now() - changedMs >= PROGRESS_MS) {
      changedMs = performance.now();
      text = `the cluster is being restored from a backup: ${describeProgress(progress)}`;
    }
    onProgress(text);
  };
}

/** The owner of the founding becomes an owner of the restored cluster; its other users stay. */
function ownerOf({ owner }: Founding): ResetOwner {
  const { userId, email, passwordHash, apiKeyId, apiKeyPrefix: prefix, apiKeySha256: sha256 } = owner;
  const apiKey = { apiKeyId, prefix, sha256 };
  return { kind: "reset-owner", userId, email, passwordHash, apiKey, subject: SUBJECT, request: null };
}

function refusalOf(error: unknown): unknown {
  if (error instanceof StoreFailure) {
    return new CoordinationError("BACKUP_STORE_UNAVAILABLE", `no cluster was founded: ${error.message}`);
  }
  if (error instanceof BackupError && error.code === "unsupported-node") {
    return new CoordinationError("NOT_SERVED", `no cluster was founded: ${error.message}`);
  }
  if (error instanceof BackupError || error instanceof Refused || error instanceof UnknownVersion) {
    return new CoordinationError("BACKUP_REFUSED", `no cluster was founded: ${error.message}`);
  }
  return error;
}
