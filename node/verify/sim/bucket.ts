/**
 * The store of the archive: its objects survive every process, and faults hit it. It promises what a real store
 * promises: an object exists as a whole or not at all, and can be listed and read right after the put.
 */

import { Readable } from "node:stream";
import { type BackupStore, type StoredObject, StoreFailure } from "@quoin/backup";
import type { RandomStream } from "./random.ts";

/** Events of an object. */
export interface BucketListener {
  onPut(object: StoredObject): void;
  onDeleted(object: StoredObject): void;
}

export class Bucket {
  readonly #nowMs: () => number;
  readonly #listener: BucketListener;
  readonly #objects = new Map<string, { readonly bytes: Uint8Array; readonly modifiedMs: number }>();
  #awayUntilMs = 0;
  #slowUntilMs = 0;
  #slowMs = 0;
  #hasFaultsEnded = false;

  /** @param nowMs the wall clock of the store. */
  constructor(nowMs: () => number, listener: BucketListener) {
    this.#nowMs = nowMs;
    this.#listener = listener;
  }

  /** All objects, ordered by name. */
  get objects(): StoredObject[] {
    return [...this.#objects]
      .map(([name, { bytes, modifiedMs }]) => ({ name, size: bytes.length, modifiedMs }))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** Ends all faults. */
  endFaults(): void {
    this.#hasFaultsEnded = true;
  }

  get hasFaultsEnded(): boolean {
    return this.#hasFaultsEnded;
  }

  /** It answers no request until then. */
  leave(untilMs: number): void {
    this.#awayUntilMs = Math.max(this.#awayUntilMs, untilMs);
  }

  /** Each request takes longer by this mean time until then. */
  slow(untilMs: number, byMs: number): void {
    this.#slowUntilMs = Math.max(this.#slowUntilMs, untilMs);
    this.#slowMs = byMs;
  }

  isAway(nowMs: number): boolean {
    return !this.#hasFaultsEnded && nowMs < this.#awayUntilMs;
  }

  /** The mean additional time of a request that begins now, in milliseconds. */
  slownessMs(nowMs: number): number {
    return !this.#hasFaultsEnded && nowMs < this.#slowUntilMs ? this.#slowMs : 0;
  }

  get(name: string): Uint8Array | undefined {
    return this.#objects.get(name)?.bytes;
  }

  put(name: string, bytes: Uint8Array): void {
    const modifiedMs = this.#nowMs();
    this.#objects.set(name, { bytes, modifiedMs });
    this.#listener.onPut({ name, size: bytes.length, modifiedMs });
  }

  delete(name: string): void {
    const found = this.#objects.get(name);
    if (found !== undefined) {
      this.#objects.delete(name);
      this.#listener.onDeleted({ name, size: found.bytes.length, modifiedMs: found.modifiedMs });
    }
  }

  /** The same objects for a reader after the run. */
  reader(): BackupStore {
    const { objects } = this;
    const refuse = async (): Promise<never> => {
      throw new Error("a reader changes nothing");
    };
    return {
      describe: () => "bucket",
      put: refuse,
      delete: refuse,
      sweep: refuse,
      close: async () => undefined,
      get: async (name) => {
        const bytes = this.get(name);
        if (bytes === undefined) {
          throw failure("not-found", `get ${name}`, "there is no such object");
        }
        return Readable.from([bytes]);
      },
      list: async function* (prefix) {
        yield* objects.filter(({ name }) => name.startsWith(prefix));
      },
    };
  }
}

export function failure(kind: StoreFailure["kind"], operation: string, reason: string): StoreFailure {
  return new StoreFailure({ kind, store: "bucket", operation, reason });
}

/** Bytes in pieces of odd lengths. */
export function piecesOf(bytes: Uint8Array, random: RandomStream): Uint8Array[] {
  const at = random.whole(0, bytes.length);
  return [bytes.subarray(0, at), bytes.subarray(at)].filter(({ length }) => length > 0);
}
