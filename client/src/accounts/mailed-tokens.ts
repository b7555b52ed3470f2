/** What a user does with a token that was mailed: it verifies the address, or replaces a forgotten password. */

import { serviceDefinitions } from "@quoin/proto";
import { execute, unaryMethod } from "../calls/index.ts";
import { optionsCheck, text, textField } from "../options/index.ts";
import { ATTEMPTS_MAX, type Runtime, systemRuntime } from "../transport/index.ts";
import { type ExchangeTarget, targetRules, withPool } from "./exchange-target.ts";

const service = serviceDefinitions.AccountService;
const verifyMethod = unaryMethod(service.verifyEmail);
const resetMethod = unaryMethod(service.requestPasswordReset);

/** A mailed token, and where to use it. */
export interface VerifyEmailRequest extends ExchangeTarget {
  readonly token: string;
  /** 8 to 1,024 bytes; required if the user has none, or has forgotten it. Undefined = it stays as it is. */
  readonly password?: string | undefined;
}

/** A user who has forgotten the password, and where to say so. */
export interface PasswordResetRequest extends ExchangeTarget {
  readonly email: string;
}

/** A password is hashed before the answer, which is slow by design. */
const TIMEOUT_MS = 10_000;

const checkVerify = optionsCheck<VerifyEmailRequest>({ ...targetRules, token: text, password: text }, [
  "token",
  "endpoints",
]);
const checkReset = optionsCheck<PasswordResetRequest>({ ...targetRules, email: text }, ["email", "endpoints"]);

/**
 * Verifies the address of a user, or replaces a forgotten password. Only attempts that reach no member are repeated,
 * because a token works once.
 *
 * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for a token that was never sent, is used or has expired, and for a bad
 * or missing password; UNAVAILABLE or DEADLINE_EXCEEDED if no member could decide, or if its answer was lost.
 */
export async function verifyEmail(request: VerifyEmailRequest, runtime: Runtime = systemRuntime): Promise<void> {
  checkVerify(request, "verifyEmail");
  const fields = { token: textField("token", request.token), password: request.password };
  await withPool(request, request.timeoutMs ?? TIMEOUT_MS, runtime, (context) =>
    execute(context, verifyMethod, fields, {}, { maxAttempts: 1 }),
  );
}

/**
 * Has a token mailed to the address, if it belongs to an active user. The answer is the same for every address.
 *
 * @throws QuoinError UNIMPLEMENTED / NOT_SERVED if the members send no mail; INVALID_ARGUMENT / BAD_FIELD for what is no
 * address; UNAVAILABLE or DEADLINE_EXCEEDED if no member could decide.
 */
export async function requestPasswordReset(
  request: PasswordResetRequest,
  runtime: Runtime = systemRuntime,
): Promise<void> {
  checkReset(request, "requestPasswordReset");
  await withPool(request, request.timeoutMs ?? TIMEOUT_MS, runtime, (context) =>
    execute(context, resetMethod, { email: textField("email", request.email) }, {}, { maxAttempts: ATTEMPTS_MAX }),
  );
}
