/**
 * The client addresses of recent logins by account. A login from such an address does not wait behind those of
 * strangers. It gives no rights: the password is checked as for any other login.
 */

/** About 2 MB when full; a new pair then replaces the least recently used one. */
const PAIRS_MAX = 10_000;
const LIFETIME_MS = 7 * 86_400_000;

export class KnownClients {
  readonly #nowMs: () => number;
  readonly #pairsMax: number;
  /** The time of the last login by pair, on the monotonic clock; the least recent first. */
  readonly #pairs = new Map<string, number>();

  /** @param nowMs monotonic clock in milliseconds */
  constructor(nowMs: () => number, pairsMax = PAIRS_MAX) {
    this.#nowMs = nowMs;
    this.#pairsMax = pairsMax;
  }

  /** Notes that the account has logged in from this client address. */
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
