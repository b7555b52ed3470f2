/**
 * Compares an object with what was applied. Fields that the API server and others have added do not count, and
 * quantities are equal if their amounts are.
 */
import { createHash } from "node:crypto";
import { amountOf } from "../quantity/index.ts";

/** @returns whether the object has all wanted fields */
export function covers(live: unknown, wanted: unknown): boolean {
  if (isEmpty(wanted)) {
    return true;
  }
  if (Array.isArray(wanted)) {
    return Array.isArray(live) && coversList(live, wanted);
  }
  if (typeof wanted === "object") {
    const fields = (typeof live === "object" && live !== null ? live : {}) as Record<string, unknown>;
    return Object.entries(wanted as object).every(([name, value]) => covers(fields[name], value));
  }
  return live === wanted || isSameAmount(live, wanted);
}

/** Others may add objects to lists, such as owners or containers. Lists of anything else must be equal. */
function coversList(live: readonly unknown[], wanted: readonly unknown[]): boolean {
  return wanted.every((item) => typeof item === "object" && item !== null)
    ? wanted.every((item) => live.some((candidate) => covers(candidate, item)))
    : live.length === wanted.length && wanted.every((item, at) => covers(live[at], item));
}

/** Digest of `sortedText`. */
export function digestOf(content: unknown): string {
  return createHash("sha256").update(sortedText(content)).digest("hex").slice(0, 32);
}

/** JSON with sorted fields, so that equal content gives equal text; for undefined, that of null. */
export function sortedText(content: unknown): string {
  return JSON.stringify(content ?? null, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** The API server omits empty fields. */
function isEmpty(wanted: unknown): boolean {
  return (
    wanted === undefined ||
    wanted === null ||
    wanted === "" ||
    (typeof wanted === "object" && Object.keys(wanted).length === 0)
  );
}

function isSameAmount(live: unknown, wanted: unknown): boolean {
  const [a, b] = [live, wanted].map((value) =>
    typeof value === "string" || typeof value === "number" ? amountOf(String(value)) : undefined,
  );
  return a !== undefined && a === b;
}
