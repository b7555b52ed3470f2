/**
 * The restore of a cluster: fills the directory of a new cluster's first member from a backup, and reports the result.
 * The command `restore` uses it, and so does a member that founds its cluster from a backup.
 */

import { randomBytes } from "node:crypto";
import type { ChainEnd } from "@quoin/backup";
import { generateSigningKey } from "../access/index.ts";
import type { RestoreConfiguration } from "../process/index.ts";
import { type RebuildProgress, type Rebuilt, rebuild } from "../rebuild/index.ts";
import type { ResetOwner } from "../state/index.ts";
import type { Restoration, StagedSuccessor, SuccessorMember } from "../storage/index.ts";
import { withBackup } from "./backup-source.ts";

/** The cluster that the backup becomes. */
export interface NewCluster {
  /** A UUID that no cluster has had before. */
  readonly clusterId: string;
  readonly member: Omit<SuccessorMember, "incarnation">;
  /** Becomes an active owner; null = users stay unchanged. */
  readonly owner: ResetOwner | null;
  /** Milliseconds since 1970. */
  readonly wallMs: number;
}

/** The result of a restore. */
export interface RestoreReport {
  readonly clusterId: string;
  readonly staged: StagedSuccessor;
  readonly rebuilt: Rebuilt;
  /** The end of the archive. */
  readonly archiveEnd: ChainEnd;
  readonly isToEnd: boolean;
  readonly keepsSigningKeys: boolean;
  /** Problems in the store that did not prevent the restore up to the point. */
  readonly problems: readonly string[];
}

const PAGE_TOKEN_KEY_BYTES = 32;

/**
 * Fills and completes the restoration. Raises a BackupError or a StoreFailure if the backup is not usable, and the
 * errors of `Restoration.complete`. The caller must then abandon the restoration.
 */
export async function restoreCluster(
  source: RestoreConfiguration,
  restoration: Restoration,
  { clusterId, member, owner, wallMs }: NewCluster,
  onProgress: (progress: RebuildProgress) => void,
): Promise<RestoreReport> {
  return withBackup(source, async ({ store, decryptOptions, catalog, plan }) => {
    const { point, revisionJump, keepsSigningKeys } = source;
    const rebuilt = await rebuild({
      store,
      objects: plan,
      decryptOptions,
      point,
      state: restoration.state,
      onProgress,
    });
    const staged = await restoration.complete(
      {
        cause: "restore",
        clusterId,
        revisionJump,
        owner,
        wallMs,
        signingKey: keepsSigningKeys ? null : await generateSigningKey(),
        pageTokenKey: randomBytes(PAGE_TOKEN_KEY_BYTES),
      },
      member,
    );
    return {
      clusterId,
      staged,
      rebuilt,
      keepsSigningKeys,
      archiveEnd: plan.archiveEnd,
      isToEnd: point.kind === "latest",
      problems: catalog.problems.map(({ message }) => message),
    };
  });
}

/** The result of a restore as lines for people. */
export function describeRestore(report: RestoreReport): string[] {
  const { clusterId, staged, rebuilt, keepsSigningKeys, problems } = report;
  const { snapshot, rows, segments, entries, progress, digestsCompared } = rebuilt;
  const jump = staged.progress.revision - staged.formerRevision;
  return [
    ...problems.map((problem) => `note: ${problem}`),
    `cluster ${staged.formerClusterId} (${snapshot.clusterName}) was restored as cluster ${clusterId}`,
    `  from     snapshot ${snapshot.id} at index ${snapshot.index}, ${timeOf(snapshot.wallMs)}, with ${rows} rows`,
    `  and      ${entries} entries from ${segments} segments`,
    `  up to    revision ${progress.revision} (index ${progress.appliedIndex}), ${timeOf(progress.wallMs)}`,
    `  digest   ${progress.digest.toString(16).padStart(8, "0")}; ${digestsCompared} digests of the cluster were compared, and all match`,
    `  missing  ${missingOf(report)}`,
    `  jump     the revision and all fencing tokens increased by ${jump}, from ${staged.formerRevision} to ${staged.progress.revision}`,
    `  logins   ${keepsSigningKeys ? "stay valid: the signing keys were kept" : "have ended: the signing keys are new; API keys stay valid"}`,
  ];
}

/** The same in one sentence. */
export function summaryOf(report: RestoreReport): string {
  const { clusterId, staged, rebuilt } = report;
  const { snapshot, segments, progress } = rebuilt;
  return (
    `cluster ${staged.formerClusterId} was restored as cluster ${clusterId} from snapshot ${snapshot.id} of ` +
    `${timeOf(snapshot.wallMs)} and ${segments} segments, up to revision ${progress.revision} of ${timeOf(progress.wallMs)}; ` +
    `missing: ${missingOf(report)}`
  );
}

function missingOf({ rebuilt: { progress }, archiveEnd, isToEnd }: RestoreReport): string {
  const { index, revision, wallMs } = archiveEnd;
  const left = index - progress.appliedIndex;
  if (left > 0) {
    const to = revision === undefined ? "" : `, up to revision ${revision}`;
    const at = wallMs === undefined ? "" : `, ${timeOf(wallMs)}`;
    return `${left} entries of the archive after that point${to}${at}, and everything later`;
  }
  return isToEnd
    ? "writes that were acknowledged later and not archived"
    : "writes that were acknowledged later; the archive ends there";
}

function timeOf(wallMs: number): string {
  return new Date(wallMs).toISOString();
}
