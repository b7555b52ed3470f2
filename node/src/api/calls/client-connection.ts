/** A connection on which a client makes calls: its client, its refusals, and how to close it. */
import { clientOf } from "../../peers/index.ts";

export class ClientConnection {
  /** The part that all addresses of the client share. */
  readonly address: string;
  /** The subject of the token that was verified last on this connection; null = none was. */
  subject: string | null = null;
  /** Number of calls that were refused on this connection. */
  refusals = 0;
  /** Closes the connection at once because its client misbehaves. */
  readonly disconnect: () => void;

  constructor(remoteAddress: string, disconnect: () => void) {
    this.address = clientOf(remoteAddress);
    this.disconnect = disconnect;
  }

  /** Whether a token was verified on this connection. */
  get isVerified(): boolean {
    return this.subject !== null;
  }
}
