/** POST /auth/login and POST /auth/verify: what a person does who has a password, and no API key yet. */

import { createHash } from "node:crypto";
import { z } from "zod";
import type { LoginOutcome, Logins, RateLimiter } from "../../access/index.ts";
import { addressInAnyCase } from "../../state/index.ts";
import { loginBody, type VerifyMethod } from "../methods/index.ts";
import { UserSchema } from "./account-schemas.ts";
import { HttpError } from "./http-error.ts";
import type { HttpLimiters } from "./rate-limiting.ts";
import { jsonBody, type Route, route } from "./route.ts";

const LoginRequest = z.object({
  email: z.string().describe("The e-mail address, in whatever case"),
  password: z.string(),
});

const LoginResponse = z.object({
  access_token: z.string().describe("A JWT"),
  expires_in: z.int().min(1).describe("Its lifetime in seconds"),
  token_type: z.literal("Bearer"),
  user: UserSchema.pick({ user_id: true, email: true, role: true, namespaces: true }),
});

const VerifyRequest = z.object({
  token: z.string().describe("What was sent to the e-mail address"),
  password: z.string().nullish().describe("A new password of 8 to 1,024 bytes; required where none is set"),
});

const VerifyResponse = z.object({ verified: z.literal(true) });

export interface AuthRoutesOptions {
  readonly logins: Pick<Logins, "login">;
  readonly verification: Pick<VerifyMethod, "verify">;
  readonly limiters: Pick<HttpLimiters, "loginRequests" | "loginFailures">;
}

/**
 * The routes of logins. An address of the network is limited in how often it tries, and an e-mail address in how often
 * somebody tries in vain, wherever they are, so that nobody can try passwords out.
 */
export function authRoutes(options: AuthRoutesOptions): readonly Route[] {
  return [loginRoute(options), verifyRoute(options)];
}

function loginRoute({ logins, limiters: { loginRequests, loginFailures } }: AuthRoutesOptions): Route {
  return route({
    method: "POST",
    path: "/auth/login",
    operationId: "logIn",
    summary: "Exchange an e-mail address and a password for an access token",
    access: "none",
    body: jsonBody(LoginRequest),
    success: { status: 200, description: "An access token, and whose it is", schema: LoginResponse },
    errors: ["invalid_credentials", "email_not_verified"],
    isSecret: true,
    isSafe: true,
    addressLimiter: loginRequests,
    handle: async ({ deadlineMs }, { body: { email, password } }) => {
      const name = limitedName(email);
      const outcome = await limitFailures(loginFailures, name, () => logins.login(email, password, deadlineMs));
      switch (outcome.kind) {
        case "accepted":
          return { json: loginBody(outcome.issued, outcome.user) };
        case "email-not-verified":
          throw new HttpError("email_not_verified", "the e-mail address is not verified yet");
        case "invalid-credentials":
          throw new HttpError("invalid_credentials", "the e-mail address or the password is not right");
      }
    },
  });
}

function verifyRoute({ verification, limiters: { loginRequests } }: AuthRoutesOptions): Route {
  return route({
    method: "POST",
    path: "/auth/verify",
    operationId: "verifyEmail",
    summary: "Verify an e-mail address with the token that was sent there",
    access: "none",
    body: jsonBody(VerifyRequest),
    success: { status: 200, description: "The user is active", schema: VerifyResponse },
    isSecret: true,
    addressLimiter: loginRequests,
    handle: async (call, { body }) => {
      const request = { token: body.token, password: body.password ?? null };
      return { json: await verification.verify(request, call.deadlineMs) };
    },
  });
}

/**
 * Raises RATE_LIMITED where too many have failed under this name. Each attempt is counted before it is made, so that
 * many at once are no more than one after the other; those that do not fail, or of which nobody knows, are given back.
 */
async function limitFailures(
  limiter: RateLimiter,
  name: string,
  attempt: () => Promise<LoginOutcome>,
): Promise<LoginOutcome> {
  limiter.take(name);
  let hasFailed = false;
  try {
    const outcome = await attempt();
    hasFailed = outcome.kind !== "accepted";
    return outcome;
  } finally {
    if (!hasFailed) {
      limiter.giveBack(name);
    }
  }
}

/** Of one length, whatever was sent: an address is found in any case, and the limiter keeps many of them. */
function limitedName(email: string): string {
  return createHash("sha256").update(addressInAnyCase(email)).digest("base64url");
}
