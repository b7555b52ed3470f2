/**
 * The connections that have something to write at the end of this turn of the event loop. What a turn answers on a
 * connection, whether for one request or for hundreds, goes to its socket in one write.
 */

export interface TurnWriter {
  /** Writes what there is, if there is anything. */
  flush(): void;
}

export class TurnWrites {
  #writers: TurnWriter[] = [];
  readonly #flushAll = (): void => {
    const writers = this.#writers;
    // What they cause to be written later belongs to the next turn.
    this.#writers = [];
    for (const writer of writers) {
      writer.flush();
    }
  };

  /** The writer is flushed once for each call, at the end of the turn. */
  add(writer: TurnWriter): void {
    if (this.#writers.length === 0) {
      setImmediate(this.#flushAll);
    }
    this.#writers.push(writer);
  }
}
