/**
 * A cache of the last values of :path that arrived as literals without indexing. Some clients send them so in each
 * request, because paths on the web differ. In gRPC they are the same few. The cache finds a path by its encoded bytes,
 * so the path is not decoded again.
 *
 * It compares all bytes before it returns a path, so the cache never changes a result.
 */
import { copyOf } from "../../bytes/index.ts";

/** Number of places, a power of two. A new path replaces the one at its place. */
const SLOTS = 16;
/** A longer literal is not cached. */
const LITERAL_BYTES_MAX = 128;

interface KnownPath {
  /** The literal as in a block, beginning with its length. */
  readonly literal: Uint8Array;
  readonly path: string;
}

export class KnownPaths {
  readonly #known: (KnownPath | undefined)[] = [];

  /** Returns the path of the literal at `from`, if it is cached. */
  at(block: Uint8Array, from: number, to: number): string | undefined {
    const known = this.#known[slotOf(block, from, to)];
    return known !== undefined && isAt(known.literal, block, from, to) ? known.path : undefined;
  }

  remember(block: Uint8Array, from: number, to: number, path: string): void {
    if (to - from <= LITERAL_BYTES_MAX) {
      this.#known[slotOf(block, from, to)] = { literal: copyOf(block, from, to), path };
    }
  }
}

/** Methods of one service differ in their last bytes and in their lengths. */
function slotOf(block: Uint8Array, from: number, to: number): number {
  let hash = to - from;
  for (let at = Math.max(from, to - 4); at < to; at++) {
    hash = Math.imul(hash ^ (block[at] as number), 0x0100_0193);
  }
  return (hash ^ (hash >>> 15)) & (SLOTS - 1);
}

function isAt(literal: Uint8Array, block: Uint8Array, from: number, to: number): boolean {
  if (literal.length !== to - from) {
    return false;
  }
  for (let at = 0; at < literal.length; at++) {
    if (literal[at] !== block[from + at]) {
      return false;
    }
  }
  return true;
}
