/** Pages of a memory region, and the offsets that a person enters. */

/** Bytes of a page: they fit on a screen. */
export const PAGE_BYTES = 512;

export interface MemoryPageRange {
  readonly offset: number;
  /** At least 1, because a region has at least one byte. */
  readonly length: number;
  /** Offset of the page before; null = this is the first one. */
  readonly previous: number | null;
  /** Offset of the page after; null = this is the last one. */
  readonly next: number | null;
}

/** The page that contains an offset; the last page for an offset beyond the end. */
export function memoryPage(offset: number, sizeBytes: number): MemoryPageRange {
  const within = Math.max(0, Math.min(offset, sizeBytes - 1));
  const start = within - (within % PAGE_BYTES);
  const next = start + PAGE_BYTES;
  return {
    offset: start,
    length: Math.min(PAGE_BYTES, sizeBytes - start),
    previous: start === 0 ? null : start - PAGE_BYTES,
    next: next < sizeBytes ? next : null,
  };
}

/** The offset that a text names, in decimal or, after 0x, in hexadecimal; null for any other text. */
export function offsetOf(text: string): number | null {
  const trimmed = text.trim();
  return /^(\d+|0x[0-9a-f]+)$/i.test(trimmed) ? Number(trimmed) : null;
}
