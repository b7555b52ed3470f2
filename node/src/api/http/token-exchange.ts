/** POST /auth/token: an API key in, an access token out. */

import { z } from "zod";
import { type Access, apiKeyPrefix } from "../../access/index.ts";
import { HttpError } from "./http-error.ts";
import type { HttpLimiters } from "./rate-limiting.ts";
import { jsonBody, type Route, route } from "./route.ts";

/** The largest int64, as JSON is read: 2^63 itself is the same number. */
const INT64_MAX = 2 ** 63;

/** Any int64 from 1: whole numbers are read without their last digits beyond 2^53, where all of them are cut off alike. */
const Lifetime = z
  .number()
  .refine(
    (secs) => Number.isInteger(secs) && secs >= 1 && secs <= INT64_MAX,
    "must be a whole number from 1 to 2^63 - 1",
  )
  .meta({
    ...{ type: "integer", format: "int64", minimum: 1 },
    description: "Lifetime that is asked for, in seconds; 3,600 by default, and 86,400 where more is asked for",
  });

const TokenRequest = z.object({
  api_key: z.string().describe("The API key in plain text"),
  expires_in_secs: Lifetime.nullish(),
});

const TokenResponse = z.object({
  access_token: z.string().describe("A JWT"),
  expires_in: z.int().min(1).describe("Its lifetime in seconds, never beyond that of the key"),
  token_type: z.literal("Bearer"),
});

/**
 * The route of the token exchange. Answers 401 invalid_api_key alike for every key that gives no token, and 400 with
 * the field's name for a body that is not as it must be. A client address that sent too many wrong keys with one prefix
 * is answered 429 for further wrong ones. A valid key is never refused for that, for others may share its address.
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
      const issued = await access.exchangeApiKey(body.api_key, body.expires_in_secs ?? null, call.deadlineMs);
      if (issued === null) {
        tokenFailures.take(`${call.client} ${apiKeyPrefix(body.api_key) ?? ""}`);
        throw new HttpError("invalid_api_key", "the API key is not valid");
      }
      return { json: { access_token: issued.accessToken, expires_in: issued.expiresInSecs, token_type: "Bearer" } };
    },
  });
}
