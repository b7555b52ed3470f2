/**
 * Access tokens for clients that have none yet: in exchange for an API key, or for an e-mail address and a password.
 *
 * Each client address has a limit for failed attempts: with one prefix of API keys, or on one account. Failures from one
 * address never cause a refusal for another address. A valid API key is never refused for that, because other clients may
 * share the address. Logins from many addresses wait for each other, because passwords are hashed one after the other.
 */

import {
  type Access,
  accountName,
  apiKeyPrefix,
  type IssuedToken,
  type LoginOutcome,
  type Logins,
  type RateLimiter,
} from "../../access/index.ts";
import { CoordinationError, type User } from "../../state/index.ts";
import { type OpenCall, type Reply, replyWith } from "./call.ts";

export interface TokenMethodsOptions {
  readonly access: Pick<Access, "exchangeApiKey">;
  readonly logins: Pick<Logins, "login">;
  /** Failed attempts, which all ports of the member share. */
  readonly tokenFailures: RateLimiter;
  readonly loginFailures: RateLimiter;
}

/** A token, and whose it is. */
export interface LoggedIn {
  readonly issued: IssuedToken;
  readonly user: User;
}

export class TokenMethods {
  readonly #options: TokenMethodsOptions;

  constructor(options: TokenMethodsOptions) {
    this.#options = options;
  }

  /**
   * Replies with INVALID_API_KEY for every key that gives no token, and with BAD_FIELD unless `expiresInSecs` is a whole
   * number from 1, or null for the default.
   */
  exchangeToken(
    call: OpenCall,
    { apiKey, expiresInSecs }: { readonly apiKey: string; readonly expiresInSecs: number | null },
    reply: Reply<IssuedToken>,
  ): void {
    const { access, tokenFailures } = this.#options;
    const exchange = async (): Promise<IssuedToken> => {
      const issued = await access.exchangeApiKey(apiKey, expiresInSecs, call.deadlineMs);
      if (issued === null) {
        tokenFailures.take(`${call.client} ${apiKeyPrefix(apiKey) ?? ""}`);
        throw new CoordinationError("INVALID_API_KEY", "the API key is not valid");
      }
      return issued;
    };
    replyWith(reply, exchange());
  }

  /** Replies with INVALID_CREDENTIALS and EMAIL_NOT_VERIFIED. */
  login(
    call: OpenCall,
    { email, password }: { readonly email: string; readonly password: string },
    reply: Reply<LoggedIn>,
  ): void {
    const { logins, loginFailures } = this.#options;
    const { client, deadlineMs } = call;
    const account = accountName(email);
    const order = { client, account, deadlineMs, onGone: (listener: () => void) => call.onGone(listener) };
    const login = async (): Promise<LoggedIn> => {
      const attempt = () => logins.login(email, password, order);
      const outcome = await limitFailures(loginFailures, `${client} ${account}`, attempt);
      switch (outcome.kind) {
        case "accepted":
          return outcome;
        case "email-not-verified":
          throw new CoordinationError("EMAIL_NOT_VERIFIED", "the e-mail address is not verified yet");
        case "invalid-credentials":
          throw new CoordinationError("INVALID_CREDENTIALS", "the e-mail address or the password is wrong");
      }
    };
    replyWith(reply, login());
  }
}

/**
 * Throws RATE_LIMITED if too many attempts have failed under this name. Each attempt is counted before it is made, so
 * that parallel attempts get no more than sequential ones. Attempts that do not fail, or whose outcome is unknown, are
 * given back.
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
      limiter.refund(name);
    }
  }
}
