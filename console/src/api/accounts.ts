/** Sign-ins, users, API keys and usage: the routes of HTTP. */

import type * as Proto from "@quoin/proto";
import { claimsOf, type Role, type Session } from "../session/index.ts";
import type { CallOptions } from "./call.ts";
import { requestJson } from "./request.ts";

export type User = Proto.UserBody;
export type ApiKey = Proto.ApiKeyBody;
export type CreatedApiKey = Proto.CreatedApiKeyBody;
export type Usage = Proto.UsageBody;
export type UsageNumbers = Proto.UsageNumbersBody;
export type Quota = Proto.QuotaBody;

/** One page of a listing. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Empty = this is the last page. */
  readonly next: string;
}

const PAGE_ENTRIES = "100";

/** Exchanges an e-mail address and a password for a session. */
export async function logIn(email: string, password: string): Promise<Session> {
  const { access_token: token, user } = await requestJson<Proto.LoginBody>(
    "auth/login",
    { email, password },
    { method: "POST", isAnonymous: true },
  );
  return { token, user: sessionUser(user) };
}

/** Exchanges an API key for a session of its user. */
export async function exchangeApiKey(apiKey: string): Promise<Session> {
  const { access_token: token } = await requestJson<Pick<Proto.LoginBody, "access_token">>(
    "auth/token",
    { api_key: apiKey },
    { method: "POST", isAnonymous: true },
  );
  const headers = { Authorization: `Bearer ${token}` };
  const path = `users/${encodeURIComponent(claimsOf(token).subject)}`;
  return { token, user: sessionUser(await requestJson<User>(path, undefined, { headers, isAnonymous: true })) };
}

/** Asks for a mail with a token that sets a new password. The answer is the same for an address without a user. */
export async function requestPasswordReset(email: string): Promise<void> {
  await requestJson("auth/reset", { email }, { method: "POST", isAnonymous: true });
}

/**
 * Verifies the e-mail address of a new user, or sets a forgotten password, with the token of a mail.
 *
 * @param password null = it stays as it is; required if the user has none or has forgotten it.
 */
export async function verifyEmail(token: string, password: string | null): Promise<void> {
  await requestJson("auth/verify", { token, password }, { method: "POST", isAnonymous: true });
}

export async function listUsers(cursor: string, options: CallOptions): Promise<Page<User>> {
  const query = new URLSearchParams({ limit: PAGE_ENTRIES, ...(cursor !== "" && { cursor }) });
  const page = await requestJson<Proto.UsersBody>(`users?${query}`, undefined, options);
  return { items: page.users, next: page.next_cursor ?? "" };
}

export interface NewUser {
  readonly email: string;
  /** Null: the user sets a password with the verification. */
  readonly password: string | null;
  readonly role: Role;
  readonly namespaces: readonly string[];
}

export async function createUser(user: NewUser): Promise<User> {
  return await requestJson("users", user, { method: "POST" });
}

export interface UserChanges {
  readonly role?: Role;
  readonly namespaces?: readonly string[];
  readonly status?: "active" | "disabled";
  readonly password?: string;
  readonly current_password?: string;
}

export async function updateUser(userId: string, changes: UserChanges): Promise<User> {
  return await requestJson(`users/${encodeURIComponent(userId)}`, changes, { method: "PATCH", isRepeatable: true });
}

export async function deleteUser(userId: string): Promise<void> {
  await requestJson(`users/${encodeURIComponent(userId)}`, undefined, { method: "DELETE" });
}

/** Whose API keys to list: one's own, those of all manageable users, or those of one user. */
export type KeyOwner = "own" | "all" | { readonly userId: string };

export async function listApiKeys(
  owner: KeyOwner,
  includeRevoked: boolean,
  cursor: string,
  options: CallOptions,
): Promise<Page<ApiKey>> {
  const query = new URLSearchParams({
    limit: PAGE_ENTRIES,
    ...(cursor !== "" && { cursor }),
    ...(includeRevoked && { include_revoked: "true" }),
    ...(owner === "all" && { all: "true" }),
    ...(typeof owner === "object" && { user_id: owner.userId }),
  });
  const page = await requestJson<Proto.ApiKeysBody>(`keys?${query}`, undefined, options);
  return { items: page.keys, next: page.next_cursor ?? "" };
}

export async function createApiKey(name: string, expiresInDays: number | null): Promise<CreatedApiKey> {
  return await requestJson("keys", { name, expires_in_days: expiresInDays }, { method: "POST" });
}

export async function revokeApiKey(apiKeyId: string): Promise<void> {
  await requestJson(`keys/${encodeURIComponent(apiKeyId)}`, undefined, { method: "DELETE", isRepeatable: true });
}

export async function getUsage(from: string | null, granularity: "hour" | "day", signal: AbortSignal): Promise<Usage> {
  const query = new URLSearchParams({ granularity, ...(from !== null && { from }) });
  return await requestJson(`billing/usage?${query}`, undefined, { signal });
}

function sessionUser({ user_id: userId, email, role, namespaces }: Proto.LoginBody["user"]): Session["user"] {
  return { userId, email, role, namespaces };
}
