/**
 * Recent refusals of forwarded attempts, kept so that they can be sent again.
 *
 * If a refusal is lost with its connection, the call stays open until its deadline for nothing. So this member sends
 * recent refusals again on the next connection. Sequence numbers of attempts are never reused, so the peer ignores a
 * repeat.
 */

import type { ForwardRefused } from "../peers/index.ts";

interface Told {
  readonly boot: number;
  readonly refusals: { readonly atMs: number; readonly refused: ForwardRefused }[];
}

/** Maximum number of kept refusals of a peer, and their maximum age in milliseconds: no call waits longer. */
const KEPT_MAX = 64;
const KEPT_MS = 60_000;

export class ToldRefusals {
  readonly #byPeer = new Map<number, Told>();

  /** Keeps a refusal of attempts of this process of the peer. */
  add(peer: number, boot: number, refused: ForwardRefused, nowMs: number): void {
    const before = this.#byPeer.get(peer);
    const told = before?.boot === boot ? before : { boot, refusals: [] };
    told.refusals.push({ atMs: nowMs, refused });
    if (told.refusals.length > KEPT_MAX) {
      told.refusals.shift();
    }
    this.#byPeer.set(peer, told);
  }

  /** Refusals that this process of the peer may have missed, oldest first. Drops those of an earlier process. */
  of(peer: number, boot: number, nowMs: number): readonly ForwardRefused[] {
    const told = this.#byPeer.get(peer);
    if (told === undefined) {
      return [];
    }
    if (told.boot !== boot) {
      this.#byPeer.delete(peer);
      return [];
    }
    return told.refusals.filter(({ atMs }) => nowMs - atMs <= KEPT_MS).map(({ refused }) => refused);
  }
}
