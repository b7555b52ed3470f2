/**
 * Backups on the admin port: the state of this member as a stream, snapshots into its store, and the status of
 * snapshots and archive. Only an admin token may reach them, because the state contains signing keys and hashes of
 * passwords.
 */

import { createHash } from "node:crypto";
import { BackupError, type Chain, StoreFailure } from "@quoin/backup";
import {
  type ArchiveStatus,
  type BackupEntry,
  BackupPhase,
  type BackupRun as BackupRunMessage,
  type GetBackupStatusRequest,
  type GetBackupStatusResponse,
  type ListBackupsRequest,
  type ListBackupsResponse,
  type SnapshotRequest,
  SnapshotResponse,
  type StartBackupRequest,
  type StartBackupResponse,
} from "@quoin/proto";
import { type BackupRun, type MemberBackups, snapshotHeader, streamSnapshot } from "../../archive/index.ts";
import { StateExportEnded } from "../../replica/index.ts";
import { CoordinationError, type RequiredAccess } from "../../state/index.ts";
import { attempt, toError } from "./attempt.ts";
import type { Call, FiniteStream, Reply } from "./call.ts";
import { authorized } from "./executor.ts";
import { badField } from "./field-rules.ts";
import { memberIdText } from "./member-messages.ts";

const NEED: RequiredAccess = { access: "admin", namespace: "*" };
/** Bytes of one chunk of a stream. */
const PIECE_BYTES = 256 * 1024;
const LISTED_MAX = 1_000;
const PROBLEMS_MAX = 100;
const CLUSTER_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const PHASES = {
  pending: BackupPhase.BACKUP_PENDING,
  running: BackupPhase.BACKUP_RUNNING,
  succeeded: BackupPhase.BACKUP_SUCCEEDED,
  failed: BackupPhase.BACKUP_FAILED,
} as const;

export class BackupMethods {
  readonly #backups: MemberBackups;

  constructor(backups: MemberBackups) {
    this.#backups = backups;
  }

  /** Streams the state at the pace of the client. */
  snapshot(call: Call, _request: SnapshotRequest, stream: FiniteStream): void {
    const proceed = (): void => {
      this.#stream(stream).catch((error: unknown) => stream.fail(refusalOf(error)));
    };
    authorized(call, NEED, proceed, (answer) => {
      if (answer instanceof Error) {
        stream.fail(answer);
      }
    });
  }

  startBackup(call: Call, request: StartBackupRequest, reply: Reply<StartBackupResponse>): void {
    const start = (): StartBackupResponse => {
      const { runs, target } = this.#backups;
      if (runs === null || target === null) {
        throw noStore();
      }
      if (request.ifStore !== "" && request.ifStore !== target.address) {
        throw new CoordinationError(
          "OTHER_BACKUP_STORE",
          `the store of this member is ${target.address}, not ${request.ifStore}`,
        );
      }
      const requestId = call.hasRequestId ? Buffer.from(call.requestId()).toString("hex") : "";
      return { id: runs.ofRequest(requestId)?.id ?? runs.start(request.allowLeaderless, requestId).id };
    };
    authorized(call, NEED, () => reply(attempt(start), "no"), reply);
  }

  getBackupStatus(call: Call, request: GetBackupStatusRequest, reply: Reply<GetBackupStatusResponse>): void {
    const status = (): GetBackupStatusResponse => {
      const { runs, target, archiver } = this.#backups;
      const run = request.id === "" ? runs?.newest : runs?.get(request.id);
      return {
        store: target?.address ?? "",
        encrypted: target?.isEncrypted ?? false,
        run: run === null || run === undefined ? undefined : runMessage(run),
        archive: this.#archive(),
        nextSnapshotMs: BigInt(Math.round(archiver?.nextSnapshotMs ?? 0)),
      };
    };
    authorized(call, NEED, () => reply(attempt(status), "no"), reply);
  }

  listBackups(call: Call, request: ListBackupsRequest, reply: Reply<ListBackupsResponse>): void {
    const list = (): void => {
      this.#list(request.clusterId)
        .then((response) => reply(response, "no"))
        .catch((error: unknown) => reply(refusalOf(error), "no"));
    };
    authorized(call, NEED, list, reply);
  }

  async #stream(stream: FiniteStream): Promise<void> {
    const { host } = this.#backups;
    const before = host.replica?.status();
    const exported = await this.#openExport(before?.leaderId ?? 0);
    stream.onEnded(() => exported.export.close());
    const header = snapshotHeader(host, exported.export);
    const about = {
      index: BigInt(header.index),
      revision: BigInt(header.revision),
      leaderless: exported.isLeaderless,
      commitIndex: BigInt(Math.max(header.index, before?.commitIndex ?? 0)),
    };
    const hash = createHash("sha256");
    const pieces = new Pieces(stream);
    for await (const bytes of streamSnapshot(header, exported.export).stream) {
      hash.update(bytes);
      for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
        const chunk = bytes.subarray(start, start + PIECE_BYTES);
        await pieces.send({ ...about, chunk, last: false, sha256: "" });
      }
    }
    await pieces.send({ ...about, chunk: new Uint8Array(0), last: true, sha256: hash.digest("hex") });
    stream.end();
  }

  /** Opens an export that has all acknowledged writes, or one that is marked because it may miss some. */
  async #openExport(leaderId: number) {
    if (leaderId !== 0) {
      try {
        return { export: await this.#backups.openExport(false), isLeaderless: false };
      } catch (error) {
        if (!(error instanceof CoordinationError && isLeaderLost(error))) {
          throw error;
        }
      }
    }
    return { export: await this.#backups.openExport(true), isLeaderless: true };
  }

  #archive(): ArchiveStatus | undefined {
    const { archiver, host } = this.#backups;
    if (archiver === null) {
      return undefined;
    }
    const { report, lease } = archiver;
    const archiverId = archiver.isArchiving ? host.memberId : lease.archiverId;
    return {
      enabled: true,
      archiverId: archiverId === 0 ? "" : memberIdText(archiverId),
      archivedIndex: BigInt(report.index),
      archivedRevision: BigInt(report.revision),
      archivedWallMs: BigInt(report.wallMs),
      lagMs: BigInt(Math.round(archiver.lagMs)),
      chainIndex: BigInt(report.chainIndex),
      chainBroken: report.isBroken,
      chainBreaks: BigInt(report.breaks),
      lastSuccessMs: BigInt(report.lastSuccessMs),
      failures: BigInt(report.failures),
      lastError: archiver.lastError,
    };
  }

  async #list(asked: string): Promise<ListBackupsResponse> {
    if (asked !== "" && !CLUSTER_ID.test(asked)) {
      throw badField("cluster_id", "must be a UUID in lower case, or empty for the cluster of this member");
    }
    const clusterId = asked === "" ? this.#backups.host.clusterId : asked;
    const listed = await this.#backups.list(clusterId);
    if (listed === null) {
      throw noStore();
    }
    const { chains, problems } = listed.catalog;
    return {
      store: this.#backups.target?.address ?? "",
      clusterId,
      backups: chains.slice(-LISTED_MAX).map(backupEntry),
      problems: problems.slice(0, PROBLEMS_MAX).map(({ message }) => message),
      clusterIds: listed.clusterIds,
    };
  }
}

function runMessage(run: BackupRun): BackupRunMessage {
  const { id, phase, snapshot, progress, startedMs, endedMs, error, isLeaderless } = run;
  const { index = 0, revision = 0, wallMs = 0 } = snapshot?.header ?? {};
  return {
    ...{ id, phase: PHASES[phase], object: snapshot?.name ?? "", error, leaderless: isLeaderless },
    ...{ index: BigInt(index), revision: BigInt(revision), wallMs: BigInt(wallMs) },
    ...{ bytes: BigInt(progress.bytes), rows: BigInt(progress.rows) },
    ...{ startedMs: BigInt(startedMs), endedMs: BigInt(endedMs) },
  };
}

function backupEntry({ snapshot, segments, end }: Chain): BackupEntry {
  const { id, name: object, index, revision, wallMs, size } = snapshot;
  return {
    ...{ id, object, index: BigInt(index), revision: BigInt(revision), wallMs: BigInt(wallMs) },
    sizeBytes: BigInt(size),
    segments: BigInt(segments.length),
    segmentBytes: BigInt(segments.reduce((bytes, segment) => bytes + segment.size, 0)),
    endIndex: BigInt(end.index),
    endRevision: BigInt(end.revision ?? 0),
    endWallMs: BigInt(end.wallMs ?? 0),
  };
}

/** Sends chunks one by one. Each waits until the previous one has left memory. */
class Pieces {
  readonly #stream: FiniteStream;
  #reject: (error: Error) => void = () => undefined;

  constructor(stream: FiniteStream) {
    this.#stream = stream;
    // A stream that has ended never reports a chunk as taken.
    stream.onEnded(() => this.#reject(ended()));
  }

  send(piece: SnapshotResponse): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#stream.hasEnded) {
        reject(ended());
        return;
      }
      this.#reject = reject;
      this.#stream.send(SnapshotResponse.encode(piece).finish(), resolve);
    });
  }
}

function ended(): StateExportEnded {
  return new StateExportEnded("the client has ended the stream");
}

function isLeaderLost({ code }: CoordinationError): boolean {
  return code === "UNAVAILABLE" || code === "DEADLINE_EXCEEDED";
}

function noStore(): CoordinationError {
  return new CoordinationError(
    "NO_BACKUP_STORE",
    "this member has no backup store. Start it with --backup-store, or stream a backup with Snapshot",
  );
}

/** Turns an error into the refusal that the caller gets. */
function refusalOf(error: unknown): CoordinationError | Error {
  if (error instanceof StoreFailure || error instanceof BackupError) {
    return new CoordinationError("BACKUP_STORE_UNAVAILABLE", error.message);
  }
  if (error instanceof StateExportEnded) {
    return new CoordinationError("LEADER_CHANGED", `the backup has ended: ${error.message}`);
  }
  return toError(error);
}
