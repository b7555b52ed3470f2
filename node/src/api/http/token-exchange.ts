/** POST /auth/token: an API key in, an access token out. */

import { type Request, type Response, Router } from "express";
import type { Access } from "../../access/index.ts";
import type { Clock } from "../../replica/index.ts";
import { HttpError } from "./http-error.ts";
import { optionalNumber, readJsonObject, requiredText } from "./json-body.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";

/** Far above any real body, which has about 100 bytes. */
const BODY_BYTES_MAX = 64 * 1024;
/** From the end of the body to the answer. */
const DEADLINE_MS = 10_000;

/**
 * The route of the token exchange. Answers 401 invalid_api_key alike for every key that gives no token, and 400 with
 * the field's name for a body that is not as it must be. Nothing that it answers may be stored by caches.
 */
export function tokenExchangeRoutes(access: Access, clock: Clock): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router
    .route("/auth/token")
    .post((request, response) => exchange(access, clock, request, response))
    .all(methodNotAllowed("POST"));
  return router;
}

async function exchange(access: Access, clock: Clock, request: Request, response: Response): Promise<void> {
  response.set("Cache-Control", "no-store");
  const body = await readJsonObject(request, BODY_BYTES_MAX);
  const apiKey = requiredText(body, "api_key");
  const expiresInSecs = optionalNumber(body, "expires_in_secs");
  const issued = await access.exchangeApiKey(apiKey, expiresInSecs, clock.monotonicMs() + DEADLINE_MS);
  if (issued === null) {
    throw new HttpError("invalid_api_key", "the API key is not valid");
  }
  response.json({ access_token: issued.accessToken, expires_in: issued.expiresInSecs, token_type: "Bearer" });
}
