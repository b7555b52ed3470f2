/**
 * Memory for small byte arrays, cut from larger pieces: to allocate each one alone costs many times more.
 *
 * A slab is written from its beginning to its end, and its pool never hands out the same part of it twice. It lives as
 * long as anything that was cut from it: so byte arrays that live about as long as each other share a pool.
 */

/** Bytes of a slab. */
const SLAB_BYTES = 16 * 1024;
/** A slab with less room than this is not used again. */
const ROOM_MIN = 512;
/** A pool keeps so many slabs for later at most: as many as records are written within each other, and some. */
const FREE_MAX = 4;
/** Larger byte arrays have memory of their own, so that a small one never keeps a large one in memory. */
const CUT_BYTES_MAX = 4 * 1024;

/** Slabs with room, for byte arrays of one kind. */
export class SlabPool {
  /** More than one only where records are written within records. */
  readonly #free: Slab[] = [];

  /** A slab for the caller alone, until it cuts something off or releases it. */
  take(): Slab {
    return this.#free.pop() ?? new Slab(this, SLAB_BYTES);
  }

  /** A new slab with at least this many free bytes. */
  takeLarge(length: number): Slab {
    return new Slab(this, Math.max(SLAB_BYTES, length));
  }

  /** The number of slabs that the pool keeps for later. */
  get freeCount(): number {
    return this.#free.length;
  }

  /** Bytes for the caller to write: what is in them now is undefined. */
  allocate(length: number): Uint8Array {
    if (length > CUT_BYTES_MAX) {
      return new Uint8Array(length);
    }
    let slab = this.take();
    if (slab.end + length > slab.bytes.length) {
      // The one that is nearly full is not given back: it would be taken first again, and would not do again.
      slab = new Slab(this, SLAB_BYTES);
    }
    return slab.cut(slab.end + length);
  }

  /** A copy of the bytes. */
  copyOf(bytes: Uint8Array): Uint8Array {
    const copy = this.allocate(bytes.length);
    copy.set(bytes);
    return copy;
  }

  /** Takes a slab back. */
  put(slab: Slab): void {
    const hasRoom = slab.bytes.length === SLAB_BYTES && SLAB_BYTES - slab.end >= ROOM_MIN;
    if (hasRoom && this.#free.length < FREE_MAX) {
      this.#free.push(slab);
    }
  }
}

export class Slab {
  readonly bytes: Uint8Array;
  readonly #pool: SlabPool;
  readonly #buffer: Buffer;
  #end = 0;

  constructor(pool: SlabPool, length: number) {
    this.#pool = pool;
    this.#buffer = Buffer.allocUnsafeSlow(length);
    this.bytes = this.#buffer;
  }

  /** Where the free room begins. */
  get end(): number {
    return this.#end;
  }

  /** Writes the UTF-8 bytes of a text, for which there must be room, and returns how many they are. */
  writeText(text: string, at: number): number {
    return this.#buffer.write(text, at);
  }

  /** Cuts off what was written from `end` on to here, and gives the slab back to its pool. */
  cut(to: number): Uint8Array {
    const from = this.#end;
    const length = to - from;
    if (length > CUT_BYTES_MAX) {
      const own = new Uint8Array(length);
      own.set(this.bytes.subarray(from, to));
      this.release();
      return own;
    }
    const cut = new Uint8Array(this.bytes.buffer, from, length);
    this.#end = to;
    this.release();
    return cut;
  }

  /** Gives the slab back to its pool with nothing cut off. */
  release(): void {
    this.#pool.put(this);
  }
}
