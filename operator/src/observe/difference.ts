/**
 * Whether an object is as it was applied. What the API server and others have added to it does not count; amounts are the
 * same however they are written.
 */
import { createHash } from "node:crypto";
import { parseQuantity } from "../plan/index.ts";

/** @returns whether everything that is wanted is there */
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

/** Others add objects to lists, such as owners or containers; lists of anything else are one value. */
function coversList(live: readonly unknown[], wanted: readonly unknown[]): boolean {
  return wanted.every((item) => typeof item === "object" && item !== null)
    ? wanted.every((item) => live.some((candidate) => covers(candidate, item)))
    : live.length === wanted.length && wanted.every((item, at) => covers(live[at], item));
}

/** A digest of `sortedText`. */
export function digestOf(content: unknown): string {
  return createHash("sha256").update(sortedText(content)).digest("hex").slice(0, 32);
}

/** JSON that is the same for the same content, in whatever order its fields were written; of nothing, that of null. */
export function sortedText(content: unknown): string {
  return JSON.stringify(content ?? null, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** The API server leaves out what is empty. */
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
    typeof value === "string" || typeof value === "number" ? parseQuantity(String(value)) : undefined,
  );
  return a !== undefined && a === b;
}
