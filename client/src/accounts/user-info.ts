/** Users as the SDK describes them. */

import { enumName, type User, UserRole as UserRoleNumber, UserStatus } from "@quoin/proto";
import { QuoinError } from "../errors/index.ts";

/** The rights of a user; each role includes those before it. */
export type UserRole = "viewer" | "member" | "admin" | "owner";

/** A user. */
export interface UserInfo {
  readonly userId: string;
  readonly email: string;
  /** A decimal number if this client is too old to know the role. */
  readonly role: UserRole | (string & {});
  /** The namespaces of the user; `*` = all. */
  readonly namespaces: readonly string[];
  /** Unverified until the user has confirmed the mail address; a decimal number if this client is too old to know it. */
  readonly status: "unverified" | "active" | "disabled" | (string & {});
  /** Unix time. */
  readonly createdAtMs: number;
}

/** @throws QuoinError INTERNAL if an answer has no user. */
export function userInfo(user: User | undefined): UserInfo {
  if (user === undefined) {
    throw new QuoinError({ code: "INTERNAL", message: "the answer has no user" });
  }
  return {
    userId: user.userId,
    email: user.email,
    role: enumName(UserRoleNumber, user.role).toLowerCase(),
    namespaces: user.namespaces,
    status: enumName(UserStatus, user.status).toLowerCase(),
    createdAtMs: Number(user.createdAtMs),
  };
}
