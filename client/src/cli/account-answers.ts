/** Answers about accounts as tables show them. */

import { escapeControls } from "./displayed-text.ts";
import type { Result, TableContent } from "./output.ts";

/** A JSON object as the HTTP interface answers it. */
export type Answer = Readonly<Record<string, unknown>>;

/** A result of one or more objects, with these of their fields as columns. */
export function accountResult(document: Answer, rows: readonly Answer[], fields: readonly string[]): Result {
  return { document, shown: tableOf(rows, fields) };
}

/** The objects in a field of an answer. */
export function objectsIn(answer: Answer, field: string): readonly Answer[] {
  const value = answer[field];
  return Array.isArray(value) ? value : [];
}

function tableOf(rows: readonly Answer[], fields: readonly string[]): TableContent {
  return {
    columns: fields.map((field) => field.replaceAll("_", " ").toUpperCase()),
    rows: rows.map((row) => fields.map((field) => cellOf(row[field]))),
  };
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "-";
  return escapeControls(Array.isArray(value) ? value.join(",") : String(value));
}
