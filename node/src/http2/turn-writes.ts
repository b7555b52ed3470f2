/**
 * The connections that have output at the end of this turn of the event loop. All answers of a turn on one connection,
 * whether to one request or to hundreds, go to its socket in one write.
 */

export interface TurnWriter {
  /** Writes the output, if there is any. */
  flush(): void;
}

export class TurnWrites {
  #writers: TurnWriter[] = [];
  readonly #flushAll = (): void => {
    const writers = this.#writers;
    // Output that the flush causes belongs to the next turn.
    this.#writers = [];
    for (const writer of writers) {
      writer.flush();
    }
  };

  /** Flushes the writer at the end of the turn, once for each call. */
  add(writer: TurnWriter): void {
    if (this.#writers.length === 0) {
      setImmediate(this.#flushAll);
    }
    this.#writers.push(writer);
  }
}
