/** What the parts of a connection's receiving half share: the other parts, and what they need of the connection itself. */
import type { CloseReason, StreamRefusal } from "./closure.ts";
import type { ConnectionTimes } from "./connection-times.ts";
import type { Http2Counters } from "./counters.ts";
import type { Http2Limits } from "./limits.ts";
import type { Sender } from "./sender.ts";
import type { ServerStream } from "./server-stream.ts";
import type { StreamTable } from "./stream-table.ts";

/** The connection, as its receiving half needs it. */
export interface ConnectionOwner {
  /** Whether a new stream is served; if not, the client knows it. */
  serves(streamId: number): boolean;
  /** The connection must end: nothing more is received before this returns. */
  fail(reason: CloseReason, code: number): void;
  /** Opens a stream for a request that is good. */
  open(streamId: number, fields: readonly string[], declaredBytes: number): ServerStream;
  /** The client has reset a stream. */
  onPeerReset(stream: ServerStream, code: number): void;
  /** The client has broken a rule on a stream that is open. */
  refuse(stream: ServerStream, reason: StreamRefusal): void;
  onPeerGoAway(): void;
  /** The eight bytes from `from` on came back. */
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
