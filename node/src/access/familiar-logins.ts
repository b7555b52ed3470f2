/**
 * Where accounts have logged in from lately, so that such a login need not wait behind those of strangers. It gives no
 * right: the password must be as right as anywhere else.
 */

/** Some 2 MB when full; the pair that was used least recently is forgotten for a new one. */
const PAIRS_MAX = 10_000;
const LIFETIME_MS = 7 * 86_400_000;

export class FamiliarLogins {
  readonly #nowMs: () => number;
  readonly #pairsMax: number;
  /** Pairs to the times of their last login, on the monotonic clock; the least recent first. */
  readonly #pairs = new Map<string, number>();

  /** @param nowMs a clock that never goes back, in milliseconds */
  constructor(nowMs: () => number, pairsMax = PAIRS_MAX) {
    this.#nowMs = nowMs;
    this.#pairsMax = pairsMax;
  }

  /** The account has logged in from this client address. */
  add(client: string, account: string): void {
    const pair = pairOf(client, account);
    this.#pairs.delete(pair);
    this.#pairs.set(pair, this.#nowMs());
    if (this.#pairs.size > this.#pairsMax) {
      this.#pairs.delete(this.#pairs.keys().next().value as string);
    }
  }

  /** Whether the account has logged in from this client address within a week. */
  has(client: string, account: string): boolean {
    const atMs = this.#pairs.get(pairOf(client, account));
    return atMs !== undefined && this.#nowMs() - atMs <= LIFETIME_MS;
  }
}

function pairOf(client: string, account: string): string {
  return `${client} ${account}`;
}
