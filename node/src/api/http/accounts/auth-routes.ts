/** POST /auth/login, /auth/verify and /auth/reset: for users with a password, who need no API key. */

import * as z from "zod";
import type { RateLimiters } from "../../../access/index.ts";
import type { LoggedIn, MailedTokenMethods, TokenMethods } from "../../methods/index.ts";
import { methodAnswer } from "../answers/index.ts";
import { jsonBody, type Route, route } from "../routing/index.ts";
import { loginBody } from "./account-bodies.ts";
import { UserSchema } from "./account-schemas.ts";

const LoginRequest = z.strictObject({
  email: z.string().describe("The e-mail address, in upper or lower case"),
  password: z.string(),
});

const LoginResponse = z.object({
  access_token: z.string().describe("A JWT"),
  expires_in: z.int().min(1).describe("Its lifetime in seconds"),
  token_type: z.literal("Bearer"),
  user: UserSchema.pick({ user_id: true, email: true, role: true, namespaces: true }),
});

const VerifyRequest = z.strictObject({
  token: z.string().describe("The token that was sent to the e-mail address"),
  password: z
    .string()
    .nullish()
    .describe("A new password of 8 to 1,024 bytes; required if none is set, or if it was forgotten"),
});

const VerifyResponse = z.object({ verified: z.literal(true) });

const ResetRequest = z.strictObject({
  email: z.string().meta({ format: "idn-email" }).describe("The e-mail address of the user, in upper or lower case"),
});

const ResetResponse = z.object({ requested: z.literal(true) });

export interface AuthRoutesOptions {
  readonly tokens: Pick<TokenMethods, "login">;
  readonly mailedTokens: Pick<MailedTokenMethods, "verifyEmail" | "requestPasswordReset">;
  readonly limiters: Pick<RateLimiters, "loginRequests">;
}

/** The routes of logins. Each client address has a limit for attempts. */
export function authRoutes(options: AuthRoutesOptions): readonly Route[] {
  return [loginRoute(options), verifyRoute(options), resetRoute(options)];
}

function loginRoute({ tokens, limiters: { loginRequests } }: AuthRoutesOptions): Route {
  return route({
    method: "POST",
    path: "/auth/login",
    operationId: "logIn",
    summary: "Exchange an e-mail address and a password for an access token",
    access: "none",
    body: jsonBody(LoginRequest),
    success: { status: 200, description: "An access token and its user", schema: LoginResponse },
    errors: ["invalid_credentials", "email_not_verified"],
    isSecret: true,
    isSafe: true,
    addressLimiter: loginRequests,
    limitsFailures: true,
    handle: async (call, { body }) => ({
      json: loginBody(await methodAnswer<LoggedIn>((reply) => tokens.login(call, body, reply))),
    }),
  });
}

function verifyRoute({ mailedTokens, limiters: { loginRequests } }: AuthRoutesOptions): Route {
  return route({
    method: "POST",
    path: "/auth/verify",
    operationId: "verifyEmail",
    summary: "Verify an e-mail address, or set a forgotten password, with the token that was sent to the address",
    access: "none",
    body: jsonBody(VerifyRequest),
    success: { status: 200, description: "The user is active and has the password", schema: VerifyResponse },
    isSecret: true,
    addressLimiter: loginRequests,
    limitsFailures: true,
    handle: async (call, { body }) => {
      const request = { token: body.token, password: body.password ?? null };
      await methodAnswer<null>((reply) => mailedTokens.verifyEmail(call, request, reply));
      return { json: { verified: true } };
    },
  });
}

function resetRoute({ mailedTokens, limiters: { loginRequests } }: AuthRoutesOptions): Route {
  return route({
    method: "POST",
    path: "/auth/reset",
    operationId: "requestPasswordReset",
    summary: "Send a mail with a token that replaces a forgotten password",
    access: "none",
    body: jsonBody(ResetRequest),
    success: { status: 200, description: "The same for every address, with a user or without", schema: ResetResponse },
    errors: ["not_served"],
    isSecret: true,
    isSafe: true,
    addressLimiter: loginRequests,
    limitsFailures: true,
    handle: async (call, { body: { email } }) => {
      await methodAnswer<null>((reply) => mailedTokens.requestPasswordReset(call, email, reply));
      return { json: { requested: true } };
    },
  });
}
