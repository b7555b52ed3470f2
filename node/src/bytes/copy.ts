/**
 * The bytes from `from` to `to` in memory of their own. The method `slice` copies only where the bytes are no Buffer: that
 * of a Buffer is a view, which changes with the Buffer.
 */
export function copyOf(bytes: Uint8Array, from: number, to: number): Uint8Array {
  return new Uint8Array(bytes.subarray(from, to));
}
