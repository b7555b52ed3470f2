/**
 * The web console at /console, to which / leads. It is an ordinary client of the routes beside it: it needs no route
 * and no right of its own. Its page loads nothing from elsewhere, and runs no script and uses no style that is written
 * into the page.
 *
 * All addresses are relative, so the console works behind a proxy that serves the member below a path.
 */

import { type Request, type Response, Router } from "express";
import { ASKED_CACHING, HttpError, sendFile } from "../answers/index.ts";
import type { ConsoleFiles } from "./console-files.ts";

/** Trusted types make the browser refuse markup from text, such as a value of a key that contains a script. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");
const HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};
/** The name of an asset contains a digest of its content. */
const ASSET_CACHING = "public, max-age=31536000, immutable";
const METHODS = "GET, HEAD";
/**
 * Where people arrive, and where they want to be. The addresses in the page are relative to a directory, and so are
 * these, for the sake of proxies.
 */
const REDIRECTIONS = [
  ["/", "console/", 302],
  ["/console", "console/", 308],
  ["/docs/", "../docs", 308],
] as const;
const NOT_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Quoin</title>
<h1>The console is not built on this member</h1>
<p>In a checkout, run <code>npm run console</code>, then load this page again. Images and packages contain the console.</p>
</html>
`;

/** Returns the routes of the console, for GET and HEAD. */
export function consoleRouter(files: ConsoleFiles): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const page = router.route("/console/");
  page.get((request, response) => sendPage(files, request, response));
  const asset = router.route("/console/assets/:name");
  asset.get(async (request, response) => {
    const file = await files.asset(String(request.params.name));
    if (file === undefined) {
      throw new HttpError("not_found", "the console has no such file; load its page again");
    }
    sendFile(request, response.set(HEADERS), file, ASSET_CACHING);
  });
  const redirections = REDIRECTIONS.map(([from, Location, status]) =>
    router
      .route(from)
      .get(
        (_request, response) => void response.status(status).set({ Location, "Cache-Control": ASKED_CACHING }).end(),
      ),
  );
  for (const place of [page, asset, ...redirections]) {
    place.all((request: Request) => {
      const message = `${request.method} is not a method of the console: use ${METHODS}`;
      throw new HttpError("method_not_allowed", message, [["Allow", METHODS]]);
    });
  }
  return router;
}

async function sendPage(files: ConsoleFiles, request: Request, response: Response): Promise<void> {
  const build = await files.latest();
  if (build === null) {
    response.status(404).set("Cache-Control", "no-store").type("html").send(NOT_BUILT);
  } else {
    sendFile(request, response.set(HEADERS), build.index, ASKED_CACHING);
  }
}
