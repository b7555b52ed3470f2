/**
 * Users: who may do what, and where. Users may see themselves. Administrators act on users whose role and namespaces they
 * hold; other users look as if they did not exist. Served over HTTP, by every member.
 */

import { getJson, sendJson } from "./http-json.ts";
import type { HttpCallOptions, HttpMembers } from "./http-members.ts";
import { textField } from "./request-field.ts";

/** What a user may do; each role includes those before it. */
export type UserRole = "viewer" | "member" | "admin" | "owner";

/** A user. */
export interface UserInfo {
  readonly userId: string;
  readonly email: string;
  readonly role: UserRole;
  /** Where the user may do it; `*` stands for all. */
  readonly namespaces: readonly string[];
  /** Unverified until the user has answered a mail. */
  readonly status: "unverified" | "active" | "disabled";
  /** Unix time. */
  readonly createdAtMs: number;
}

/** What a new user is to be. */
export interface NewUser {
  readonly role: UserRole;
  readonly namespaces: readonly string[];
  /** 8 to 1,024 bytes. Undefined = the user sets one with the verification. */
  readonly password?: string | undefined;
}

/** What is to change of a user; what is undefined stays. */
export interface UserChanges extends Partial<NewUser> {
  /** Of a user who was verified. */
  readonly status?: "active" | "disabled" | undefined;
  /** The password that a new one replaces. Required to change one's own, which ends the tokens of one's logins. */
  readonly currentPassword?: string | undefined;
}

/** Options of pages. */
export interface ListUsersOptions extends HttpCallOptions {
  /** Users of a page, at most 1,000. Default 100. */
  readonly pageSize?: number | undefined;
}

interface WireUser {
  readonly user_id: string;
  readonly email: string;
  readonly role: UserInfo["role"];
  readonly namespaces: readonly string[];
  readonly status: UserInfo["status"];
  readonly created_at: string;
}

interface WireUsers {
  readonly users: readonly WireUser[];
  readonly next_cursor: string | null;
}

/** Users. */
export class UserClient {
  readonly #members: HttpMembers;

  constructor(members: HttpMembers) {
    this.#members = members;
  }

  /**
   * Makes a user, who is asked by mail to verify the address, and for a password if none is given.
   *
   * @throws QuoinError ALREADY_EXISTS / ALREADY_EXISTS; PERMISSION_DENIED for a role or a namespace that one does not hold.
   */
  async create(
    email: string,
    { role, namespaces, password }: NewUser,
    options: HttpCallOptions = {},
  ): Promise<UserInfo> {
    const value = { email: textField("email", email), role, namespaces, password };
    return infoOf(await this.#send({ method: "POST", path: "/users", value, isRepeatable: false }, options));
  }

  /** @throws QuoinError NOT_FOUND / USER_NOT_FOUND. */
  async get(userId: string, options: HttpCallOptions = {}): Promise<UserInfo> {
    return infoOf(await getJson(this.#members, pathOf(userId), options));
  }

  /** The users that one may see, page by page; the next page is requested when it is needed. */
  async *pages({
    pageSize = 100,
    ...options
  }: ListUsersOptions = {}): AsyncGenerator<readonly UserInfo[], void, undefined> {
    const query = new URLSearchParams({ limit: String(pageSize) });
    for (let cursor: string | null = ""; cursor !== null; ) {
      if (cursor !== "") query.set("cursor", cursor);
      const page: WireUsers = await getJson(this.#members, `/users?${query}`, options);
      yield page.users.map(infoOf);
      cursor = page.next_cursor;
    }
  }

  /**
   * Changes a user, or one's own password. A new password ends all tokens and streams of the user's logins at once, but not
   * those of API keys.
   *
   * @throws QuoinError NOT_FOUND / USER_NOT_FOUND; PERMISSION_DENIED for what one does not hold; FAILED_PRECONDITION /
   *   LAST_OWNER when nobody would be an active owner any more.
   */
  async update(userId: string, changes: UserChanges, options: HttpCallOptions = {}): Promise<UserInfo> {
    const { role, namespaces, password, status, currentPassword } = changes;
    const value = { role, namespaces, password, status, current_password: currentPassword };
    // The user is the same however often it is set. Only a password that was replaced cannot be shown again.
    const isRepeatable = currentPassword === undefined;
    return infoOf(await this.#send({ method: "PATCH", path: pathOf(userId), value, isRepeatable }, options));
  }

  /**
   * Deletes a user, with all API keys and tokens of the user.
   *
   * @throws QuoinError as update.
   */
  async delete(userId: string, options: HttpCallOptions = {}): Promise<void> {
    await this.#send({ method: "DELETE", path: pathOf(userId), isRepeatable: false }, options);
  }

  #send(request: Parameters<typeof sendJson>[1], options: HttpCallOptions): Promise<WireUser> {
    return sendJson(this.#members, request, options);
  }
}

function pathOf(userId: string): string {
  return `/users/${encodeURIComponent(textField("userId", userId))}`;
}

function infoOf(user: WireUser): UserInfo {
  return {
    userId: user.user_id,
    email: user.email,
    role: user.role,
    namespaces: user.namespaces,
    status: user.status,
    createdAtMs: Date.parse(user.created_at),
  };
}
