/** A connection to another member could not be opened, or has ended. */

import type { HelloRefusal } from "./hello.ts";

export class ConnectionError extends Error {
  /** Why the other member refused it, or null if it did not. */
  readonly refusal: HelloRefusal | null;

  constructor(message: string, refusal: HelloRefusal | null = null) {
    super(message);
    this.name = "ConnectionError";
    this.refusal = refusal;
  }
}
