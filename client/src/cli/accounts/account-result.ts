/** Users, API keys and usage as the commands print them: the objects of the SDK, field by field. */

import type { Cell, Result } from "../output/index.ts";
import { snakeCase } from "../text/index.ts";

/** The names of times, which are Unix times in milliseconds. */
const TIME_NAME = /Ms$/;

/**
 * A result of one or more objects of the SDK, with these fields as columns.
 *
 * @param document the objects, and other data for programs, whose names become those of HTTP.
 */
export function accountResult<Row extends object>(
  document: object,
  rows: readonly Row[],
  fields: readonly (keyof Row & string)[],
): Result {
  return {
    document: Object.fromEntries(Object.entries(document).map(entryOf)),
    shown: {
      columns: fields.map((field) => snakeCase(field.replace(TIME_NAME, "")).replaceAll("_", " ").toUpperCase()),
      rows: rows.map((row) => fields.map((field) => cellOf(field, row[field]))),
    },
  };
}

/** As over HTTP: a time is a text, and an absent value is null. */
function entryOf([name, value]: readonly [string, unknown]): [string, unknown] {
  if (TIME_NAME.test(name) && typeof value === "number") {
    return [snakeCase(name.replace(TIME_NAME, "")), new Date(value).toISOString()];
  }
  return [snakeCase(value === undefined ? name.replace(TIME_NAME, "") : name), plainOf(value)];
}

function plainOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(plainOf);
  }
  if (typeof value !== "object" || value === null) {
    return value ?? null;
  }
  return Object.fromEntries(Object.entries(value).map(entryOf));
}

function cellOf(field: string, value: unknown): Cell {
  if (typeof value === "number" && TIME_NAME.test(field)) {
    return new Date(value);
  }
  return Array.isArray(value) ? value.join(",") : (value as Cell);
}
