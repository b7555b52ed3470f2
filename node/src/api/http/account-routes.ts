/** All routes about accounts: logins, API keys, users, and the keys that verify tokens. */

import { Logins, type ReplicatedState } from "../../access/index.ts";
import type { Clock } from "../../replica/index.ts";
import { ApiKeyMethods, Executor, type HostMember, UserMethods, VerifyMethod } from "../methods/index.ts";
import { authRoutes } from "./auth-routes.ts";
import { jwksRoute } from "./jwks-route.ts";
import { keyRoutes } from "./key-routes.ts";
import type { HttpLimiters } from "./rate-limiting.ts";
import type { Route } from "./route.ts";
import { userRoutes } from "./user-routes.ts";

export interface AccountRoutesOptions {
  readonly member: Pick<HostMember, "replica">;
  readonly replicated: ReplicatedState;
  readonly clock: Clock;
  readonly limiters: HttpLimiters;
  /** Sends the mails that ask for a verification. */
  readonly mail: ConstructorParameters<typeof UserMethods>[1];
}

export function accountRoutes({ member, replicated, clock, limiters, mail }: AccountRoutesOptions): readonly Route[] {
  const executor = new Executor(member);
  const logins = new Logins(replicated, clock);
  const verification = new VerifyMethod(member, clock);
  return [
    ...authRoutes({ logins, verification, limiters }),
    ...keyRoutes(new ApiKeyMethods(executor)),
    ...userRoutes(new UserMethods(executor, mail)),
    jwksRoute(replicated),
  ];
}
