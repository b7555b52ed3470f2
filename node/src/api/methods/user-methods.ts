/**
 * Users. Administrators see and change users whose role and namespaces they have; any other user seems not to exist
 * (S43). Users see their own record. A new user gets a mail with a request to verify the address. Apply decides what a
 * user may do to another user, from the records at that point of the log.
 */

import { randomUUID } from "node:crypto";
import { ReadConsistency } from "@quoin/proto";
import {
  hashForRecord,
  isAwaited,
  type Listing,
  type PasswordHashing,
  type RateLimiter,
  type ReadArea,
  requireEmail,
  saltOf,
  signPageToken,
  VERIFICATION_LIFETIME_MS,
  type VerificationToken,
  verificationSecret,
  verificationToken,
  verifyPageToken,
} from "../../access/index.ts";
import {
  badRequestField,
  CoordinationError,
  createUserOperation,
  type DeleteUserResult,
  deleteUserOperation,
  listUsers,
  managedUsers,
  mayManage,
  type OperationOf,
  type RequiredAccess,
  readUser,
  type StateReader,
  type User,
  type UserResult,
  updateUserOperation,
  userNotFound,
} from "../../state/index.ts";
import { accountIdField, namespacesField, roleField, statusField } from "./account-field-rules.ts";
import { attempt } from "./attempt.ts";
import type { Call, Reply } from "./call.ts";
import { type Executor, withVisibleReplay } from "./executor.ts";
import { pageSizeField } from "./field-rules.ts";
import type { HostReplica } from "./host.ts";

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

type UpdateUser = OperationOf<typeof updateUserOperation>;

/** A field that is null stays as it is. */
export interface UpdateUserRequest {
  readonly password: string | null;
  /** The present password; needed to change one's own password. */
  readonly currentPassword: string | null;
  readonly role: string | null;
  readonly namespaces: readonly string[] | null;
  readonly status: string | null;
}

export interface ListUsersRequest {
  /** 0 = the default. */
  readonly pageSize: number;
  /** "" = the first page. */
  readonly pageToken: string;
}

/** A user, true at a revision. */
export type DescribedUser = Pick<UserResult, "user" | "revision">;

/** A page of users, true at a revision. */
export interface ListedUsers {
  readonly users: readonly User[];
  /** "" = this is the last page. */
  readonly nextPageToken: string;
  readonly revision: number;
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

export interface UserMethodsOptions {
  readonly member: { readonly replica: Pick<HostReplica, "state"> | null };
  readonly executor: Executor;
  readonly mail: VerificationSender;
  readonly passwords: PasswordConfirmation;
  readonly hashing: PasswordHashing;
  /** Limits how often a user may give their own password wrong, on all ports of the member together. */
  readonly guesses: RateLimiter;
}

export class UserMethods {
  readonly #member: UserMethodsOptions["member"];
  readonly #executor: Executor;
  readonly #mail: VerificationSender;
  readonly #passwords: PasswordConfirmation;
  readonly #hashing: PasswordHashing;
  readonly #guesses: RateLimiter;

  constructor({ member, executor, mail, passwords, hashing, guesses }: UserMethodsOptions) {
    this.#member = member;
    this.#executor = executor;
    this.#mail = mail;
    this.#passwords = passwords;
    this.#hashing = hashing;
    this.#guesses = guesses;
  }

  createUser(call: Call, request: CreateUserRequest, reply: Reply<DescribedUser>): void {
    const { email, password } = request;
    const userId = randomUUID();
    let secret: Uint8Array = new Uint8Array(0);
    const operation = async (state: StateReader) => {
      requireEmail(email, "email");
      const role = roleField(request.role);
      const namespaces = namespacesField(request.namespaces);
      secret = verificationSecret(state, call.principal.subject, call.hasRequestId ? call.requestId() : null);
      const passwordHash = await this.#optionalHash(call, password);
      const { sha256: tokenSha256 } = verificationToken(userId, secret);
      const verification = { tokenSha256, tokenLifetimeMs: VERIFICATION_LIFETIME_MS };
      return { kind: "create-user", userId, email, role, namespaces, passwordHash, ...verification } as const;
    };
    this.#executor.submit(
      call,
      createUserOperation,
      NEED,
      operation,
      (result) => result,
      this.#visible(call, (answer, replayed) => {
        if (!(answer instanceof Error)) {
          const verification = verificationToken(answer.user.userId, secret);
          // Each attempt that gets an answer sends it: the member of the first one may not have learnt the outcome.
          if (replayed === "no" || this.#isAwaited(answer.user.userId, verification)) {
            this.#mail.sendVerification(answer.user.userId, email, verification.token);
          }
        }
        reply(answer, replayed);
      }),
    );
  }

  #isAwaited(userId: string, verification: VerificationToken): boolean {
    const { replica } = this.#member;
    return replica !== null && isAwaited(replica.state, userId, verification);
  }

  getUser(call: Call, userId: string, reply: Reply<DescribedUser>): void {
    this.#read(call, userId, (user, revision) => ({ user, revision }), reply, "other");
  }

  /** Replies with the refusal unless the caller may see the user. Called before other checks of a request. */
  requireUser(call: Call, userId: string, reply: Reply<null>): void {
    this.#read(call, userId, () => null, reply, null);
  }

  #read<Response>(
    call: Call,
    userId: string,
    response: (user: User, revision: number) => Response,
    reply: Reply<Response>,
    area: ReadArea | null,
  ): void {
    const query = () => ({ consistency: LINEARIZABLE, userId: accountIdField("user_id", userId) });
    this.#executor.read(
      call,
      isSelf(call, userId) ? null : NEED,
      query,
      ({ state, revision }, asked) => {
        const user = readUser(state, asked.userId);
        if (user === undefined || !managedUsers(state, call.principal.subject)(asked.userId)) {
          throw userNotFound();
        }
        return response(user, revision);
      },
      reply,
      area,
    );
  }

  listUsers(call: Call, { pageSize, pageToken }: ListUsersRequest, reply: Reply<ListedUsers>): void {
    this.#executor.read(
      call,
      NEED,
      (state) => {
        const after = pageToken === "" ? null : verifyPageToken(state, LISTING, pageToken);
        return { consistency: LINEARIZABLE, limit: pageSizeField(pageSize), after };
      },
      ({ state, revision }, asked) => {
        const actor = readUser(state, call.principal.subject);
        const isVisible = (user: User) => actor !== undefined && mayManage(actor, user);
        const { items, lastRow } = listUsers(state, asked.after, asked.limit, isVisible);
        return {
          users: items,
          nextPageToken: lastRow === null ? "" : signPageToken(state, LISTING, lastRow),
          revision,
        };
      },
      reply,
    );
  }

  /**
   * Users of any role may change their own password, and nothing else of their record, if they know the present one. A
   * new password revokes the tokens of the user's logins, including the caller's.
   *
   * A user who has given their own password wrong too often gets RATE_LIMITED, so that the holder of a stolen token
   * cannot find the password by guessing. Attempts with any other outcome do not count.
   */
  updateUser(call: Call, userId: string, request: UpdateUserRequest, reply: Reply<DescribedUser>): void {
    if (request.password === null || !isSelf(call, userId)) {
      this.#update(call, userId, request, reply);
      return;
    }
    const { subject } = call.principal;
    const limited = attempt(() => this.#guesses.take(subject));
    if (limited instanceof Error) {
      reply(limited, "no");
      return;
    }
    this.#update(call, userId, request, (answer, replayed) => {
      if (!isWrongPassword(answer)) {
        this.#guesses.refund(subject);
      }
      reply(answer, replayed);
    });
  }

  #update(call: Call, userId: string, request: UpdateUserRequest, reply: Reply<DescribedUser>): void {
    const isOwn = isSelf(call, userId);
    const isPasswordAlone = [request.role, request.namespaces, request.status].every((change) => change === null);
    let hashed: UpdateUser | null = null;
    const operation = async (): Promise<UpdateUser> => {
      const fields = {
        userId: accountIdField("user_id", userId),
        role: request.role === null ? null : roleField(request.role),
        namespaces: request.namespaces === null ? null : namespacesField(request.namespaces),
        status: request.status === null ? null : statusField(request.status),
      };
      const { password } = request;
      const passwordHash = password === null ? null : await this.#optionalHash(call, password);
      hashed = { kind: "update-user", ...fields, passwordHash, knownPasswordVersion: null };
      const isConfirmed = isOwn && password !== null;
      const knownPasswordVersion = isConfirmed ? await this.#confirmed(call, request.currentPassword) : null;
      return { ...hashed, knownPasswordVersion };
    };
    const checked = this.#visible(call, reply);
    const need = isOwn && isPasswordAlone ? null : NEED;
    this.#executor.submit(
      call,
      updateUserOperation,
      need,
      operation,
      (result) => result,
      (answer, replayed) => {
        const made = hashed;
        if (made !== null && isWrongPassword(answer)) {
          // An earlier attempt may have replaced the password that it was sent with. The state is that of the check.
          this.#executor.replay(
            call,
            updateUserOperation,
            () => made,
            answer,
            (result) => result,
            checked,
          );
        } else {
          checked(answer, replayed);
        }
      },
    );
  }

  /** Replies with the stored answer to a retry only if the caller may manage the user in it now. */
  #visible(call: Call, reply: Reply<DescribedUser>): Reply<DescribedUser> {
    return withVisibleReplay(reply, ({ user }) => {
      const { replica } = this.#member;
      const actor = replica === null ? undefined : readUser(replica.state, call.principal.subject);
      if (actor === undefined || (actor.userId !== user.userId && !mayManage(actor, user))) {
        throw userNotFound();
      }
    });
  }

  async #confirmed({ principal, deadlineMs }: Call, currentPassword: string | null): Promise<number> {
    if (currentPassword === null) {
      throw badRequestField("current_password", "is required to change your own password");
    }
    return this.#passwords.confirmPassword(principal.subject, currentPassword, deadlineMs);
  }

  /** Also deletes the user's API keys, and revokes all tokens. */
  deleteUser(call: Call, userId: string, reply: Reply<DeleteUserResult>): void {
    const operation = () => ({ kind: "delete-user", userId: accountIdField("user_id", userId) }) as const;
    this.#executor.submit(call, deleteUserOperation, NEED, operation, (result) => result, reply);
  }

  /**
   * The hash of a password for the record; "" for none. A retry makes the same hash, by which it is recognised, so that no
   * faster hash of a password is ever stored.
   */
  #optionalHash(call: Call, password: string | null): Promise<string> {
    const { subject } = call.principal;
    const salt = call.hasRequestId ? saltOf(subject, call.requestId()) : undefined;
    return hashForRecord(this.#hashing, password, subject, call.deadlineMs, salt);
  }
}

function isWrongPassword(answer: unknown): answer is CoordinationError {
  return answer instanceof CoordinationError && answer.details.get("field") === "current_password";
}

/** Whether the id is the caller's own. */
function isSelf({ principal }: Call, userId: string): boolean {
  return userId.toLowerCase() === principal.subject;
}
