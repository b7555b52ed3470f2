/** The query parameters of listings: the size of a page, and its cursor. */

import { integer, optional, type Parameter, required } from "./parameters.ts";

const LIMIT_MAX = 1_000;
const LIMIT_DEFAULT = 100;

export const limit: Parameter<number | null> = optional(
  integer(`Maximum number of entries in a page; ${LIMIT_DEFAULT} by default`, 1, LIMIT_MAX),
  null,
);

export const cursor: Parameter<string> = optional(
  required("Where the page begins: next_cursor of the previous page", { type: "string" }, (text) => text),
  "",
);
