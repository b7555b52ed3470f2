/** A connection on which a client makes calls: its client, its refusals, and how to close it. */
import { clientOf } from "../connections/index.ts";

export class ClientConnection {
  /** The part that all addresses of the client share. */
  readonly address: string;
  /** Whether a token was verified on this connection. */
  isVerified = false;
  /** Number of calls that were refused on this connection. */
  refusals = 0;
  /** Closes the connection at once because its client misbehaves. */
  readonly disconnect: () => void;

  constructor(remoteAddress: string, disconnect: () => void) {
    this.address = clientOf(remoteAddress);
    this.disconnect = disconnect;
  }
}
