/**
 * Users: their rights, and in which namespaces. Users may see themselves. Administrators can manage users whose role
 * and namespaces they have; other users look absent.
 */

import { serviceDefinitions, UserRole as UserRoleNumber, UserStatus } from "@quoin/proto";
import { type CallOptions, execute, type OperationContext, unaryMethod } from "../calls/index.ts";
import {
  callRules,
  callRulesWithoutRequestId,
  listOf,
  oneOf,
  optionsCheck,
  positiveField,
  type Rules,
  record,
  text,
  textField,
  whole32,
} from "../options/index.ts";
import { allPages } from "../pages/index.ts";
import { type UserInfo, type UserRole, userInfo } from "./user-info.ts";

const service = serviceDefinitions.AccountService;
const createUserMethod = unaryMethod(service.createUser);
const getUserMethod = unaryMethod(service.getUser);
const listUsersMethod = unaryMethod(service.listUsers);
const updateUserMethod = unaryMethod(service.updateUser);
const deleteUserMethod = unaryMethod(service.deleteUser);

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
export interface ListUsersOptions extends Omit<CallOptions, "requestId"> {
  /** Users per page, 1 to 1,000. Default 100. */
  readonly pageSize?: number | undefined;
}

const ROLES = {
  viewer: UserRoleNumber.VIEWER,
  member: UserRoleNumber.MEMBER,
  admin: UserRoleNumber.ADMIN,
  owner: UserRoleNumber.OWNER,
} as const;
const STATUSES = { active: UserStatus.ACTIVE, disabled: UserStatus.DISABLED } as const;

const checkCall = optionsCheck<CallOptions>(callRules);
const checkPages = optionsCheck<ListUsersOptions>({ ...callRulesWithoutRequestId, pageSize: whole32 });
const newUserFields: Rules<NewUser> = {
  role: oneOf("viewer", "member", "admin", "owner"),
  namespaces: listOf(text),
  password: text,
};
const newUser = record<NewUser>(newUserFields, ["role", "namespaces"]);
const userChanges = record<UserChanges>(
  { ...newUserFields, status: oneOf("active", "disabled"), currentPassword: text },
  [],
);

/** Users. */
export class UserClient {
  readonly #context: OperationContext;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  /**
   * Creates a user, who gets a mail to verify the address, and to set a password if none is given.
   *
   * @throws QuoinError ALREADY_EXISTS / USER_EXISTS; PERMISSION_DENIED for a role or a namespace that the caller
   * does not have.
   */
  async create(email: string, user: NewUser, options: CallOptions = {}): Promise<UserInfo> {
    newUser(user, "user");
    checkCall(options, "users.create");
    const { role, namespaces, password } = user;
    const request = { email: textField("email", email), role: ROLES[role], namespaces: [...namespaces], password };
    return userInfo((await execute(this.#context, createUserMethod, request, options)).message.user);
  }

  /** @throws QuoinError NOT_FOUND / USER_NOT_FOUND. */
  async get(userId: string, options: CallOptions = {}): Promise<UserInfo> {
    checkCall(options, "users.get");
    const request = { userId: textField("userId", userId) };
    return userInfo((await execute(this.#context, getUserMethod, request, options)).message.user);
  }

  /** The visible users, page by page; the next page is requested when it is needed. */
  async *pages(options: ListUsersOptions = {}): AsyncGenerator<readonly UserInfo[], void, undefined> {
    checkPages(options, "users.pages");
    const { pageSize, ...call } = options;
    const fields = { pageSize: positiveField("pageSize", pageSize) };
    const pages = allPages(async (pageToken) => {
      return (await execute(this.#context, listUsersMethod, { ...fields, pageToken }, call)).message;
    });
    for await (const { users } of pages) {
      yield users.map(userInfo);
    }
  }

  /**
   * Changes a user, or one's own password. A new password ends all tokens and streams of the user's logins at once, but
   * not those of API keys.
   *
   * @throws QuoinError NOT_FOUND / USER_NOT_FOUND; PERMISSION_DENIED for rights that the caller does not have;
   * FAILED_PRECONDITION / LAST_OWNER if no active owner would be left.
   */
  async update(userId: string, changes: UserChanges, options: CallOptions = {}): Promise<UserInfo> {
    userChanges(changes, "changes");
    checkCall(options, "users.update");
    const { role, namespaces, password, status, currentPassword } = changes;
    const request = {
      userId: textField("userId", userId),
      role: role === undefined ? UserRoleNumber.USER_ROLE_UNSPECIFIED : ROLES[role],
      namespaces: namespaces === undefined ? undefined : { names: [...namespaces] },
      password,
      status: status === undefined ? UserStatus.USER_STATUS_UNSPECIFIED : STATUSES[status],
      currentPassword,
    };
    return userInfo((await execute(this.#context, updateUserMethod, request, options)).message.user);
  }

  /**
   * Deletes a user, with all API keys and tokens of the user.
   *
   * @throws QuoinError like update.
   */
  async delete(userId: string, options: CallOptions = {}): Promise<void> {
    checkCall(options, "users.delete");
    await execute(this.#context, deleteUserMethod, { userId: textField("userId", userId) }, options);
  }
}
