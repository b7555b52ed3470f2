/**
 * A store of backups in memory that keeps the contract of BackupStore. A spec may let requests wait or fail, by the
 * kind of request and the name of the object.
 */

import { type BackupStore, type ByteRange, type StoredObject, StoreFailure } from "@quoin/backup";

type Operation = "put" | "get" | "list" | "delete";
type Choice = (operation: Operation, name: string) => boolean;

/** Objects, which several stores share. */
export class MemoryBucket {
  readonly objects = new Map<string, { readonly bytes: Uint8Array; readonly modifiedMs: number }>();
  readonly #wallMs: () => number;
  /** Puts that wait until `release`. */
  #held: (() => void)[] = [];
  #isHeld: Choice = () => false;

  /** @param wallMs the clock of the store */
  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
  }

  put(name: string, bytes: Uint8Array): void {
    this.objects.set(name, { bytes, modifiedMs: this.#wallMs() });
  }

  /** All objects, ordered by name. */
  get listing(): StoredObject[] {
    return [...this.objects]
      .map(([name, { bytes, modifiedMs }]) => ({ name, size: bytes.length, modifiedMs }))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** Requests like this wait, without an effect, until `release`. */
  hold(isHeld: Choice): void {
    this.#isHeld = isHeld;
  }

  /** Number of waiting requests. */
  get held(): number {
    return this.#held.length;
  }

  release(): void {
    this.#isHeld = () => false;
    for (const go of this.#held.splice(0)) {
      go();
    }
  }

  async pass(operation: Operation, name: string): Promise<void> {
    if (this.#isHeld(operation, name)) {
      await new Promise<void>((resolve) => {
        this.#held.push(resolve);
      });
    }
  }
}

export class MemoryBackupStore implements BackupStore {
  readonly #bucket: MemoryBucket;
  /** Whether every request fails. */
  isAway = false;
  /** How often the objects were listed. */
  listings = 0;

  constructor(bucket: MemoryBucket) {
    this.#bucket = bucket;
  }

  describe(): string {
    return "memory";
  }

  async put(name: string, stream: AsyncIterable<Uint8Array>): Promise<void> {
    const pieces: Uint8Array[] = [];
    for await (const piece of stream) {
      pieces.push(Uint8Array.from(piece));
    }
    await this.#pass("put", name);
    this.#bucket.put(name, Buffer.concat(pieces));
  }

  async get(name: string, { start, end }: ByteRange = { start: 0 }): Promise<AsyncIterable<Uint8Array>> {
    await this.#pass("get", name);
    const found = this.#bucket.objects.get(name);
    if (found === undefined) {
      throw failure("not-found", `get ${name}`);
    }
    return oneChunk(found.bytes.subarray(start, end));
  }

  async *list(prefix: string): AsyncGenerator<StoredObject, void, undefined> {
    this.listings++;
    await this.#pass("list", prefix);
    yield* this.#bucket.listing.filter(({ name }) => name.startsWith(prefix));
  }

  async delete(name: string): Promise<void> {
    await this.#pass("delete", name);
    this.#bucket.objects.delete(name);
  }

  async sweep(): Promise<number> {
    return 0;
  }

  async close(): Promise<void> {}

  async #pass(operation: Operation, name: string): Promise<void> {
    await this.#bucket.pass(operation, name);
    if (this.isAway) {
      throw failure("unreachable", `${operation} ${name}`);
    }
  }
}

function failure(kind: StoreFailure["kind"], operation: string): StoreFailure {
  return new StoreFailure({ kind, store: "memory", operation, reason: "the spec says so" });
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}
