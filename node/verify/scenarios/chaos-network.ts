/**
 * The connections of a cluster in memory.
 *
 * Two members exchange messages only after they have met. Messages of one connection arrive in the order in which they
 * were sent, or are lost with the connection. Log messages and control messages have separate connections in each
 * direction, so they can overtake each other.
 */

import type { Message } from "../../src/raft/index.ts";

export class ChaosNetwork {
  /** Messages in flight, by connection, oldest first. */
  readonly #connections = new Map<string, Message[]>();
  /** Pairs "a b", a < b, that have met since both started. */
  readonly #met = new Set<string>();
  /** Directed pairs "from>to" through which nothing passes. */
  readonly #blocked = new Set<string>();

  /** The connections with messages in flight. */
  get busy(): string[] {
    return [...this.#connections.keys()];
  }

  /** Number of messages in flight on the connection. */
  count(connection: string): number {
    return this.#connections.get(connection)?.length ?? 0;
  }

  send(message: Message): void {
    const { from, to, type } = message;
    if (this.hasMet(from, to)) {
      const kind = type === "append" || type === "append-reply" ? "log" : "control";
      const connection = `${from}>${to} ${kind}`;
      this.#connections.set(connection, [...(this.#connections.get(connection) ?? []), message]);
    }
  }

  /** The oldest message of the connection; with `isKept` it stays there and arrives a second time. */
  take(connection: string, isKept: boolean): Message | undefined {
    const queue = this.#connections.get(connection) ?? [];
    const rest = isKept ? queue : queue.slice(1);
    if (rest.length === 0) {
      this.#connections.delete(connection);
    } else {
      this.#connections.set(connection, rest);
    }
    return queue[0];
  }

  hasMet(one: number, other: number): boolean {
    return this.#met.has(pairOf(one, other));
  }

  meet(one: number, other: number): void {
    this.#met.add(pairOf(one, other));
  }

  /** Ends the connections between the two and drops the messages on them; returns whether they had met. */
  part(one: number, other: number): boolean {
    for (const direction of [`${one}>${other}`, `${other}>${one}`]) {
      this.#connections.delete(`${direction} log`);
      this.#connections.delete(`${direction} control`);
    }
    return this.#met.delete(pairOf(one, other));
  }

  isBlocked(from: number, to: number): boolean {
    return this.#blocked.has(`${from}>${to}`);
  }

  block(from: number, to: number): void {
    this.#blocked.add(`${from}>${to}`);
  }

  unblockAll(): void {
    this.#blocked.clear();
  }
}

/** The same for both directions. */
export function pairOf(one: number, other: number): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}
