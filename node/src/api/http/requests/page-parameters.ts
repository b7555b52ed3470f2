/** The query parameters of listings: the size of a page, and its cursor. */

import { integer, optional, type Parameter, required } from "./parameters.ts";

const LIMIT_MAX = 1_000;
const LIMIT_DEFAULT = 100;

/** 0 = the default. */
export const limit: Parameter<number> = optional(
  integer(`Maximum number of entries in a page; ${LIMIT_DEFAULT} by default`, 1, LIMIT_MAX),
  0,
);

export const cursor: Parameter<string> = optional(
  required("Where the page begins: next_cursor of the previous page", { type: "string" }, (text) => text),
  "",
);

/** The cursor of the next page in an answer; null if this is the last page. */
export function cursorBody(nextPageToken: string): string | null {
  return nextPageToken === "" ? null : nextPageToken;
}
