/**
 * The last values of :path that came as literals without indexing: some clients send them so in each request, as paths
 * differ on the web. In gRPC they are the same few. Each is found by its encoded bytes, and is neither decoded nor made
 * again.
 *
 * A value is given out only after all of its bytes were compared, so what is remembered changes nothing.
 */
import { copyOf } from "../../bytes/index.ts";

/** A path that falls to the place of another one takes it. A power of two. */
const PLACES = 16;
/** A longer literal is not remembered. */
const LITERAL_BYTES_MAX = 128;

interface KnownPath {
  /** The literal as it stands in a block, from its length on. */
  readonly literal: Uint8Array;
  readonly path: string;
}

export class KnownPaths {
  readonly #known: (KnownPath | undefined)[] = [];

  /** The path whose literal lies there, if it is remembered. */
  at(block: Uint8Array, from: number, to: number): string | undefined {
    const known = this.#known[placeOf(block, from, to)];
    return known !== undefined && isAt(known.literal, block, from, to) ? known.path : undefined;
  }

  remember(block: Uint8Array, from: number, to: number, path: string): void {
    if (to - from <= LITERAL_BYTES_MAX) {
      this.#known[placeOf(block, from, to)] = { literal: copyOf(block, from, to), path };
    }
  }
}

/** Methods of one service differ in their last bytes, and in their lengths. */
function placeOf(block: Uint8Array, from: number, to: number): number {
  let hash = to - from;
  for (let at = Math.max(from, to - 4); at < to; at++) {
    hash = Math.imul(hash ^ (block[at] as number), 0x0100_0193);
  }
  return (hash ^ (hash >>> 15)) & (PLACES - 1);
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
