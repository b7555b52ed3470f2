/** Parses and formats sizes in bytes. */

import { InvalidArgumentError } from "commander";

const SIZE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

const SIZE_PATTERN = /^([0-9]+)(B|KiB|MiB|GiB|TiB)?$/;

/**
 * Reads a size such as `4096`, `64KiB` or `16MiB`; without a unit it is in bytes.
 *
 * @returns bytes, at least 1.
 * @throws InvalidArgumentError of commander, which names the option or argument.
 */
export function parseSize(text: string): number {
  const [, digits, unit = "B"] = SIZE_PATTERN.exec(text) ?? [];
  const bytes = Number(digits) * 1_024 ** SIZE_UNITS.indexOf(unit);
  if (!Number.isSafeInteger(bytes) || bytes < 1) {
    throw new InvalidArgumentError("Give a size such as 4096 or 16MiB.");
  }
  return bytes;
}

/** A size in the largest unit that leaves at least 1, with one decimal above bytes. */
export function formatSize(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1_024 && unit < SIZE_UNITS.length - 1) {
    size /= 1_024;
    unit += 1;
  }
  return unit === 0 ? `${size} B` : `${size.toFixed(1)} ${SIZE_UNITS[unit]}`;
}
