/** POST /auth/login and POST /auth/verify: what a person does who has a password, and no API key yet. */

import { z } from "zod";
import { accountName, type LoginOutcome, type Logins, type RateLimiter } from "../../access/index.ts";
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
 * The routes of logins. A client address is limited in how often it tries, and in how often it tries one account in vain.
 * Failures from one address never refuse a login from another one; those from many addresses wait for each other, because
 * passwords are hashed one after the other.
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
    handle: async (call, { body: { email, password } }) => {
      const { client, deadlineMs } = call;
      const account = accountName(email);
      const order = { client, account, deadlineMs, onGone: (listener: () => void) => call.onGone(listener) };
      const attempt = () => logins.login(email, password, order);
      const outcome = await limitFailures(loginFailures, `${client} ${account}`, attempt);
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
