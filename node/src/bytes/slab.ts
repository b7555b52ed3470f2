/**
 * Memory for small byte arrays, cut from larger pieces (slabs). A separate allocation for each array costs many times
 * more.
 *
 * A slab is filled from its beginning to its end, and its pool never hands out the same part twice. A slab lives as
 * long as anything cut from it, so byte arrays with similar lifetimes should share a pool.
 */

/** Bytes of a slab. */
const SLAB_BYTES = 16 * 1024;
/** The pool does not reuse a slab with fewer free bytes than this. */
const FREE_BYTES_MIN = 512;
/** A pool keeps at most this many free slabs: about as many as records are nested, and a few more. */
const FREE_MAX = 4;
/** Larger byte arrays get their own memory, so that a small array never keeps a large one in memory. */
const CUT_BYTES_MAX = 4 * 1024;
/** A byte array takes the memory of its large slab along if at most an eighth of its length stays unused. */
const SPARE_SHARE = 8;

/** A pool of slabs with free bytes, for byte arrays of one kind. */
export class SlabPool {
  /** Has more than one slab only if records are written inside records. */
  readonly #free: Slab[] = [];

  /** A slab that only the caller uses until it calls `cut` or `release`. */
  take(): Slab {
    return this.#free.pop() ?? new Slab(this, SLAB_BYTES);
  }

  /** A new slab with at least this many free bytes. */
  takeLarge(length: number): Slab {
    return new Slab(this, Math.max(SLAB_BYTES, length));
  }

  /** How many free slabs the pool keeps. */
  get freeCount(): number {
    return this.#free.length;
  }

  /** Bytes for the caller to write. Their content is undefined. */
  allocate(length: number): Uint8Array {
    if (length > CUT_BYTES_MAX) {
      return new Uint8Array(length);
    }
    let slab = this.take();
    if (slab.end + length > slab.bytes.length) {
      // Do not return the nearly full slab: the next call would take it first, and it would be too small again.
      slab = new Slab(this, SLAB_BYTES);
    }
    return slab.cut(slab.end + length);
  }

  copyOf(bytes: Uint8Array): Uint8Array {
    const copy = this.allocate(bytes.length);
    copy.set(bytes);
    return copy;
  }

  put(slab: Slab): void {
    const hasRoom = slab.bytes.length === SLAB_BYTES && SLAB_BYTES - slab.end >= FREE_BYTES_MIN;
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

  /** Where the free part begins. */
  get end(): number {
    return this.#end;
  }

  /** Writes a text as UTF-8 and returns the number of bytes. The slab must have enough free bytes. */
  writeText(text: string, at: number): number {
    return this.#buffer.write(text, at);
  }

  /** Cuts off the bytes from `end` to `to`, and returns the slab to its pool. */
  cut(to: number): Uint8Array {
    const from = this.#end;
    const length = to - from;
    const unused = this.bytes.length - length;
    if (this.bytes.length > SLAB_BYTES && unused <= length / SPARE_SHARE) {
      // Nothing else is cut from a large slab.
      return new Uint8Array(this.bytes.buffer, from, length);
    }
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

  /** Returns the slab to its pool without cutting anything off. */
  release(): void {
    this.#pool.put(this);
  }
}
