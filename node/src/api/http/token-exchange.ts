/** POST /auth/token: an API key in, an access token out. */

import { z } from "zod";
import type { Access } from "../../access/index.ts";
import { HttpError } from "./http-error.ts";
import type { HttpLimiters } from "./rate-limiting.ts";
import { jsonBody, type Route, route } from "./route.ts";

const TokenRequest = z.object({
  api_key: z.string().describe("The API key in plain text"),
  expires_in_secs: z.int().min(1).nullish().describe("Lifetime that is asked for; 3,600 by default, 86,400 at most"),
});

const TokenResponse = z.object({
  access_token: z.string().describe("A JWT"),
  expires_in: z.int().min(1).describe("Its lifetime in seconds, never beyond that of the key"),
  token_type: z.literal("Bearer"),
});

/**
 * The route of the token exchange. Answers 401 invalid_api_key alike for every key that gives no token, and 400 with
 * the field's name for a body that is not as it must be. An address that sent too many such keys is limited whatever it
 * sends, so that nobody can try them out.
 */
export function tokenExchangeRoute(
  access: Pick<Access, "exchangeApiKey">,
  { tokenRequests, tokenFailures }: Pick<HttpLimiters, "tokenRequests" | "tokenFailures">,
): Route {
  return route({
    method: "POST",
    path: "/auth/token",
    operationId: "exchangeApiKey",
    summary: "Exchange an API key for an access token",
    access: "none",
    body: jsonBody(TokenRequest),
    success: { status: 200, description: "An access token", schema: TokenResponse },
    errors: ["invalid_api_key"],
    isSecret: true,
    isSafe: true,
    addressLimiter: tokenRequests,
    handle: async (call, { body }) => {
      tokenFailures.check(call.client);
      const issued = await access.exchangeApiKey(body.api_key, body.expires_in_secs ?? null, call.deadlineMs);
      if (issued === null) {
        tokenFailures.charge(call.client);
        throw new HttpError("invalid_api_key", "the API key is not valid");
      }
      return { json: { access_token: issued.accessToken, expires_in: issued.expiresInSecs, token_type: "Bearer" } };
    },
  });
}
