/** A connection on which a client makes calls: its client, its refusals, and how to close it. */
import { clientOf } from "../../peers/index.ts";

/** Refusals after which a connection without a verified token is closed: a refusal costs more than its call. */
const UNVERIFIED_REFUSALS_MAX = 100;

export class ClientConnection {
  /** The part that all addresses of the client share. */
  readonly address: string;
  /** The subject of the token that was verified last on this connection; null = none was. */
  subject: string | null = null;
  /** Closes the connection at once because its client misbehaves. */
  readonly disconnect: () => void;
  #refusals = 0;

  constructor(remoteAddress: string, disconnect: () => void) {
    this.address = clientOf(remoteAddress);
    this.disconnect = disconnect;
  }

  /** Whether a token was verified on this connection. */
  get isVerified(): boolean {
    return this.subject !== null;
  }

  /** Whether one more refusal closes the connection. */
  get isAtLimit(): boolean {
    return this.#refusals >= UNVERIFIED_REFUSALS_MAX && !this.isVerified;
  }

  /** A request on this connection was refused. Closes the connection if there are too many of them. */
  noteRefusal(): void {
    if (++this.#refusals > UNVERIFIED_REFUSALS_MAX && !this.isVerified) {
      this.disconnect();
    }
  }
}
