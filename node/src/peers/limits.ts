/** All limits of the connections between members, with their defaults. Each limit works at its smallest value, 1. */

import { FRAME_BODY_BYTES_MAX } from "./frame.ts";

export interface PeerLimits {
  /** Each side of a connection sends a ping at this interval. */
  readonly pingMs: number;
  /** A connection closes after this time without any received byte. */
  readonly deadMs: number;
  /** An accepted connection must introduce itself within this time; at most this many may be pending. */
  readonly helloMs: number;
  readonly handshakesMax: number;
  /** Limit of a dial until the answer, including name resolution and certificate verification. */
  readonly dialMs: number;
  /** Limit of a join request until the answer, which waits for a log entry. */
  readonly joinMs: number;
  /** Delays between dials, doubled from the first to the last, with ±50 % jitter. */
  readonly backoffMsMin: number;
  readonly backoffMsMax: number;
  /** Limits of a connection's send queue; a single frame may be larger. */
  readonly queueBytesMax: number;
  readonly queueFramesMax: number;
  readonly bodyBytesMax: number;
  /** Limit of the first frame of a connection, whose sender is not verified yet. */
  readonly helloBytesMax: number;
  /** Limit of the answer to a join request, which lists the members. */
  readonly joinAnswerBytesMax: number;
  readonly incomingSnapshotsMax: number;
  /** How often the member reads the certificate files. */
  readonly tlsPollMs: number;
  /** After a change of certificates, every connection is dialed again within this time, but not all at once (P50). */
  readonly tlsRenewMs: number;
}

export const DEFAULT_PEER_LIMITS: PeerLimits = {
  pingMs: 1_000,
  deadMs: 3_000,
  helloMs: 2_000,
  handshakesMax: 64,
  dialMs: 3_000,
  joinMs: 10_000,
  backoffMsMin: 50,
  backoffMsMax: 2_000,
  queueBytesMax: 8 * 1024 * 1024,
  queueFramesMax: 4_096,
  bodyBytesMax: FRAME_BODY_BYTES_MAX,
  helloBytesMax: 8 * 1024,
  joinAnswerBytesMax: 256 * 1024,
  incomingSnapshotsMax: 2,
  tlsPollMs: 10_000,
  tlsRenewMs: 600_000,
};
