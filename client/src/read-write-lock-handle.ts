/** A hold of a read-write lock that keeps itself alive, and can change its mode. */

import type { Guard } from "./guard.ts";
import { type HandleParts, LockHandle } from "./lock-handle.ts";
import type { Grant, LockMode } from "./lock-messages.ts";
import type { CallOptions, Persistence } from "./operation.ts";

/** What a handle of a read-write lock is made of, besides what every handle is. */
export interface ReadWriteHandleParts extends Omit<HandleParts, "renew"> {
  readonly mode: LockMode;
  /** Asks for a mode with the token of the hold: renews, downgrades or upgrades it. */
  readonly ask: (mode: LockMode, fencingToken: number, call: CallOptions, persistence: Persistence) => Promise<Grant>;
}

/** A hold of a read-write lock, in a mode. */
export class ReadWriteLockHandle extends LockHandle {
  readonly #ask: ReadWriteHandleParts["ask"];
  #mode: LockMode;

  constructor({ mode, ask, ...parts }: ReadWriteHandleParts) {
    // A renewal asks for the mode that the hold has by then.
    super({ ...parts, renew: (token, call, persistence) => ask(this.#mode, token, call, persistence) });
    this.#mode = mode;
    this.#ask = ask;
  }

  /** How the lock is held. */
  get mode(): LockMode {
    return this.#mode;
  }

  /** Makes a write count only while this hold is live and in mode WRITE. */
  override get guard(): Guard {
    return { lockName: this.name, fencingToken: this.token, rw: true };
  }

  /**
   * Lets readers in: WRITE becomes READ, with the same token, and at no moment is the lock anybody else's. On a reader it
   * only renews the hold.
   *
   * @throws QuoinError FAILED_PRECONDITION / LOCK_LOST when the hold is over.
   */
  async downgrade(): Promise<void> {
    await this.#changeMode("READ");
  }

  /**
   * Makes a reader the writer, under a new token: what was read under the old one still holds. On a writer it only renews
   * the hold.
   *
   * @throws QuoinError FAILED_PRECONDITION / UPGRADE_WOULD_DEADLOCK when others read or wait, and the hold stays as it is;
   *   FAILED_PRECONDITION / LOCK_LOST when it is over.
   */
  async upgrade(): Promise<void> {
    await this.#changeMode("WRITE");
  }

  async #changeMode(mode: LockMode): Promise<void> {
    await this.change(async (call, persistence) => {
      const grant = await this.#ask(mode, this.token, call, persistence);
      this.#mode = mode;
      return grant;
    });
  }
}
