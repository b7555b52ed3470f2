/** What an address shows that names no page, or a page that is not for the user. */

import type { JSX } from "preact";
import { PageHead } from "../page/index.ts";
import { formatRoute } from "../router/index.ts";
import type { SessionUser } from "../session/index.ts";
import { type MissingPageReason, pagesOf } from "./page-list.ts";

export interface MissingPageProps {
  readonly user: SessionUser;
  readonly reason: MissingPageReason;
}

export function MissingPage({ user, reason: { title, text } }: MissingPageProps): JSX.Element {
  return (
    <>
      <PageHead title={title} />
      <p>{text}</p>
      <h2>Your pages</h2>
      <ul class="page-links">
        {pagesOf(user).map((page) => (
          <li key={page.name}>
            <a href={formatRoute(page.name)}>{page.title}</a>
          </li>
        ))}
      </ul>
    </>
  );
}
