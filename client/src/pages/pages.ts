/** The pages of a listing. */

/** One page of a listing. */
interface Page {
  /** Where the next page begins; empty = this is the last page. */
  readonly nextPageToken: string;
}

/**
 * All pages from the first one on. Each is requested when it is needed.
 *
 * @param request requests the page that begins at a token.
 */
export async function* allPages<Of extends Page>(
  request: (pageToken: string) => Promise<Of>,
): AsyncGenerator<Of, void, void> {
  let pageToken = "";
  do {
    const page = await request(pageToken);
    yield page;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}
