/**
 * A leader that sends one real replica what the spec wants: heartbeats, entries, snapshots.
 *
 * It ignores the answers of the replica, as if they were all lost.
 */

import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import {
  encodeChunk,
  encodeManifest,
  encodeMessage,
  encodeTrailer,
  type Frame,
  FrameType,
  messageKind,
  messageType,
  type SnapshotManifest,
} from "../../src/peers/index.ts";
import { type EntryType, encodeEntry, type Message, NO_ENVELOPE, sealEntry } from "../../src/raft/index.ts";
import type { Scheduler } from "../../src/replica/index.ts";
import { type Row, readProgress } from "../../src/state/index.ts";
import type { MemberStateStore } from "../../src/storage/index.ts";
import { FOUNDING } from "../index.ts";
import type { NetworkUser } from "./memory-network.ts";
import { MemorySnapshot } from "./memory-snapshot.ts";

export class ScriptedLeader {
  readonly #scheduler: Scheduler;
  readonly #user: NetworkUser;
  readonly #to: number;
  readonly id: number;
  readonly term: number;

  constructor(scheduler: Scheduler, user: NetworkUser, to: number, id: number, term: number) {
    this.#scheduler = scheduler;
    this.#user = user;
    this.#to = to;
    this.id = id;
    this.term = term;
  }

  sendFrame(message: Message): void {
    this.#user.onFrame(this.id, messageKind(message), { type: messageType(message), body: encodeMessage(message) });
  }

  heartbeat(commit = 0): void {
    this.sendFrame({ type: "heartbeat", from: this.id, to: this.#to, term: this.term, commit, readPosition: 0 });
  }

  /** One entry without a payload after the entry (prevIndex, prevTerm), which is committed at once. */
  append(type: EntryType, prevIndex: number, prevTerm: number): void {
    const row = encodeEntry(type, NO_ENVELOPE, new Uint8Array(0));
    sealEntry(row, this.term, prevIndex + 1, crc32);
    const { id: from, term } = this;
    const commit = prevIndex + 1;
    this.sendFrame({
      type: "append",
      from,
      to: this.#to,
      term,
      prevIndex,
      prevTerm,
      commit,
      wantsReply: true,
      rows: [row],
    });
  }

  /** The frames of a snapshot of that state, of one row each. */
  framesOf(state: MemberStateStore, changes: Partial<SnapshotManifest> = {}): Frame[] {
    const { appliedIndex, appliedTerm } = readProgress(state);
    const view = state.openView();
    const chunks: Uint8Array[] = [];
    for (let rows = view.read(1); rows.length > 0; rows = view.read(1)) {
      chunks.push(encodeChunk(chunks.length, rows as readonly Row[]));
    }
    view.close();
    const sha256 = createHash("sha256");
    for (const chunk of chunks) {
      sha256.update(chunk);
    }
    const manifest: SnapshotManifest = {
      format: 1,
      clusterId: FOUNDING.clusterId,
      term: this.term,
      index: appliedIndex,
      entryTerm: appliedTerm,
      clusterVersion: 1,
      ...changes,
    };
    const trailer = { chunks: chunks.length, rows: chunks.length, sha256: sha256.digest("hex") };
    return [
      { type: FrameType.SnapshotManifest, body: encodeManifest(manifest) },
      ...chunks.map((body) => ({ type: FrameType.SnapshotChunk, body })),
      { type: FrameType.SnapshotTrailer, body: encodeTrailer(trailer) },
    ];
  }

  /** Sends these frames as a snapshot, one after the other as they are read; sends its end if `isWhole`. */
  send(frames: readonly Frame[], isWhole = true): MemorySnapshot {
    const snapshot = new MemorySnapshot(this.#scheduler, this.id, this.#to);
    const rest = [...frames];
    const next = (error: Error | null): void => {
      const frame = rest.shift();
      if (error !== null || (frame === undefined && !isWhole)) {
        return;
      }
      if (frame === undefined) {
        snapshot.outgoing.end(() => undefined);
      } else {
        snapshot.outgoing.write(frame.type, frame.body, next);
      }
    };
    next(null);
    this.#user.onSnapshot(this.id, snapshot.incoming);
    return snapshot;
  }
}
