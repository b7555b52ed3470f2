/**
 * Receives a snapshot from the leader and replaces the own state with it.
 *
 * Rows are written beside the live state, which stays in use, until all of them have arrived and are verified. Then
 * applying pauses, the new state is put in place, the log is reset to begin after it, and the driver continues from
 * there. Until then the consensus core may cancel the installation. A newer offer replaces an older one (P28).
 */

import { createHash, type Hash } from "node:crypto";
import { compareBytes } from "../../bytes/index.ts";
import {
  decodeChunk,
  decodeManifest,
  decodeTrailer,
  type Frame,
  FrameError,
  FrameType,
  type SnapshotManifest,
} from "../../peers/index.ts";
import { invariant, mark } from "../../primitives/index.ts";
import { LOCAL_ROWS_FROM, type StateReplacement } from "../../storage/index.ts";
import type { IncomingSnapshot, ReplicaContext } from "../context/index.ts";
import { SNAPSHOT_FORMAT } from "./outgoing-snapshots.ts";

/** What this part shares with others. */
export type SnapshotInstallContext = Pick<
  ReplicaContext,
  "clusterId" | "clusterVersionMax" | "core" | "state" | "clock" | "statistics" | "arm"
>;

interface Receiving {
  readonly manifest: SnapshotManifest;
  readonly incoming: IncomingSnapshot;
  readonly digest: Hash;
  readonly begunMs: number;
  chunks: number;
  rows: number;
  replacement: StateReplacement | null;
  /** All rows are durable: the state can be put in place. */
  isReady: boolean;
}

export class SnapshotInstall {
  readonly #context: SnapshotInstallContext;
  #receiving: Receiving | null = null;
  /** The state that is in place, or is being put there; it cannot be cancelled any more. */
  #placed: { readonly manifest: SnapshotManifest; readonly replacement: StateReplacement } | null = null;
  #isPlacing = false;
  #isStopped = false;

  constructor(context: SnapshotInstallContext) {
    this.#context = context;
  }

  /** Whether a state is being received or put in place, so that the own one is far behind. */
  get isUnderWay(): boolean {
    return this.#receiving !== null || this.#placed !== null;
  }

  /** Whether all rows are durable. The caller must then pause applying and call `place`. */
  get isReady(): boolean {
    return this.#receiving?.isReady === true;
  }

  /** Whether a new state is replacing the live one, which must not change any more. */
  get isPlaced(): boolean {
    return this.#placed !== null;
  }

  /** Whether the log must not be reset yet, because the next start would still open the old state. */
  get isPlacing(): boolean {
    return this.#isPlacing;
  }

  /** A verified peer sends a snapshot. */
  onSnapshot(peer: number, incoming: IncomingSnapshot): void {
    incoming.read((error, frame) => {
      const manifest = error === null ? this.#manifestOf(frame) : null;
      if (manifest === null || this.#isStopped) {
        incoming.close();
        return;
      }
      const { term, index, entryTerm } = manifest;
      const verdict = this.#context.core.offerSnapshot({ from: peer, term, index, entryTerm });
      this.#context.arm();
      if (verdict !== "install") {
        incoming.close();
        return;
      }
      // A newer snapshot replaces the one that was being received (P28).
      this.#drop();
      this.#receive(manifest, incoming);
    });
  }

  /** The core does not need a snapshot any more. */
  cancel(): void {
    mark("replica.install.cancelled");
    this.#drop();
  }

  /** Puts the state in place if the core still wants it. Applying must be paused, and no sync in flight. */
  place(): void {
    const receiving = this.#receiving;
    invariant(receiving?.isReady === true && receiving.replacement !== null, "a whole state is put in place");
    const { manifest, replacement } = receiving;
    if (!this.#context.core.beginInstall(manifest.index, manifest.entryTerm)) {
      this.#drop();
      return;
    }
    this.#receiving = null;
    this.#placed = { manifest, replacement };
    this.#isPlacing = true;
    replacement.place(() => {
      mark("replica.install.placed");
      this.#isPlacing = false;
      this.#context.arm();
    });
  }

  /** The log is durably reset: directs reads and writes to the new state from now on. Returns its last entry. */
  switchOver(): { readonly index: number; readonly term: number } {
    const placed = this.#placed;
    invariant(placed !== null && !this.#isPlacing, "a state that is in its place is switched to");
    this.#placed = null;
    this.#context.state.switchTo(placed.replacement);
    mark("replica.install.switched");
    return { index: placed.manifest.index, term: placed.manifest.entryTerm };
  }

  /** This member stops: drops an incomplete state. The next start finds a state that is in place. */
  stop(): void {
    this.#isStopped = true;
    this.#drop();
  }

  #manifestOf(frame: Frame | null): SnapshotManifest | null {
    const manifest = frame?.type === FrameType.SnapshotManifest ? decoded(() => decodeManifest(frame.body)) : null;
    const { clusterId, clusterVersionMax } = this.#context;
    const isUsable =
      manifest !== null &&
      manifest.format === SNAPSHOT_FORMAT &&
      manifest.clusterId === clusterId &&
      manifest.clusterVersion <= clusterVersionMax;
    return isUsable ? manifest : null;
  }

  #receive(manifest: SnapshotManifest, incoming: IncomingSnapshot): void {
    const digest = createHash("sha256");
    const receiving: Receiving = {
      manifest,
      incoming,
      digest,
      begunMs: this.#context.clock.monotonicMs(),
      chunks: 0,
      rows: 0,
      replacement: null,
      isReady: false,
    };
    this.#receiving = receiving;
    mark("replica.install.begun");
    this.#context.state.beginReplacement((replacement) => {
      if (this.#receiving !== receiving) {
        replacement.abandon();
        return;
      }
      receiving.replacement = replacement;
      this.#next(receiving, replacement);
    });
  }

  #next(receiving: Receiving, replacement: StateReplacement): void {
    receiving.incoming.read((error, frame) => {
      if (this.#receiving !== receiving) {
        return;
      }
      if (error !== null || frame === null) {
        this.#fail();
      } else if (frame.type === FrameType.SnapshotChunk) {
        this.#onChunk(receiving, replacement, frame.body);
      } else {
        this.#onTrailer(receiving, replacement, frame);
      }
    });
  }

  #onChunk(receiving: Receiving, replacement: StateReplacement, body: Uint8Array): void {
    const chunk = decoded(() => decodeChunk(body));
    // Reject local rows: they describe the sender's store, and this store would take them for its own.
    const isReplicated = chunk?.rows.every(({ key }) => compareBytes(key, LOCAL_ROWS_FROM) < 0) === true;
    if (chunk === null || chunk.number !== receiving.chunks || !isReplicated) {
      this.#fail();
      return;
    }
    receiving.digest.update(body);
    receiving.chunks++;
    receiving.rows += chunk.rows.length;
    replacement.write(chunk.rows, () => {
      if (this.#receiving === receiving) {
        this.#next(receiving, replacement);
      }
    });
  }

  #onTrailer(receiving: Receiving, replacement: StateReplacement, { type, body }: Frame): void {
    const trailer = type === FrameType.SnapshotTrailer ? decoded(() => decodeTrailer(body)) : null;
    const isWhole =
      trailer !== null &&
      trailer.chunks === receiving.chunks &&
      trailer.rows === receiving.rows &&
      trailer.sha256 === receiving.digest.digest("hex");
    if (!isWhole) {
      this.#fail();
      return;
    }
    receiving.incoming.read((error, frame) => {
      if (this.#receiving !== receiving) {
        return;
      }
      if (error !== null || frame !== null) {
        this.#fail();
        return;
      }
      const { index, entryTerm } = receiving.manifest;
      replacement.finish(index, entryTerm, () => {
        if (this.#receiving === receiving) {
          receiving.isReady = true;
          this.#onEnded(receiving, true);
          this.#context.arm();
        }
      });
    });
  }

  /** The stream broke or is invalid: drops it, so that the core may accept another offer. */
  #fail(): void {
    mark("replica.install.failed");
    if (this.#receiving !== null) {
      this.#onEnded(this.#receiving, false);
    }
    this.#drop();
    this.#context.core.abandonInstall();
    this.#context.arm();
  }

  #onEnded({ begunMs }: Receiving, ok: boolean): void {
    const { statistics, clock } = this.#context;
    statistics.snapshotsReceived.onEnded(ok, clock.monotonicMs() - begunMs);
  }

  #drop(): void {
    const receiving = this.#receiving;
    this.#receiving = null;
    receiving?.incoming.close();
    receiving?.replacement?.abandon();
  }
}

/** The decoded body, or null if it is malformed. */
function decoded<T>(decode: () => T): T | null {
  try {
    return decode();
  } catch (error) {
    if (error instanceof FrameError) {
      return null;
    }
    throw error;
  }
}
