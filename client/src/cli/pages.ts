/** Listings of the HTTP interface, read to their end. */

import type { HttpClient } from "../index.ts";
import { type Answer, objectsIn } from "./account-answers.ts";

/** The largest page that the service gives. */
const pageEntries = 1_000;

/** All entries of a listing, of which each page has some in this field. */
export async function readPages(
  client: HttpClient,
  path: string,
  query: Readonly<Record<string, string>>,
  field: string,
): Promise<readonly Answer[]> {
  const entries: Answer[] = [];
  let cursor: unknown = "";
  while (typeof cursor === "string") {
    const parameters = new URLSearchParams({ ...query, limit: String(pageEntries) });
    if (cursor !== "") parameters.set("cursor", cursor);
    const page = await client.ask("GET", `${path}?${parameters}`);
    entries.push(...objectsIn(page, field));
    cursor = page.next_cursor;
  }
  return entries;
}
