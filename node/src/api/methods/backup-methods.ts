/**
 * Backups on the admin port: the state of this member as a stream, and snapshots into its store. Only an admin token may
 * reach them, because the state contains signing keys and hashes of passwords.
 */

import { createHash } from "node:crypto";
import {
  type SnapshotRequest,
  SnapshotResponse,
  type StartBackupRequest,
  type StartBackupResponse,
} from "@quoin/proto";
import { type MemberBackups, snapshotHeader, streamSnapshot } from "../../archive/index.ts";
import { StateExportEnded } from "../../replica/index.ts";
import { CoordinationError, type RequiredAccess } from "../../state/index.ts";
import { attempt } from "./attempt.ts";
import { noStore, refusalOf } from "./backup-refusals.ts";
import type { Call, FiniteStream, Reply } from "./call.ts";
import { authorized } from "./executor.ts";

const NEED: RequiredAccess = { access: "admin", namespace: "*" };
/** Bytes of one chunk of a stream. */
const PIECE_BYTES = 256 * 1024;

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
