/** Everything that bounds the connections between members, with its default. Each works at its smallest, 1. */

import { FRAME_BODY_BYTES_MAX } from "./frame.ts";

export interface PeerLimits {
  /** Each side of a connection says that often that it is there. */
  readonly pingMs: number;
  /** A connection on which nothing arrived for so long is closed. */
  readonly deadMs: number;
  /** An accepted connection must have said by then who it is, and at most so many may still owe it. */
  readonly helloMs: number;
  readonly handshakesMax: number;
  /** A dialed connection must be answered by then, its name resolved and its certificate verified. */
  readonly dialMs: number;
  /** A question for a slot must be answered by then: it waits for an entry of the log. */
  readonly joinMs: number;
  /** Waits between dials, doubled from the first to the last, each ±50 %. */
  readonly backoffMsMin: number;
  readonly backoffMsMax: number;
  /** What a connection holds back at most; a single frame may be larger. */
  readonly queueBytesMax: number;
  readonly queueFramesMax: number;
  readonly bodyBytesMax: number;
  /** The first frame of a connection, from somebody who is not verified yet. */
  readonly helloBytesMax: number;
  /** The answer to a question for a slot, which lists the members. */
  readonly joinAnswerBytesMax: number;
  readonly incomingSnapshotsMax: number;
  /** How often certificate files are read. */
  readonly tlsPollMs: number;
  /** After new certificates every connection is dialed anew within that time, not all at once (P50). */
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
