/** Compares byte strings, in the order of unsigned bytes. */

/** Negative, 0 or positive as a comes before, equals or comes after b in the order of unsigned bytes. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const difference = (a[at] as number) - (b[at] as number);
    if (difference !== 0) {
      return difference;
    }
  }
  return a.length - b.length;
}

/** Whether from ≤ key < to, in the order of unsigned bytes. */
export function isWithin(key: Uint8Array, from: Uint8Array, to: Uint8Array): boolean {
  return compareBytes(key, from) >= 0 && compareBytes(key, to) < 0;
}

/** Whether both have the same bytes. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && compareBytes(a, b) === 0;
}

/** Whether the bytes begin with the prefix. */
export function beginsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  if (bytes.length < prefix.length) {
    return false;
  }
  for (let at = 0; at < prefix.length; at++) {
    if (bytes[at] !== prefix[at]) {
      return false;
    }
  }
  return true;
}

/** The least byte string above the key. */
export function withNul(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}
