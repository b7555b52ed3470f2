/** Counters of all connections of a server; they only grow. */
import { CLOSE_REASONS, type CloseReason, STREAM_REFUSALS, type StreamRefusal } from "./close-reason.ts";

export interface Http2Counters {
  connectionsOpened: number;
  connectionsClosed: number;
  /** Streams whose requests were passed to the handler. */
  streamsOpened: number;
  streamsClosed: number;
  /** RST_STREAM frames for open streams. */
  resetsReceived: number;
  resetsSent: number;
  bytesReceived: number;
  /** Bytes that were given to sockets. */
  bytesSent: number;
  /** By reason, including sockets that failed in TLS, before a connection was opened. */
  readonly closedConnections: Record<CloseReason, number>;
  readonly refusedStreams: Record<StreamRefusal, number>;
}

/** Returns counters that are all 0. */
export function createCounters(): Http2Counters {
  return {
    connectionsOpened: 0,
    connectionsClosed: 0,
    streamsOpened: 0,
    streamsClosed: 0,
    resetsReceived: 0,
    resetsSent: 0,
    bytesReceived: 0,
    bytesSent: 0,
    closedConnections: zeroes(CLOSE_REASONS),
    refusedStreams: zeroes(STREAM_REFUSALS),
  };
}

function zeroes<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}
