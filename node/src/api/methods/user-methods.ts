/**
 * Users: for administrators. A new user is asked by mail to verify the address; what nobody may do to another is decided
 * in apply, by the records as they are then.
 */

import { randomUUID } from "node:crypto";
import { ReadConsistency } from "@quoin/proto";
import {
  createVerificationToken,
  hashPassword,
  type Listing,
  openPageToken,
  type ReadArea,
  requireEmail,
  requirePassword,
  sealPageToken,
  VERIFICATION_LIFETIME_MS,
} from "../../access/index.ts";
import {
  CoordinationError,
  type DeleteUserResult,
  listUsers,
  type Need,
  readUser,
  type User,
} from "../../state/index.ts";
import { accountIdField, namespacesField, roleField, statusField } from "./account-field-rules.ts";
import { type UserMessage, userMessage } from "./account-messages.ts";
import type { Call, Reply } from "./call.ts";
import type { Executor } from "./executor.ts";
import { badField, limitField } from "./field-rules.ts";

/** In which namespaces, the rule decides that nobody gives what they do not hold. */
const NEED: Need = { access: "admin", namespace: null };
const LISTING: Listing = { of: "users", namespace: "", prefix: new Uint8Array(0) };
const { LINEARIZABLE } = ReadConsistency;

export interface CreateUserRequest {
  readonly email: string;
  /** Null = the user sets one with the verification. */
  readonly password: string | null;
  readonly role: string;
  readonly namespaces: readonly string[];
}

/** What is null stays as it is. */
export interface UpdateUserRequest {
  /** Must be null: it cannot be changed. */
  readonly email: string | null;
  readonly password: string | null;
  readonly role: string | null;
  readonly namespaces: readonly string[] | null;
  readonly status: string | null;
}

export interface ListUsersRequest {
  readonly limit: number | null;
  /** "" = the first page. */
  readonly cursor: string;
}

export interface ListUsersBody {
  readonly users: readonly UserMessage[];
  readonly next_cursor: string | null;
}

export interface DeleteUserBody {
  readonly user_id: string;
  readonly deleted: true;
}

/** Sends the token of a verification to the address of a user, and never fails. */
export interface VerificationSender {
  send(userId: string, email: string, token: string): void;
}

export class UserMethods {
  readonly #executor: Executor;
  readonly #mail: VerificationSender;

  constructor(executor: Executor, mail: VerificationSender) {
    this.#executor = executor;
    this.#mail = mail;
  }

  createUser(call: Call, request: CreateUserRequest, reply: Reply<UserMessage>): void {
    const { email, password } = request;
    const userId = randomUUID();
    const { token, sha256: tokenSha256 } = createVerificationToken(userId);
    const operation = async () => {
      requireEmail(email, "email");
      const role = roleField(request.role);
      const namespaces = namespacesField(request.namespaces);
      const passwordHash = await optionalHash(password);
      const verification = { tokenSha256, tokenLifetimeMs: VERIFICATION_LIFETIME_MS };
      return { kind: "create-user", userId, email, role, namespaces, passwordHash, ...verification } as const;
    };
    this.#executor.submit(
      call,
      NEED,
      operation,
      ({ user }) => {
        this.#mail.send(userId, email, token);
        return userMessage(user);
      },
      reply,
    );
  }

  getUser(call: Call, userId: string, reply: Reply<UserMessage>): void {
    this.#read(call, userId, userMessage, reply, "other");
  }

  /** Nothing, unless the caller may see users and there is such a one: before more of a request is looked at. */
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
      NEED,
      query,
      ({ state }, asked) => {
        const user = readUser(state, asked.userId);
        if (user === undefined) {
          throw new CoordinationError("USER_NOT_FOUND", "there is no user with this id");
        }
        return response(user);
      },
      reply,
      area,
    );
  }

  listUsers(call: Call, { limit, cursor }: ListUsersRequest, reply: Reply<ListUsersBody>): void {
    this.#executor.read(
      call,
      NEED,
      (state) => {
        const after = cursor === "" ? null : openPageToken(state, LISTING, cursor, "cursor");
        return { consistency: LINEARIZABLE, limit: limitField(limit), after };
      },
      ({ state }, asked) => {
        const { items, lastRow } = listUsers(state, asked.after, asked.limit);
        const next = lastRow === null ? null : sealPageToken(state, LISTING, lastRow);
        return { users: items.map(userMessage), next_cursor: next };
      },
      reply,
    );
  }

  updateUser(call: Call, userId: string, request: UpdateUserRequest, reply: Reply<UserMessage>): void {
    const operation = async () => {
      if (request.email !== null) {
        throw badField("email", "cannot be changed: delete the user and make another one");
      }
      const fields = {
        userId: accountIdField("user_id", userId),
        role: request.role === null ? null : roleField(request.role),
        namespaces: request.namespaces === null ? null : namespacesField(request.namespaces),
        status: request.status === null ? null : statusField(request.status),
      };
      const passwordHash = request.password === null ? null : await optionalHash(request.password);
      return { kind: "update-user", ...fields, passwordHash } as const;
    };
    this.#executor.submit(call, NEED, operation, ({ user }) => userMessage(user), reply);
  }

  /** The user's API keys go as well, and all of their tokens are revoked. */
  deleteUser(call: Call, userId: string, reply: Reply<DeleteUserBody>): void {
    const operation = () => ({ kind: "delete-user", userId: accountIdField("user_id", userId) }) as const;
    const response = (result: DeleteUserResult): DeleteUserBody => ({ user_id: result.userId, deleted: true });
    this.#executor.submit(call, NEED, operation, response, reply);
  }
}

/** What is stored of a password; "" for none. */
async function optionalHash(password: string | null): Promise<string> {
  if (password === null) {
    return "";
  }
  requirePassword(password, "password");
  return hashPassword(password);
}
