/**
 * Users. Administrators see and change users whose role and namespaces they have; any other user seems not to exist
 * (S43). Users see their own record. A new user gets a mail with a request to verify the address. Apply decides what a
 * user may do to another user, from the records at that point of the log.
 */

import { randomUUID } from "node:crypto";
import { ReadConsistency, type UserBody, type UsersBody } from "@quoin/proto";
import {
  createVerificationToken,
  hashPassword,
  type Listing,
  type PasswordHashing,
  type ReadArea,
  requireEmail,
  requirePassword,
  signPageToken,
  VERIFICATION_LIFETIME_MS,
  verifyPageToken,
} from "../../access/index.ts";
import {
  type DeleteUserResult,
  listUsers,
  managedUsers,
  mayManage,
  type RequiredAccess,
  readUser,
  type User,
  userNotFound,
} from "../../state/index.ts";
import { accountIdField, namespacesField, roleField, statusField } from "./account-field-rules.ts";
import { userBody } from "./account-messages.ts";
import type { Call, Reply } from "./call.ts";
import type { Executor } from "./executor.ts";
import { badField, limitField } from "./field-rules.ts";

/** Needed for everything except one's own record. Apply and the reads decide for which users it is enough. */
const NEED: RequiredAccess = { access: "admin", namespace: null };
const LISTING: Listing = { of: "users", namespace: "", prefix: new Uint8Array(0) };
const { LINEARIZABLE } = ReadConsistency;

export interface CreateUserRequest {
  readonly email: string;
  /** Null = the user sets one with the verification. */
  readonly password: string | null;
  readonly role: string;
  readonly namespaces: readonly string[];
}

/** A field that is null stays as it is. */
export interface UpdateUserRequest {
  /** Must be null: it cannot be changed. */
  readonly email: string | null;
  readonly password: string | null;
  /** The present password; needed to change one's own password. */
  readonly currentPassword: string | null;
  readonly role: string | null;
  readonly namespaces: readonly string[] | null;
  readonly status: string | null;
}

export interface ListUsersRequest {
  readonly limit: number | null;
  /** "" = the first page. */
  readonly cursor: string;
}

export interface DeleteUserBody {
  readonly user_id: string;
  readonly deleted: true;
}

/** Sends the token of a verification to the address of a user, and never fails. */
export interface VerificationSender {
  sendVerification(userId: string, email: string, token: string): void;
}

/** Checks that a user knows their password. */
export interface PasswordConfirmation {
  /** Returns the version of the password. Throws BAD_FIELD if the password is wrong. */
  confirmPassword(userId: string, password: string, deadlineMs: number): Promise<number>;
}

export class UserMethods {
  readonly #executor: Executor;
  readonly #mail: VerificationSender;
  readonly #passwords: PasswordConfirmation;
  readonly #hashing: PasswordHashing;

  constructor(executor: Executor, mail: VerificationSender, passwords: PasswordConfirmation, hashing: PasswordHashing) {
    this.#executor = executor;
    this.#mail = mail;
    this.#passwords = passwords;
    this.#hashing = hashing;
  }

  createUser(call: Call, request: CreateUserRequest, reply: Reply<UserBody>): void {
    const { email, password } = request;
    const userId = randomUUID();
    const { token, sha256: tokenSha256 } = createVerificationToken(userId);
    const operation = async () => {
      requireEmail(email, "email");
      const role = roleField(request.role);
      const namespaces = namespacesField(request.namespaces);
      const passwordHash = await this.#optionalHash(call, password);
      const verification = { tokenSha256, tokenLifetimeMs: VERIFICATION_LIFETIME_MS };
      return { kind: "create-user", userId, email, role, namespaces, passwordHash, ...verification } as const;
    };
    this.#executor.submit(
      call,
      NEED,
      operation,
      ({ user }) => {
        this.#mail.sendVerification(userId, email, token);
        return userBody(user);
      },
      reply,
    );
  }

  getUser(call: Call, userId: string, reply: Reply<UserBody>): void {
    this.#read(call, userId, userBody, reply, "other");
  }

  /** Replies with the refusal unless the caller may see the user. Called before other checks of a request. */
  requireUser(call: Call, userId: string, reply: Reply<null>): void {
    this.#read(call, userId, () => null, reply, null);
  }

  #read<Response>(
    call: Call,
    userId: string,
    response: (user: User) => Response,
    reply: Reply<Response>,
    area: ReadArea | null,
  ): void {
    const query = () => ({ consistency: LINEARIZABLE, userId: accountIdField("user_id", userId) });
    this.#executor.read(
      call,
      isSelf(call, userId) ? null : NEED,
      query,
      ({ state }, asked) => {
        const user = readUser(state, asked.userId);
        if (user === undefined || !managedUsers(state, call.principal.subject)(asked.userId)) {
          throw userNotFound();
        }
        return response(user);
      },
      reply,
      area,
    );
  }

  listUsers(call: Call, { limit, cursor }: ListUsersRequest, reply: Reply<UsersBody>): void {
    this.#executor.read(
      call,
      NEED,
      (state) => {
        const after = cursor === "" ? null : verifyPageToken(state, LISTING, cursor, "cursor");
        return { consistency: LINEARIZABLE, limit: limitField(limit), after };
      },
      ({ state }, asked) => {
        const actor = readUser(state, call.principal.subject);
        const isVisible = (user: User) => actor !== undefined && mayManage(actor, user);
        const { items, lastRow } = listUsers(state, asked.after, asked.limit, isVisible);
        const next = lastRow === null ? null : signPageToken(state, LISTING, lastRow);
        return { users: items.map(userBody), next_cursor: next };
      },
      reply,
    );
  }

  /**
   * Users of any role may change their own password, and nothing else of their record, if they know the present one. A
   * new password revokes the tokens of the user's logins, including the caller's.
   */
  updateUser(call: Call, userId: string, request: UpdateUserRequest, reply: Reply<UserBody>): void {
    const isOwn = isSelf(call, userId);
    const isPasswordAlone = [request.role, request.namespaces, request.status].every((change) => change === null);
    const operation = async () => {
      if (request.email !== null) {
        throw badField("email", "cannot be changed: delete the user and create another one");
      }
      const fields = {
        userId: accountIdField("user_id", userId),
        role: request.role === null ? null : roleField(request.role),
        namespaces: request.namespaces === null ? null : namespacesField(request.namespaces),
        status: request.status === null ? null : statusField(request.status),
      };
      const { password } = request;
      if (password !== null) {
        requirePassword(password, "password");
      }
      const isConfirmed = isOwn && password !== null;
      const knownPasswordVersion = isConfirmed ? await this.#confirmed(call, request.currentPassword) : null;
      const passwordHash = password === null ? null : await this.#optionalHash(call, password);
      return { kind: "update-user", ...fields, passwordHash, knownPasswordVersion } as const;
    };
    const need = isOwn && isPasswordAlone ? null : NEED;
    this.#executor.submit(call, need, operation, ({ user }) => userBody(user), reply);
  }

  async #confirmed({ principal, deadlineMs }: Call, currentPassword: string | null): Promise<number> {
    if (currentPassword === null) {
      throw badField("current_password", "is required to change your own password");
    }
    return this.#passwords.confirmPassword(principal.subject, currentPassword, deadlineMs);
  }

  /** Also deletes the user's API keys, and revokes all tokens. */
  deleteUser(call: Call, userId: string, reply: Reply<DeleteUserBody>): void {
    const operation = () => ({ kind: "delete-user", userId: accountIdField("user_id", userId) }) as const;
    const response = (result: DeleteUserResult): DeleteUserBody => ({ user_id: result.userId, deleted: true });
    this.#executor.submit(call, NEED, operation, response, reply);
  }

  /** The hash of a password for the record; "" for none. */
  async #optionalHash({ principal: { subject }, deadlineMs }: Call, password: string | null): Promise<string> {
    if (password === null) {
      return "";
    }
    requirePassword(password, "password");
    const order = { client: subject, account: subject, deadlineMs };
    return this.#hashing.run("familiar", order, (derive) => hashPassword(password, derive));
  }
}

/** Whether the id is the caller's own. */
function isSelf({ principal }: Call, userId: string): boolean {
  return userId.toLowerCase() === principal.subject;
}
