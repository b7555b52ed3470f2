/** Lists keys with the SDK as an application would, and records every page. */

import type { RecordedPage } from "../../verify/history/index.ts";
import type { LoadClient } from "./load-client.ts";

const NAMESPACE = "default";

/** What to list, and which client does it. */
export interface Listing {
  readonly client: string;
  readonly prefix: string;
  /** Largest number of keys in a page, from 1. */
  readonly sizeMax: number;
}

/** All pages of the keys with a prefix, each when it was answered. Rejects with a QuoinError if one is not. */
export async function* listedPages(
  { keyValue }: Pick<LoadClient, "keyValue">,
  listing: Listing,
): AsyncGenerator<RecordedPage, void, void> {
  const { prefix, sizeMax } = listing;
  let after: string | null = null;
  let startMs = performance.now();
  for await (const page of keyValue.pages(NAMESPACE, { prefix, pageSize: sizeMax })) {
    const endMs = performance.now();
    const items = page.items.map(({ key, value, createRevision, modRevision, version }) => {
      return { key, value: Buffer.from(value).toString(), createRevision, modRevision, version };
    });
    const hasMore = page.nextPageToken !== "";
    yield { ...listing, startMs, endMs, after, items, hasMore, revision: page.revision };
    after = items.at(-1)?.key ?? after;
    startMs = performance.now();
  }
}
