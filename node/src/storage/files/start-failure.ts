/**
 * The failure of a store while a member starts: every step that waits for that store fails with it.
 *
 * A store reports a failure separately, and never answers the request that waits. In production the report ends the
 * process. If it does not, the start must still end.
 */

import { StoreError } from "./store-error.ts";

export class StartFailure {
  readonly #failed = Promise.withResolvers<never>();

  constructor() {
    // After the start nothing awaits this promise any more.
    this.#failed.promise.catch(() => undefined);
  }

  /** Returns a function that reports errors to `onFatal`, and then makes the waiting step fail. */
  reporting(onFatal: (error: StoreError) => void): (error: StoreError) => void {
    return (error) => {
      try {
        onFatal(error);
      } finally {
        // Never "corruption", which a start refuses for good: there is a note of it, and the next start judges it.
        this.#failed.reject(new StoreError("io", `the start could not be stored: ${error.message}`, { cause: error }));
      }
    };
  }

  /** Resolves when the request of `begin` is done. Raises a StoreError of kind "io" if a store fails before that. */
  async orDone(begin: (done: () => void) => void): Promise<void> {
    await Promise.race([new Promise<void>((resolve) => begin(resolve)), this.#failed.promise]);
  }
}
