/** A connection on which a client makes calls: its client, its refusals, and how to close it. */
import { clientOf } from "../../peers/index.ts";

/** Refusals after which a connection without a verified token is closed: a refusal costs more than its call. */
const UNVERIFIED_REFUSALS_MAX = 100;

export class ClientConnection {
  /** The part that all addresses of the client share. */
  readonly address: string;
  /** Closes the connection at once because its client misbehaves. */
  readonly disconnect: () => void;
  readonly #onVerified: (subject: string) => void;
  #subject: string | null = null;
  #refusals = 0;

  /** @param onVerified is called with the subject of the first token that was verified on this connection */
  constructor(remoteAddress: string, disconnect: () => void, onVerified: (subject: string) => void) {
    this.address = clientOf(remoteAddress);
    this.disconnect = disconnect;
    this.#onVerified = onVerified;
  }

  /** The subject of the token that was verified last on this connection; null = none was. */
  get subject(): string | null {
    return this.#subject;
  }

  /** Who takes turns: the user, or the address of a client that has shown no token. */
  get owner(): string {
    return this.#subject ?? this.address;
  }

  /** A token of this subject was verified on this connection. */
  verified(subject: string): void {
    const isFirst = this.#subject === null;
    this.#subject = subject;
    if (isFirst) {
      this.#onVerified(subject);
    }
  }

  /** Whether a token was verified on this connection. */
  get isVerified(): boolean {
    return this.#subject !== null;
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
