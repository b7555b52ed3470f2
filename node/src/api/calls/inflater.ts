/**
 * Decompresses the messages of requests, a few at the same time.
 *
 * A message of a few kilobytes may become one of the maximum size. The member counts its bytes only at the end, so few
 * messages may be in between: the others wait. The counted bytes of their requests include those of the waiting ones.
 */
import { gunzip } from "node:zlib";
import { LinkedQueue, Links } from "../../collections/index.ts";

/** Called once with the decompressed message, or with the error. */
type Done = (error: NodeJS.ErrnoException | null, inflated: Buffer) => void;

/** The decompression of one message. */
export class Inflation {
  readonly links = new Links<Inflation>();
  readonly message: Buffer;
  readonly bytesMax: number;
  /** null = cancelled. */
  onDone: Done | null;

  constructor(message: Buffer, bytesMax: number, onDone: Done) {
    this.message = message;
    this.bytesMax = bytesMax;
    this.onDone = onDone;
  }
}

export class Inflater {
  readonly #runningMax: number;
  readonly #waiting = new LinkedQueue<Inflation>();
  #running = 0;

  constructor(runningMax: number) {
    this.#runningMax = runningMax;
  }

  /**
   * Decompresses a message that is in gzip, and calls `onDone` in a later turn. The error has the code
   * ERR_BUFFER_TOO_LARGE if the message is larger than `bytesMax`; it is never decompressed further than that.
   */
  inflate(message: Buffer, bytesMax: number, onDone: Done): Inflation {
    const inflation = new Inflation(message, bytesMax, onDone);
    this.#waiting.push(inflation);
    this.#runNext();
    return inflation;
  }

  /** Ensures that `onDone` is not called any more. A message that waits is never decompressed. */
  cancel(inflation: Inflation): void {
    inflation.onDone = null;
    this.#waiting.remove(inflation);
  }

  #runNext(): void {
    const next = this.#waiting.first;
    if (next === null || this.#running === this.#runningMax) {
      return;
    }
    this.#waiting.remove(next);
    this.#running++;
    gunzip(next.message, { maxOutputLength: next.bytesMax }, (error, inflated) => {
      this.#running--;
      this.#runNext();
      next.onDone?.(error, inflated);
    });
  }
}

/** As many as Node.js has threads by default: more would not end earlier. */
const RUNNING_MAX = 4;

/** Of all ports, because they share the threads and the memory. */
export const requestInflater = new Inflater(RUNNING_MAX);
