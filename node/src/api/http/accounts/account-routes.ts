/** All routes about accounts: tokens, logins, API keys, users, usage, and the keys that verify tokens. */

import type { RateLimiters, ReplicatedState } from "../../../access/index.ts";
import type { AccountMethods } from "../../methods/index.ts";
import type { Route } from "../routing/index.ts";
import { authRoutes } from "./auth-routes.ts";
import { jwksRoute } from "./jwks-route.ts";
import { keyRoutes } from "./key-routes.ts";
import { tokenExchangeRoute } from "./token-exchange.ts";
import { usageRoute } from "./usage-routes.ts";
import { userRoutes } from "./user-routes.ts";

export function accountRoutes(
  { tokens, mailedTokens, users, apiKeys, usage }: AccountMethods,
  limiters: Pick<RateLimiters, "tokenRequests" | "loginRequests">,
  replicated: ReplicatedState,
): readonly Route[] {
  return [
    tokenExchangeRoute(tokens, limiters),
    ...authRoutes({ tokens, mailedTokens, limiters }),
    ...keyRoutes(apiKeys),
    ...userRoutes(users),
    usageRoute(usage),
    jwksRoute(replicated),
  ];
}
