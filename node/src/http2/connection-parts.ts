/** What the parts of a connection's receiving half share: the other parts, and the connection that owns them. */
import type { CloseReason, StreamRefusal } from "./close-reason.ts";
import type { ConnectionTimes } from "./connection-times.ts";
import type { Http2Counters } from "./counters.ts";
import type { Http2Limits } from "./limits.ts";
import type { Sender } from "./sender.ts";
import type { ServerStream } from "./server-stream.ts";
import type { StreamTable } from "./stream-table.ts";

/** The connection, as its receiving half sees it. */
export interface ConnectionOwner {
  /** Whether a new stream is served. If not, the client knows from GOAWAY. */
  serves(streamId: number): boolean;
  /** Ends the connection. The receiver is stopped when this returns. */
  fail(reason: CloseReason, code: number): void;
  /** Opens a stream for a valid request. */
  open(streamId: number, fields: readonly string[], declaredBytes: number): ServerStream;
  /** Called when the client has reset a stream. */
  onPeerReset(stream: ServerStream, code: number): void;
  /** Resets an open stream on which the client has broken a rule. */
  refuse(stream: ServerStream, reason: StreamRefusal): void;
  onPeerGoAway(): void;
  /** Called for a PING acknowledgement with the eight bytes from `from`. */
  onPong(bytes: Uint8Array, from: number): void;
}

export interface ConnectionParts {
  readonly limits: Http2Limits;
  readonly counters: Http2Counters;
  readonly streams: StreamTable;
  readonly sender: Sender;
  readonly times: ConnectionTimes;
  readonly owner: ConnectionOwner;
}
