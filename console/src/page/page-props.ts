/** What every page gets. */

import type { Route } from "../router/index.ts";
import type { SessionUser } from "../session/index.ts";

export interface PageProps {
  readonly user: SessionUser;
  readonly route: Route;
}
