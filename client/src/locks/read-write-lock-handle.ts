/** A hold of a read-write lock that renews itself, and can change its mode. */

import type { CallOptions, Guard, Persistence } from "../calls/index.ts";
import { type HandleParts, LockHandle } from "./lock-handle.ts";
import type { Grant, LockMode } from "./lock-messages.ts";

/** The parts of a handle of a read-write lock, in addition to those of every handle. */
export interface ReadWriteHandleParts extends Omit<HandleParts, "renew"> {
  readonly mode: LockMode;
  /** Requests a mode with the token of the hold: renews, downgrades or upgrades it. */
  readonly ask: (mode: LockMode, fencingToken: number, call: CallOptions, persistence: Persistence) => Promise<Grant>;
}

/** A hold of a read-write lock, in a mode. */
export class ReadWriteLockHandle extends LockHandle {
  readonly #ask: ReadWriteHandleParts["ask"];
  #mode: LockMode;

  constructor({ mode, ask, ...parts }: ReadWriteHandleParts) {
    // A renewal requests the current mode of the hold.
    super({ ...parts, renew: (token, call, persistence) => ask(this.#mode, token, call, persistence) });
    this.#mode = mode;
    this.#ask = ask;
  }

  /** The mode of the hold. */
  get mode(): LockMode {
    return this.#mode;
  }

  /** Makes a write take effect only while this hold is live and in mode WRITE. */
  override get guard(): Guard {
    return { lockName: this.name, fencingToken: this.token, rw: true };
  }

  /**
   * Lets readers in: WRITE becomes READ, with the same token, and no other holder gets the lock in between. On a reader
   * it only renews the hold.
   *
   * @throws QuoinError FAILED_PRECONDITION / LOCK_LOST if the hold has ended.
   */
  async downgrade(): Promise<void> {
    await this.#changeMode("READ");
  }

  /**
   * Makes a reader the writer, under a new token; earlier reads are still valid, because no one wrote in between. On a
   * writer it only renews the hold.
   *
   * @throws QuoinError FAILED_PRECONDITION / UPGRADE_WOULD_DEADLOCK if others read or wait, and the hold does not
   * change; FAILED_PRECONDITION / LOCK_LOST if it has ended.
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
