/** All routes about accounts: logins, API keys, users, usage, and the keys that verify tokens. */

import { Logins, type PasswordHashing, type RateLimits, type ReplicatedState } from "../../access/index.ts";
import type { Clock } from "../../replica/index.ts";
import {
  ApiKeyMethods,
  Executor,
  type HostMember,
  MailedTokenMethods,
  type PasswordResetSender,
  UsageMethods,
  UserMethods,
} from "../methods/index.ts";
import { authRoutes } from "./auth-routes.ts";
import { jwksRoute } from "./jwks-route.ts";
import { keyRoutes } from "./key-routes.ts";
import type { HttpLimiters } from "./rate-limiting.ts";
import type { Route } from "./route.ts";
import { usageRoute } from "./usage-routes.ts";
import { userRoutes } from "./user-routes.ts";

export interface AccountRoutesOptions {
  readonly member: Pick<HostMember, "replica">;
  readonly replicated: ReplicatedState;
  readonly clock: Clock;
  readonly hashing: PasswordHashing;
  /** The limits that are in force now. */
  readonly limits: Pick<RateLimits, "http">;
  readonly limiters: HttpLimiters;
  readonly mail: ConstructorParameters<typeof UserMethods>[1] & PasswordResetSender;
  /** Called for every read that was answered, for the usage counts. */
  readonly onRead?: ConstructorParameters<typeof Executor>[1];
}

export function accountRoutes(options: AccountRoutesOptions): readonly Route[] {
  const { member, replicated, clock, hashing, limits, limiters, mail, onRead } = options;
  const executor = new Executor(member, onRead);
  const logins = new Logins(replicated, clock, hashing);
  const mailedTokens = new MailedTokenMethods({ member, clock, hashing, mail });
  return [
    ...authRoutes({ logins, mailedTokens, limiters }),
    ...keyRoutes(new ApiKeyMethods(executor)),
    ...userRoutes(new UserMethods(executor, mail, logins, hashing), limiters),
    usageRoute(new UsageMethods(executor, clock, () => limits.http)),
    jwksRoute(replicated),
  ];
}
