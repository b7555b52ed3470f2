/**
 * Users: their rights, and in which namespaces. Users may see themselves. Administrators can manage users whose role
 * and namespaces they have; other users look absent. Every member serves them over HTTP.
 */

import type { UserBody, UsersBody } from "@quoin/proto";
import { getJson, type HttpCallOptions, type HttpMembers, sendJson } from "../calls/index.ts";
import {
  httpCallRules,
  listOf,
  oneOf,
  optionsCheck,
  type Rules,
  record,
  text,
  textField,
  whole,
} from "../options/index.ts";

/** The rights of a user; each role includes those before it. */
export type UserRole = "viewer" | "member" | "admin" | "owner";

/** A user. */
export interface UserInfo {
  readonly userId: string;
  readonly email: string;
  readonly role: UserRole;
  /** The namespaces of the user; `*` = all. */
  readonly namespaces: readonly string[];
  /** Unverified until the user has confirmed the mail address. */
  readonly status: "unverified" | "active" | "disabled";
  /** Unix time. */
  readonly createdAtMs: number;
}

/** The fields of a new user. */
export interface NewUser {
  readonly role: UserRole;
  readonly namespaces: readonly string[];
  /** 8 to 1,024 bytes. Undefined = the user sets one with the verification. */
  readonly password?: string | undefined;
}

/** The changes of a user; undefined fields stay. */
export interface UserChanges extends Partial<NewUser> {
  /** Only for a verified user. */
  readonly status?: "active" | "disabled" | undefined;
  /** The password that a new one replaces. Required to change one's own, which ends the tokens of one's logins. */
  readonly currentPassword?: string | undefined;
}

/** Options of pages. */
export interface ListUsersOptions extends HttpCallOptions {
  /** Users per page, at most 1,000. Default 100. */
  readonly pageSize?: number | undefined;
}

const role = oneOf("viewer", "member", "admin", "owner");
const checkCall = optionsCheck<HttpCallOptions>(httpCallRules);
const checkPages = optionsCheck<ListUsersOptions>({ ...httpCallRules, pageSize: whole });
const newUserFields: Rules<NewUser> = { role, namespaces: listOf(text), password: text };
const newUser = record<NewUser>(newUserFields, ["role", "namespaces"]);
const userChanges = record<UserChanges>(
  { ...newUserFields, status: oneOf("active", "disabled"), currentPassword: text },
  [],
);

/** Users. */
export class UserClient {
  readonly #members: HttpMembers;

  constructor(members: HttpMembers) {
    this.#members = members;
  }

  /**
   * Creates a user, who gets a mail to verify the address, and to set a password if none is given.
   *
   * @throws QuoinError ALREADY_EXISTS / USER_EXISTS; PERMISSION_DENIED for a role or a namespace that the caller
   * does not have.
   */
  async create(email: string, user: NewUser, options: HttpCallOptions = {}): Promise<UserInfo> {
    newUser(user, "user");
    checkCall(options, "users.create");
    const { role, namespaces, password } = user;
    const value = { email: textField("email", email), role, namespaces, password };
    return infoOf(await this.#send({ method: "POST", path: "/users", value, isRepeatable: false }, options));
  }

  /** @throws QuoinError NOT_FOUND / USER_NOT_FOUND. */
  async get(userId: string, options: HttpCallOptions = {}): Promise<UserInfo> {
    checkCall(options, "users.get");
    return infoOf(await getJson(this.#members, pathOf(userId), options));
  }

  /** The visible users, page by page; the next page is requested when it is needed. */
  async *pages(options: ListUsersOptions = {}): AsyncGenerator<readonly UserInfo[], void, undefined> {
    checkPages(options, "users.pages");
    const { pageSize = 100, ...call } = options;
    const query = new URLSearchParams({ limit: String(pageSize) });
    for (let cursor: string | null = ""; cursor !== null; ) {
      if (cursor !== "") {
        query.set("cursor", cursor);
      }
      const page: UsersBody = await getJson(this.#members, `/users?${query}`, call);
      yield page.users.map(infoOf);
      cursor = page.next_cursor;
    }
  }

  /**
   * Changes a user, or one's own password. A new password ends all tokens and streams of the user's logins at once, but
   * not those of API keys.
   *
   * @throws QuoinError NOT_FOUND / USER_NOT_FOUND; PERMISSION_DENIED for rights that the caller does not have;
   * FAILED_PRECONDITION / LAST_OWNER if no active owner would be left.
   */
  async update(userId: string, changes: UserChanges, options: HttpCallOptions = {}): Promise<UserInfo> {
    userChanges(changes, "changes");
    checkCall(options, "users.update");
    const { role, namespaces, password, status, currentPassword } = changes;
    const value = { role, namespaces, password, status, current_password: currentPassword };
    // A repeated change gives the same user. Only a replaced password cannot be proven a second time.
    const isRepeatable = currentPassword === undefined;
    return infoOf(await this.#send({ method: "PATCH", path: pathOf(userId), value, isRepeatable }, options));
  }

  /**
   * Deletes a user, with all API keys and tokens of the user.
   *
   * @throws QuoinError like update.
   */
  async delete(userId: string, options: HttpCallOptions = {}): Promise<void> {
    checkCall(options, "users.delete");
    await this.#send({ method: "DELETE", path: pathOf(userId), isRepeatable: false }, options);
  }

  #send(request: Parameters<typeof sendJson>[1], options: HttpCallOptions): Promise<UserBody> {
    return sendJson(this.#members, request, options);
  }
}

function pathOf(userId: string): string {
  return `/users/${encodeURIComponent(textField("userId", userId))}`;
}

function infoOf(user: UserBody): UserInfo {
  return {
    userId: user.user_id,
    email: user.email,
    role: user.role,
    namespaces: user.namespaces,
    status: user.status,
    createdAtMs: Date.parse(user.created_at),
  };
}
