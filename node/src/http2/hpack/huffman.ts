/** Encodes and decodes texts in the Huffman code of RFC 7541 §5.2. */
import { HeaderCompressionError } from "./header-compression-error.ts";
import { CODE_WIDTHS, CODES, EOS } from "./huffman-code.ts";

/**
 * The decoder is a state machine with a state for each inner node of the code's tree. It reads 4 bits at a time. The
 * shortest code has 5 bits, so a step passes at most one leaf. Every text costs the same per byte, whatever its
 * content.
 */
const STEP_BITS = 4;
const STEPS = 1 << STEP_BITS;
/** The root of the tree, where each code begins. */
const ROOT = 0;
/** A tree has one inner node less than leaves. The state after the last of them follows EOS, and never changes. */
const AFTER_EOS = CODE_WIDTHS.length - 1;
/**
 * By the state and the next 4 bits: the decoded byte in the lowest 8 bits, then one bit that is 1 if there is a decoded
 * byte, and then the next state times STEPS.
 */
const transitions = new Int32Array((AFTER_EOS + 1) * STEPS);
const DECODED_BIT = 8;
const NEXT_STATE_BIT = 9;
/** By the state: whether a text may end there, because the bits since the last code are valid padding (§5.2). */
const isEnd = new Uint8Array(AFTER_EOS + 1);

buildMachine();

function buildMachine(): void {
  const children = buildTree();
  for (let state = 0; state < AFTER_EOS; state++) {
    for (let bits = 0; bits < STEPS; bits++) {
      transitions[state * STEPS + bits] = transitionFrom(state, bits, children);
    }
  }
  transitions.fill((AFTER_EOS * STEPS) << NEXT_STATE_BIT, AFTER_EOS * STEPS);
  // Padding has at most 7 bits, all of them ones: the first bits of EOS.
  for (let node = ROOT, bits = 0; bits <= 7; bits++) {
    isEnd[node] = 1;
    node = children[2 * node + 1] as number;
  }
}

/** The children of each inner node: another inner node, or the complement of a symbol. */
function buildTree(): Int16Array {
  const children = new Int16Array(2 * AFTER_EOS);
  let nodes = 1;
  for (const [symbol, width] of CODE_WIDTHS.entries()) {
    const code = CODES[symbol] as number;
    let node = ROOT;
    for (let bit = width - 1; bit > 0; bit--) {
      const child = 2 * node + ((code >> bit) & 1);
      if (children[child] === 0) {
        children[child] = nodes++;
      }
      node = children[child] as number;
    }
    children[2 * node + (code & 1)] = ~symbol;
  }
  return children;
}

function transitionFrom(state: number, bits: number, children: Int16Array): number {
  let node = state;
  let decoded = 0;
  for (let bit = STEP_BITS - 1; bit >= 0; bit--) {
    node = children[2 * node + ((bits >> bit) & 1)] as number;
    if (node === ~EOS) {
      return (AFTER_EOS * STEPS) << NEXT_STATE_BIT;
    }
    if (node < 0) {
      decoded = (1 << DECODED_BIT) | ~node;
      node = ROOT;
    }
  }
  return ((node * STEPS) << NEXT_STATE_BIT) | decoded;
}

/** Returns the space that `decodeHuffman` needs: the shortest code has 5 bits, and it may write one extra byte. */
export function decodedBytesMax(encodedBytes: number): number {
  return Math.ceil((encodedBytes * 8) / 5) + 1;
}

/**
 * Decodes the bytes from `from` to `to` into `text`, which must have space for `decodedBytesMax`. Returns the number of
 * bytes of the text. Throws HeaderCompressionError if it contains EOS, or if its padding is longer than 7 bits or not
 * the first bits of EOS.
 */
export function decodeHuffman(bytes: Uint8Array, from: number, to: number, text: Uint8Array): number {
  let state = ROOT;
  let length = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    // Without a decoded byte, the written byte is overwritten by the next one. So there is no branch to predict.
    const high = transitions[state + (byte >> STEP_BITS)] as number;
    text[length] = high;
    length += (high >> DECODED_BIT) & 1;
    const low = transitions[(high >> NEXT_STATE_BIT) + (byte & (STEPS - 1))] as number;
    text[length] = low;
    length += (low >> DECODED_BIT) & 1;
    state = low >> NEXT_STATE_BIT;
  }
  if (isEnd[state / STEPS] === 0) {
    throw new HeaderCompressionError("A text in Huffman code contains EOS, or its padding is wrong");
  }
  return length;
}

/** Returns the number of bytes of the text in Huffman code. Its characters must be latin-1. */
export function huffmanBytesOf(text: string): number {
  let bits = 0;
  for (let at = 0; at < text.length; at++) {
    bits += CODE_WIDTHS[text.charCodeAt(at)] as number;
  }
  return (bits + 7) >>> 3;
}

/** Writes the text in Huffman code. Returns where it ends. There must be space for `huffmanBytesOf`. */
export function encodeHuffman(text: string, bytes: Uint8Array, at: number): number {
  let end = at;
  // The lowest `bits` bits of the window are not written yet: fewer than 8 between two characters.
  let window = 0;
  let bits = 0;
  for (let next = 0; next < text.length; next++) {
    const symbol = text.charCodeAt(next);
    let code = CODES[symbol] as number;
    let width = CODE_WIDTHS[symbol] as number;
    if (width > 16) {
      // In two parts: 7 bits and a code of 30 bits would not fit into the 32 bits of the window.
      window = (window << (width - 16)) | (code >> 16);
      bits += width - 16;
      while (bits >= 8) {
        bits -= 8;
        bytes[end++] = window >> bits;
      }
      code &= 0xffff;
      width = 16;
    }
    window = (window << width) | code;
    bits += width;
    while (bits >= 8) {
      bits -= 8;
      bytes[end++] = window >> bits;
    }
  }
  if (bits > 0) {
    bytes[end++] = (window << (8 - bits)) | (0xff >> bits);
  }
  return end;
}
