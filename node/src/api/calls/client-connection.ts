/** A connection of a client on which it calls: what is known of it, and how it ends. */
import { clientOf } from "../connections/index.ts";

export class ClientConnection {
  /** What all addresses of the client have in common. */
  readonly address: string;
  /** Whether a token was verified on it. */
  isVerified = false;
  /** Calls that were refused on it. */
  refusals = 0;
  /** Ends it at once, because of how its client behaves. */
  readonly cut: () => void;

  constructor(remoteAddress: string, cut: () => void) {
    this.address = clientOf(remoteAddress);
    this.cut = cut;
  }
}
