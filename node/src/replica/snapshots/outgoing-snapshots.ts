/**
 * Sends snapshots of the state to members that need entries which the log does not have any more.
 *
 * A stream reads a consistent view of the state, one chunk in a turn of its own. It goes at the receiver's pace and
 * within a rate limit that leaves capacity for clients. The view keeps files on disk, so a stream has a maximum
 * duration.
 */

import { createHash, type Hash } from "node:crypto";
import { encodeChunk, encodeManifest, encodeTrailer, FrameType, type SnapshotManifest } from "../../peers/index.ts";
import { mark } from "../../primitives/index.ts";
import type { StateView } from "../../storage/index.ts";
import type {
  OutgoingSnapshot,
  ReadAllowance,
  ReplicaContext,
  ReplicaLimits,
  SnapshotLimits,
} from "../context/index.ts";

/** Slow enough that the p99 latency of clients at most doubles, even if all members share one disk. */
export const DEFAULT_SNAPSHOT_LIMITS: SnapshotLimits = {
  chunkBytes: 256 * 1024,
  streamsMax: 2,
  bytesPerSecond: 16 * 1024 * 1024,
  streamMs: 60 * 60_000,
};

/** A turn that starts more than this many milliseconds late shows that the event loop is busy. */
const BUSY_MS = 2;

/** Format version of the manifests, chunks and trailers of this release. */
export const SNAPSHOT_FORMAT = 1;

/** What this part shares with others. */
export type OutgoingSnapshotsContext = Pick<
  ReplicaContext,
  "core" | "state" | "transport" | "clock" | "scheduler" | "statistics" | "arm"
> & { readonly limits: Pick<ReplicaLimits, "snapshots"> };

interface Stream {
  readonly peer: number;
  readonly index: number;
  readonly view: StateView;
  readonly out: OutgoingSnapshot;
  readonly digest: Hash;
  readonly begunMs: number;
  readonly endsMs: number;
  chunks: number;
  rows: number;
  /** Whether it waits until more bytes may be sent. */
  isPaused: boolean;
}

export class OutgoingSnapshots {
  readonly #context: OutgoingSnapshotsContext;
  readonly #allowance: ReadAllowance;
  readonly #streams = new Map<number, Stream>();

  /** Streams read as much as `allowance` allows. */
  constructor(context: OutgoingSnapshotsContext, allowance: ReadAllowance) {
    this.#context = context;
    this.#allowance = allowance;
  }

  /** The first entry that receivers need after their snapshots; infinity if there are no receivers. */
  get neededFrom(): number {
    return Math.min(...[...this.#streams.values()].map(({ index }) => index + 1));
  }

  /**
   * Begins to send the current state to the peer, unless that happens already or is impossible at the moment. While a
   * peer waits, this is called in every turn, so it calls `aboutState` only if it sends.
   */
  start(peer: number, aboutState: () => Omit<SnapshotManifest, "format">): void {
    const { core, state, transport, clock } = this.#context;
    const limits = this.#context.limits.snapshots;
    // An attempt to reach an absent member would count as a failure, and delay its snapshot once it is back.
    const isReachable = transport.isConnected(peer, "control");
    if (!isReachable || this.#streams.has(peer) || this.#streams.size >= limits.streamsMax || !state.flush()) {
      return;
    }
    const about = aboutState();
    mark("replica.snapshot.started");
    const begunMs = clock.monotonicMs();
    const stream: Stream = {
      peer,
      index: about.index,
      view: state.openView(),
      out: transport.openSnapshot(peer),
      digest: createHash("sha256"),
      begunMs,
      endsMs: begunMs + limits.streamMs,
      chunks: 0,
      rows: 0,
      isPaused: false,
    };
    this.#streams.set(peer, stream);
    core.onSnapshotStarted(peer, about.index);
    const manifest = encodeManifest({ ...about, format: SNAPSHOT_FORMAT });
    stream.out.write(FrameType.SnapshotManifest, manifest, (error) => this.#onWritten(stream, error));
  }

  /** Called at every tick: continues paused streams, and ends those that are useless or too old. */
  onTick(nowMs: number): void {
    const { core } = this.#context;
    this.#allowance.grow(nowMs);
    for (const stream of this.#streams.values()) {
      if (core.role !== "leader" || core.peer(stream.peer) === undefined || nowMs > stream.endsMs) {
        this.#end(stream, false);
      } else if (stream.isPaused && this.#allowance.isOpen) {
        stream.isPaused = false;
        this.#sendChunk(stream);
      }
    }
  }

  /** Ends all streams, because the state that they read is replaced. */
  abort(): void {
    for (const stream of this.#streams.values()) {
      this.#end(stream, false);
    }
  }

  #onWritten(stream: Stream, error: Error | null): void {
    if (!this.#isOpen(stream)) {
      return;
    }
    if (error !== null) {
      this.#end(stream, false);
      return;
    }
    if (!this.#allowance.isOpen) {
      stream.isPaused = true;
      return;
    }
    // A turn of its own, after the sockets were polled: reading a chunk takes milliseconds (S44).
    const { clock, scheduler } = this.#context;
    const askedMs = clock.monotonicMs();
    scheduler.immediate(() => {
      if (clock.monotonicMs() - askedMs <= BUSY_MS) {
        this.#sendChunk(stream);
      } else {
        // The event loop is busy. Clients come first; the stream continues at the next tick.
        stream.isPaused = true;
      }
    });
  }

  #sendChunk(stream: Stream): void {
    if (!this.#isOpen(stream)) {
      return;
    }
    const rows = stream.view.read(this.#context.limits.snapshots.chunkBytes);
    if (rows.length === 0) {
      this.#sendTrailer(stream);
      return;
    }
    const body = encodeChunk(stream.chunks, rows);
    stream.digest.update(body);
    stream.chunks++;
    stream.rows += rows.length;
    this.#allowance.take(body.length);
    stream.out.write(FrameType.SnapshotChunk, body, (error) => this.#onWritten(stream, error));
  }

  #sendTrailer(stream: Stream): void {
    const { chunks, rows, out } = stream;
    const trailer = encodeTrailer({ chunks, rows, sha256: stream.digest.digest("hex") });
    out.write(FrameType.SnapshotTrailer, trailer, (error) => {
      if (error !== null) {
        this.#end(stream, false);
        return;
      }
      out.end((endError) => this.#end(stream, endError === null));
    });
  }

  #isOpen(stream: Stream): boolean {
    return this.#streams.get(stream.peer) === stream;
  }

  #end(stream: Stream, ok: boolean): void {
    if (!this.#isOpen(stream)) {
      return;
    }
    mark(ok ? "replica.snapshot.sent" : "replica.snapshot.failed");
    this.#context.statistics.snapshotsSent.onEnded(ok, this.#context.clock.monotonicMs() - stream.begunMs);
    this.#streams.delete(stream.peer);
    stream.view.close();
    if (!ok) {
      stream.out.abort();
    }
    this.#context.core.onSnapshotEnded(stream.peer, ok);
    this.#context.arm();
  }
}
