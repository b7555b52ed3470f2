/**
 * Recent refusals of forwarded attempts, kept so that they can be sent again.
 *
 * If a refusal is lost with its connection, the call stays open until its deadline for nothing. So this member sends
 * recent refusals again on the next connection. Sequence numbers of attempts are never reused, so the peer ignores a
 * repeat.
 */

import type { ForwardRefused } from "../../peers/index.ts";

interface SentRefusals {
  readonly boot: number;
  readonly refusals: { readonly atMs: number; readonly refused: ForwardRefused }[];
}

/** Maximum number of kept refusals of a peer, and their maximum age in milliseconds: no call waits longer. */
const REFUSALS_MAX = 64;
const REFUSAL_LIFETIME_MS = 60_000;

export class RefusalResendBuffer {
  readonly #byPeer = new Map<number, SentRefusals>();

  /** Keeps a refusal of attempts of this process of the peer. */
  add(peer: number, boot: number, refused: ForwardRefused, nowMs: number): void {
    const before = this.#byPeer.get(peer);
    const sent = before?.boot === boot ? before : { boot, refusals: [] };
    sent.refusals.push({ atMs: nowMs, refused });
    if (sent.refusals.length > REFUSALS_MAX) {
      sent.refusals.shift();
    }
    this.#byPeer.set(peer, sent);
  }

  /** Refusals that this process of the peer may have missed, oldest first. Drops those of an earlier process. */
  of(peer: number, boot: number, nowMs: number): readonly ForwardRefused[] {
    const sent = this.#byPeer.get(peer);
    if (sent === undefined) {
      return [];
    }
    if (sent.boot !== boot) {
      this.#byPeer.delete(peer);
      return [];
    }
    return sent.refusals.filter(({ atMs }) => nowMs - atMs <= REFUSAL_LIFETIME_MS).map(({ refused }) => refused);
  }
}
