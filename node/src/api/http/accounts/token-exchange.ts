/** POST /auth/token: exchanges an API key for an access token. */

import * as z from "zod";
import type { IssuedToken, RateLimiters } from "../../../access/index.ts";
import type { TokenMethods } from "../../methods/index.ts";
import { methodAnswer } from "../answers/index.ts";
import { jsonBody, type Route, route } from "../routing/index.ts";

/** The largest int64 as a JavaScript number, which is the same number as 2^63. */
const INT64_MAX = 2 ** 63;

/** Any int64 from 1. Above 2^53 the last digits are lost, which does not matter: all such values mean the maximum. */
const Lifetime = z
  .number()
  .refine(
    (secs) => Number.isInteger(secs) && secs >= 1 && secs <= INT64_MAX,
    "must be a whole number from 1 to 2^63 - 1",
  )
  .meta({
    type: "integer",
    format: "int64",
    minimum: 1,
    description: "Requested lifetime in seconds; 3,600 by default. A greater value than 86,400 means 86,400",
  });

const TokenRequest = z.strictObject({
  api_key: z.string().describe("The API key in plain text"),
  expires_in_secs: Lifetime.nullish(),
});

const TokenResponse = z.object({
  access_token: z.string().describe("A JWT"),
  expires_in: z.int().min(1).describe("Its lifetime in seconds, never longer than the key's"),
  token_type: z.literal("Bearer"),
});

/**
 * The route of the token exchange. It answers the same 401 invalid_api_key for every key that gives no token, and 400
 * with the field's name for a bad body. A client address that has sent too many wrong keys with one prefix gets 429 for
 * further wrong keys.
 */
export function tokenExchangeRoute(
  tokens: Pick<TokenMethods, "exchangeToken">,
  { tokenRequests }: Pick<RateLimiters, "tokenRequests">,
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
    limitsFailures: true,
    handle: async (call, { body }) => {
      const request = { apiKey: body.api_key, expiresInSecs: body.expires_in_secs ?? null };
      const { accessToken, expiresInSecs } = await methodAnswer<IssuedToken>((reply) => {
        tokens.exchangeToken(call, request, reply);
      });
      return { json: { access_token: accessToken, expires_in: expiresInSecs, token_type: "Bearer" } };
    },
  });
}
