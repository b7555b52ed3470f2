/**
 * Copies the bytes from `from` to `to` into their own memory. `slice` is not enough: on a Buffer it returns a view,
 * which changes with the Buffer.
 */
export function copyOf(bytes: Uint8Array, from: number, to: number): Uint8Array {
  return new Uint8Array(bytes.subarray(from, to));
}
