/**
 * The failure of a store while a member starts: whatever waits for that store fails with it.
 *
 * A store reports a failure beside the request that waits for an answer, and never answers that request. In production
 * the report ends the process. Where it does not, the start must end all the same.
 */

import { StoreError } from "./store-error.ts";

export class StartFailure {
  readonly #failed = Promise.withResolvers<never>();

  constructor() {
    // After the start nothing waits for it any more.
    this.#failed.promise.catch(() => undefined);
  }

  /** Reports errors to `onFatal`, and then ends what waits. */
  reporting(onFatal: (error: StoreError) => void): (error: StoreError) => void {
    return (error) => {
      try {
        onFatal(error);
      } finally {
        // Never "corruption", which a start refuses for good: what is corrupt is noted, and the next start settles it.
        this.#failed.reject(new StoreError("io", `the start could not be stored: ${error.message}`, { cause: error }));
      }
    };
  }

  /** Returns when what `begin` asks of a store is done. Raises a StoreError of kind "io" if a store fails before. */
  async orDone(begin: (done: () => void) => void): Promise<void> {
    await Promise.race([new Promise<void>((resolve) => begin(resolve)), this.#failed.promise]);
  }
}
