/**
 * The sequence of writes, and which message waits for which write.
 *
 * Terms, votes, entries and log resets share one sequence of numbers, and storage writes them in its order (P3). At
 * most one write is in flight; every change in the meantime goes into the next one. A message that depends on a change
 * stays here until the write that carries the change is durable. Then this class returns it, unless its term has
 * passed: losing a message is always safe.
 */

import { invariant, safeCount } from "../primitives/index.ts";
import type { Message } from "./message.ts";

/** A message that waits for the write with this number. */
interface Deferred {
  readonly writeSeq: number;
  readonly message: Message;
}

export class Writes {
  #writeSeq: number;
  #inFlight = 0;
  #isDirty = false;
  #deferred: Deferred[] = [];

  /** `writeSeq`: number of the last write of this data directory; the next one gets a greater number. */
  constructor(writeSeq: number) {
    this.#writeSeq = safeCount(writeSeq, "writeSeq");
  }

  /** The number of the write that will carry the changes made now. */
  get nextSeq(): number {
    return this.#writeSeq + 1;
  }

  /** Whether something other than log entries waits to be written. */
  get isDirty(): boolean {
    return this.#isDirty;
  }

  /** The term, the vote or the beginning of the log has changed. */
  markDirty(): void {
    this.#isDirty = true;
  }

  /** Puts every unwritten change into one write; returns its number. */
  begin(): number {
    invariant(this.#inFlight === 0, "one write is in flight at a time", () => `${this.#inFlight}`);
    this.#writeSeq = safeCount(this.#writeSeq + 1, "writeSeq");
    this.#inFlight = this.#writeSeq;
    this.#isDirty = false;
    return this.#writeSeq;
  }

  /**
   * Keeps the message until every change made so far is durable. `hasUnwritten` says whether the log contains such
   * changes. Returns false, and keeps nothing, if all of them are durable already.
   */
  defer(message: Message, hasUnwritten: boolean): boolean {
    const writeSeq = this.#isDirty || hasUnwritten ? this.nextSeq : this.#inFlight;
    if (writeSeq === 0) {
      return false;
    }
    this.#deferred.push({ writeSeq, message });
    return true;
  }

  /** The write is durable. Returns, in order, the messages that waited for it and are not of a term before `term`. */
  durable(writeSeq: number, term: number): Message[] {
    invariant(writeSeq === this.#inFlight && writeSeq > 0, "writes become durable one by one, in order", () => {
      return `${writeSeq}, in flight ${this.#inFlight}`;
    });
    this.#inFlight = 0;
    const released: Message[] = [];
    const kept: Deferred[] = [];
    for (const deferred of this.#deferred) {
      if (deferred.writeSeq > writeSeq) {
        kept.push(deferred);
      } else if (deferred.message.term >= term) {
        released.push(deferred.message);
      }
    }
    this.#deferred = kept;
    return released;
  }
}
