/** Numbers, sizes and times as people read them. All results are the same in every locale. */

const KIBI = 1_024;
const SIZE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const SECONDS_PER_MINUTE = 60;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** From here on, a fraction of a unit is noise. */
const THREE_DIGITS = 100;
const TWO_DIGITS = 10;
const COUNT_UNITS = [
  [1e9, "G"],
  [1e6, "M"],
  [1e4, "k"],
] as const;

/** A size such as `1.5 MiB`, with at most three significant digits. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= KIBI && unit < SIZE_UNITS.length - 1) {
    value /= KIBI;
    unit++;
  }
  return `${unit === 0 ? value : threeDigits(value)} ${SIZE_UNITS[unit]}`;
}

/** A count with thousands separators, such as `12,345`. */
export function countText(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}

/** A count for places with little room: `9,876`, `12.3k`, `4.56M`. */
export function shortCountText(count: number): string {
  for (const [size, unit] of COUNT_UNITS) {
    if (count >= size) {
      const scaled = count / (unit === "k" ? SECOND_MS : size);
      return `${threeDigits(scaled)}${unit}`;
    }
  }
  return count >= THREE_DIGITS ? countText(count) : threeDigits(count);
}

/** A duration by its two largest units, such as `350 ms`, `4.2 s`, `3 min 5 s`, `2 d 4 h`. */
export function durationText(ms: number): string {
  if (ms < SECOND_MS) {
    return `${ms < TWO_DIGITS ? threeDigits(ms) : Math.round(ms)} ms`;
  }
  if (ms < MINUTE_MS) {
    return `${ms < TWO_DIGITS * SECOND_MS ? (ms / SECOND_MS).toFixed(1) : Math.round(ms / SECOND_MS)} s`;
  }
  if (ms < HOUR_MS) {
    return twoUnits(ms, MINUTE_MS, "min", SECOND_MS, "s");
  }
  return ms < DAY_MS ? twoUnits(ms, HOUR_MS, "h", MINUTE_MS, "min") : twoUnits(ms, DAY_MS, "d", HOUR_MS, "h");
}

/** A countdown in whole seconds, such as `8 s`, `1:08`, `2:03:04`. */
export function countdownText(ms: number): string {
  const seconds = Math.ceil(ms / SECOND_MS);
  if (seconds < SECONDS_PER_MINUTE) {
    return `${seconds} s`;
  }
  const minutes = Math.floor(seconds / SECONDS_PER_MINUTE);
  const hours = Math.floor(minutes / SECONDS_PER_MINUTE);
  const twoDigits = (value: number): string => String(value % SECONDS_PER_MINUTE).padStart(2, "0");
  return hours === 0 ? `${minutes}:${twoDigits(seconds)}` : `${hours}:${twoDigits(minutes)}:${twoDigits(seconds)}`;
}

/** Milliseconds that are left of a time that was reported at `atMs`; never below 0. */
export function remainingMs(reportedMs: string, atMs: number, nowMs: number): number {
  return Math.max(0, Number(reportedMs) - Math.max(0, nowMs - atMs));
}

/** How long before `nowMs` something happened, such as `5 min ago`. */
export function agoText(atMs: number, nowMs: number): string {
  const passedMs = nowMs - atMs;
  return passedMs < SECOND_MS ? "just now" : `${durationText(passedMs).split(" ").slice(0, 2).join(" ")} ago`;
}

/** A point in time in UTC, such as `2026-05-04 07:08:09`. */
export function instantText(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace("T", " ");
}

function twoUnits(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const first = Math.floor(ms / large);
  const second = Math.floor((ms % large) / small);
  return second === 0 ? `${first} ${largeName}` : `${first} ${largeName} ${second} ${smallName}`;
}

function threeDigits(value: number): string {
  if (Number.isInteger(value) || value >= THREE_DIGITS) {
    return String(Math.round(value));
  }
  return value >= TWO_DIGITS ? value.toFixed(1) : value.toFixed(2);
}
