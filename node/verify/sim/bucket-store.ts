/**
 * The bucket as one process reaches it. Requests take time and fail. The bucket may carry a request out without an
 * answer, or after the process has given it up or has died. An upload sends its pieces one by one, and may break off
 * between any two.
 */

import type { BackupStore, ByteRange, StoredObject } from "@quoin/backup";
import { type Bucket, failure, piecesOf } from "./bucket.ts";
import type { EventHeap } from "./event-heap.ts";
import type { PendingWork, ProcessWork } from "./pending-work.ts";
import type { ArchivePlan } from "./plan.ts";
import type { ProcessLoop } from "./process-loop.ts";
import type { RandomStream } from "./random.ts";

export interface BucketStoreOptions {
  readonly bucket: Bucket;
  readonly heap: EventHeap;
  readonly loop: ProcessLoop;
  readonly random: RandomStream;
  readonly plan: Pick<ArchivePlan, "requestMs" | "failureShare" | "pageObjects">;
  readonly pending: PendingWork;
  readonly work: ProcessWork;
}

/** How long a request to an unavailable store is tried, in milliseconds. */
const GIVEN_UP_MS = [100, 3_000] as const;
/** How long after its failure a request may still be carried out, in milliseconds. */
const LATE_MS = 4_000;
/** The shares of failed requests that are still carried out: at once without an answer, or late. */
const UNANSWERED_SHARE = 0.3;
const LATE_SHARE = 0.2;
/** The share of open requests that are carried out although their process dies. */
const OUTLIVING_SHARE = 0.5;

export class BucketStore implements BackupStore {
  readonly #options: BucketStoreOptions;

  constructor(options: BucketStoreOptions) {
    this.#options = options;
  }

  describe(): string {
    return "bucket";
  }

  async put(name: string, stream: AsyncIterable<Uint8Array>): Promise<void> {
    const { bucket, work } = this.#options;
    const operation = `put ${name}`;
    const pieces: Uint8Array[] = [];
    const iterator = stream[Symbol.asyncIterator]();
    for (;;) {
      const next = await work.compute(() => iterator.next());
      if (next.done === true) {
        break;
      }
      pieces.push(Uint8Array.from(next.value));
      try {
        await this.#request(operation, () => undefined, { isPiece: true });
      } catch (error) {
        await iterator.return?.();
        throw error;
      }
    }
    await this.#request(operation, () => bucket.put(name, Buffer.concat(pieces)));
  }

  async get(name: string, range: ByteRange = { start: 0 }): Promise<AsyncIterable<Uint8Array>> {
    const { bucket, random } = this.#options;
    const operation = `get ${name}`;
    const bytes = await this.#request(operation, () => {
      const found = bucket.get(name);
      if (found === undefined) {
        throw failure("not-found", operation, "there is no such object");
      }
      return found.subarray(range.start, range.end);
    });
    return this.#stream(operation, piecesOf(bytes, random));
  }

  async *list(prefix: string): AsyncGenerator<StoredObject, void, undefined> {
    const { bucket, plan } = this.#options;
    for (let after = ""; ; ) {
      const page = await this.#request(`list ${prefix}`, () => {
        return bucket.objects.filter(({ name }) => name.startsWith(prefix) && name > after).slice(0, plan.pageObjects);
      });
      yield* page;
      if (page.length < plan.pageObjects) {
        return;
      }
      after = page.at(-1)?.name ?? "";
    }
  }

  async delete(name: string): Promise<void> {
    const { bucket } = this.#options;
    await this.#request(`delete ${name}`, () => bucket.delete(name));
  }

  async sweep(): Promise<number> {
    return this.#request("sweep", () => 0);
  }

  async close(): Promise<void> {}

  /** The reader computes between two pieces. */
  async *#stream(operation: string, pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, undefined> {
    const { work } = this.#options;
    for (const piece of pieces) {
      await this.#request(operation, () => undefined, { isPiece: true });
      work.begin();
      try {
        yield piece;
      } finally {
        work.end();
      }
    }
  }

  /** Lets time pass, then performs the request in the bucket, or fails. */
  #request<T>(operation: string, effect: () => T, { isPiece = false } = {}): Promise<T> {
    const { bucket, heap, loop, random, plan, pending } = this.#options;
    if (loop.isDead) {
      // No code of a dead process goes on.
      return new Promise(() => undefined);
    }
    const isAway = bucket.isAway(heap.nowMs);
    const isFailing =
      isAway || (!bucket.hasFaultsEnded && random.chance(isPiece ? plan.failureShare / 4 : plan.failureShare));
    const tookMs = isAway
      ? random.between(...GIVEN_UP_MS)
      : random.exponential(plan.requestMs * (isPiece ? 0.1 : 1) + bucket.slownessMs(heap.nowMs));
    const fate = random.next();
    const outlives = random.chance(OUTLIVING_SHARE);
    const effectMs = random.between(0, tookMs);
    const lateMs = random.between(0, LATE_MS);
    return new Promise<T>((resolve, reject) => {
      const answer = (atMs: number, settle: () => void): void => {
        heap.after(atMs, () => {
          loop.arrive(() => {
            pending.wake();
            settle();
          });
        });
      };
      if (!isFailing) {
        heap.after(effectMs, () => {
          if (loop.isDead && !outlives) {
            return;
          }
          let settle: () => void;
          try {
            const result = effect();
            settle = () => resolve(result);
          } catch (error) {
            if (!(error instanceof Error && error.name === "StoreFailure")) {
              throw error;
            }
            settle = () => reject(error);
          }
          answer(tookMs - effectMs, settle);
        });
        return;
      }
      if (!isAway && !isPiece && fate < UNANSWERED_SHARE + LATE_SHARE) {
        heap.after(fate < UNANSWERED_SHARE ? effectMs : tookMs + lateMs, () => {
          if (!operation.startsWith("get ")) {
            effect();
          }
        });
      }
      answer(tookMs, () => reject(failure("unreachable", operation, "the connection was lost")));
    });
  }
}
