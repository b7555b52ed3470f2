/** The query of listings: how many entries a page has, and where it begins. */

import { integer, optional, type Parameter, required } from "./parameters.ts";

const LIMIT_MAX = 1_000;
const LIMIT_DEFAULT = 100;

export const limit: Parameter<number | null> = optional(
  integer(`Entries of a page; ${LIMIT_DEFAULT} by default`, 1, LIMIT_MAX),
  null,
);

export const cursor: Parameter<string> = optional(
  required("Where the page begins: next_cursor of the page before", { type: "string" }, (text) => text),
  "",
);
