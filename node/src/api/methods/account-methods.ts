/** All methods about accounts, which every port of a member shares. */

import {
  type Access,
  Logins,
  type PasswordHashing,
  type RateLimiters,
  type RateLimits,
  type ReplicatedState,
} from "../../access/index.ts";
import type { Clock } from "../../replica/index.ts";
import { ApiKeyMethods } from "./api-key-methods.ts";
import type { Executor } from "./executor.ts";
import type { HostMember } from "./host.ts";
import { MailedTokenMethods, type PasswordResetSender } from "./mailed-token-methods.ts";
import { TokenMethods } from "./token-methods.ts";
import { UsageMethods } from "./usage-methods.ts";
import { UserMethods, type VerificationSender } from "./user-methods.ts";

export interface AccountMethodsOptions {
  readonly member: Pick<HostMember, "replica">;
  readonly replicated: ReplicatedState;
  readonly access: Pick<Access, "exchangeApiKey">;
  readonly executor: Executor;
  readonly clock: Clock;
  readonly hashing: PasswordHashing;
  /** The limits that are in force now. */
  readonly limits: Pick<RateLimits, "http">;
  readonly limiters: Pick<RateLimiters, "tokenFailures" | "loginFailures">;
  readonly mail: VerificationSender & PasswordResetSender;
}

export interface AccountMethods {
  readonly tokens: TokenMethods;
  readonly mailedTokens: MailedTokenMethods;
  readonly users: UserMethods;
  readonly apiKeys: ApiKeyMethods;
  readonly usage: UsageMethods;
}

export function accountMethods(options: AccountMethodsOptions): AccountMethods {
  const { member, replicated, access, executor, clock, hashing, limits, limiters, mail } = options;
  const { tokenFailures, loginFailures } = limiters;
  const logins = new Logins(replicated, clock, hashing);
  return {
    tokens: new TokenMethods({ access, logins, tokenFailures, loginFailures }),
    mailedTokens: new MailedTokenMethods({ member, clock, hashing, mail }),
    users: new UserMethods({ member, executor, mail, passwords: logins, hashing, guesses: loginFailures }),
    apiKeys: new ApiKeyMethods(executor),
    usage: new UsageMethods(executor, clock, () => limits.http),
  };
}
