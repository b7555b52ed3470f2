/**
 * What this member has refused to log for others, as long as they may not have heard it.
 *
 * A refusal that is lost with its connection would leave a call open to its deadline although nothing can come of it.
 * So the last ones are said again when the connection is back: attempts have numbers that are never used twice, and
 * whoever has heard it already pays no attention.
 */

import type { ForwardRefused } from "../peers/index.ts";

interface Told {
  readonly boot: number;
  readonly refusals: { readonly atMs: number; readonly refused: ForwardRefused }[];
}

/** Refusals that are kept for a peer, and for how long, in milliseconds: no call waits longer. */
const KEPT_MAX = 64;
const KEPT_MS = 60_000;

export class ToldRefusals {
  readonly #byPeer = new Map<number, Told>();

  /** The attempts of this start of the peer are refused. */
  add(peer: number, boot: number, refused: ForwardRefused, nowMs: number): void {
    const before = this.#byPeer.get(peer);
    const told = before?.boot === boot ? before : { boot, refusals: [] };
    told.refusals.push({ atMs: nowMs, refused });
    if (told.refusals.length > KEPT_MAX) {
      told.refusals.shift();
    }
    this.#byPeer.set(peer, told);
  }

  /** What this start of the peer may not have heard, the oldest first. What an earlier one asked is forgotten. */
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
