/**
 * Users: how they are created, changed and deleted, and the limits on what one user may do to another.
 *
 * A user can only manage users whose role and namespaces they have themselves; any other user looks absent. A user can
 * only give roles and namespaces that they have. There is always an active user of the role owner. Apply decides all of
 * this, by the records at the entry.
 *
 * Users of any role can change their own password if they know the current one: a stolen token is not enough. A new
 * password revokes the tokens of all earlier logins of the user.
 */

import { equalBytes } from "../../bytes/index.ts";
import { invariant } from "../../primitives/index.ts";
import {
  type ApplyContext,
  badField,
  CoordinationError,
  clusterOperation,
  count,
  fixedBytes,
  hasRulesOf,
  listOf,
  nullable,
  nullInstead,
  operationWithOptionalId,
  optionalCount,
  type Principal,
  RecordReader,
  RecordWriter,
  type StateReader,
  text,
  type User,
  userRow,
  verificationRow,
} from "../core/index.ts";
import {
  type CreateUser,
  type DeleteUser,
  type DeleteUserResult,
  newStatus,
  role,
  type UpdateUser,
  type UserResult,
  type VerifyUser,
} from "./account-commands.ts";
import {
  apiKeysOf,
  countUsers,
  countUsersOf,
  hasOtherActiveOwner,
  includesNamespace,
  includesRole,
  isVerified,
  mayManage,
  readClaimants,
  readUser,
  readUserByEmail,
  removeApiKey,
  removeUser,
  SHA256_BYTES,
  userInAnswer,
  VERSION_WITH_SHARES,
  writeUser,
} from "./principals.ts";

/** An open verification, by which a user proves that mail to the address reaches them. */
export interface Verification {
  readonly tokenSha256: Uint8Array;
  /** Wall clock in milliseconds. */
  readonly expiresAtMs: number;
}

/** The most users of a cluster. */
const USERS_MAX = 100_000;
const OWNER_NAMESPACES: readonly string[] = ["*"];

/** The open verification of the user; it may have expired. Undefined if there is none. */
export function readVerification(reader: StateReader, userId: string): Verification | undefined {
  const bytes = reader.get(verificationRow(userId));
  if (bytes === undefined) {
    return undefined;
  }
  const fields = new RecordReader(bytes);
  const verification = { tokenSha256: fields.fixed(SHA256_BYTES), expiresAtMs: fields.uint53() };
  fields.end();
  return verification;
}

const ADMINISTRATION = { access: "admin", namespace: null } as const;

export const createUserOperation = operationWithOptionalId<CreateUser, UserResult>({
  kind: "create-user",
  number: 62,
  grows: true,
  fields: {
    userId: text,
    email: text,
    role,
    namespaces: listOf(text),
    passwordHash: text,
    tokenSha256: fixedBytes(SHA256_BYTES),
    tokenLifetimeMs: count,
  },
  accesses: () => [ADMINISTRATION],
  asked: (operation) => ({
    ...operation,
    userId: "",
    tokenSha256: new Uint8Array(SHA256_BYTES),
  }),
  answer: { number: 65, fields: { user: userInAnswer } },
  apply: applyCreateUser,
});

export const updateUserOperation = operationWithOptionalId<UpdateUser, UserResult>({
  kind: "update-user",
  number: 63,
  fields: {
    userId: text,
    role: nullable(role),
    namespaces: nullable(listOf(text)),
    status: nullable(newStatus),
    passwordHash: nullable(text),
    knownPasswordVersion: nullInstead(optionalCount),
  },
  accesses: (operation, principal) => [isOwnPassword(principal, operation) ? null : ADMINISTRATION],
  asked: (operation) => ({ ...operation, knownPasswordVersion: null }),
  answer: { number: 66, fields: { user: userInAnswer } },
  apply: applyUpdateUser,
});

export const deleteUserOperation = operationWithOptionalId<DeleteUser, DeleteUserResult>({
  kind: "delete-user",
  number: 64,
  fields: { userId: text },
  accesses: () => [ADMINISTRATION],
  answer: { number: 67, fields: { userId: text } },
  apply: applyDeleteUser,
});

export const verifyUserOperation = clusterOperation<VerifyUser, UserResult>({
  kind: "verify-user",
  number: 65,
  fields: { userId: text, tokenSha256: fixedBytes(SHA256_BYTES), passwordHash: text },
  apply: applyVerifyUser,
});

/** Raises USER_EXISTS, ACCESS_DENIED, NAMESPACE_DENIED, BAD_FIELD and QUOTA. */
function applyCreateUser(context: ApplyContext, command: CreateUser, principal: Principal): UserResult {
  const { transaction, wallMs } = context;
  const { userId, email, role, namespaces, passwordHash } = command;
  const actor = requireActor(transaction, principal);
  requireGrantable(actor, role, namespaces);
  requireOwnerNamespaces(role, namespaces);
  if (isKnownAddress(transaction, actor, email)) {
    throw new CoordinationError("USER_EXISTS", "a user with this e-mail address exists already");
  }
  if (transaction.get(userRow(userId)) !== undefined) {
    throw new CoordinationError("USER_EXISTS", "a user with this id exists already");
  }
  if (countUsers(transaction) >= USERS_MAX) {
    throw new CoordinationError("QUOTA", `a cluster has at most ${USERS_MAX} users`);
  }
  requireShares(transaction, namespaces);
  const user: User = {
    userId,
    email,
    role,
    namespaces,
    status: "unverified",
    passwordHash,
    passwordVersion: 0,
    createdAtMs: wallMs,
  };
  writeUser(transaction, user, false);
  const expiresAtMs = wallMs + command.tokenLifetimeMs;
  const row = new RecordWriter().fixed(command.tokenSha256, SHA256_BYTES).uint53(expiresAtMs).finish();
  transaction.put(verificationRow(userId), row);
  return { kind: "create-user", user, revision: context.revision };
}

/** Raises USER_NOT_FOUND, ACCESS_DENIED, NAMESPACE_DENIED, BAD_FIELD and LAST_OWNER. */
function applyUpdateUser(context: ApplyContext, command: UpdateUser, principal: Principal): UserResult {
  const { transaction } = context;
  const actor = requireActor(transaction, principal);
  const before = requireManagedUser(transaction, actor, command.userId);
  const role = command.role ?? before.role;
  const becomesOwner = role === "owner" && before.role !== "owner";
  const namespaces = command.namespaces ?? (becomesOwner ? OWNER_NAMESPACES : before.namespaces);
  const user: User = {
    ...before,
    role,
    namespaces,
    status: statusAfter(transaction, before, command.status),
    passwordHash: command.passwordHash ?? before.passwordHash,
    passwordVersion: before.passwordVersion + (command.passwordHash === null ? 0 : 1),
  };
  if (command.passwordHash !== null && actor.userId === user.userId) {
    requireKnownPassword(before, command.knownPasswordVersion);
  }
  const added = namespaces.filter((namespace) => !before.namespaces.includes(namespace));
  requireGrantable(actor, role, added);
  requireOwnerNamespaces(role, namespaces);
  requireShares(transaction, added);
  requireRemainingOwner(transaction, before, user);
  writeUser(transaction, user, isVerified(transaction, before));
  return { kind: "update-user", user, revision: context.revision };
}

/** A user who was disabled before they were verified has to be verified when they are not disabled any more. */
function statusAfter(reader: StateReader, before: User, asked: UpdateUser["status"]): User["status"] {
  if (asked === null || asked === before.status || isVerified(reader, before)) {
    return asked ?? before.status;
  }
  const mayDisable = hasRulesOf(VERSION_WITH_SHARES, reader);
  if (asked === "active" && before.status === "disabled") {
    return "unverified";
  }
  if (asked !== "disabled" || !mayDisable) {
    throw badField("status", "can become active only after the e-mail address was verified");
  }
  return asked;
}

/** Whether the address has a user that the actor may see. Users of other namespaces keep no address from it. */
function isKnownAddress(reader: StateReader, actor: User, email: string): boolean {
  const holder = readUserByEmail(reader, email);
  if (holder === undefined || !hasRulesOf(VERSION_WITH_SHARES, reader)) {
    return holder !== undefined;
  }
  return [holder, ...readClaimants(reader, email)].some((user) => mayManage(actor, user));
}

/** Requires that each of the namespaces has fewer users than are left for the others. */
function requireShares(reader: StateReader, namespaces: readonly string[]): void {
  if (!hasRulesOf(VERSION_WITH_SHARES, reader)) {
    return;
  }
  const left = USERS_MAX - countUsers(reader);
  for (const namespace of namespaces) {
    if (countUsersOf(reader, namespace) >= left) {
      const message = `has as many of the ${USERS_MAX} users of the cluster as are left for other namespaces`;
      throw new CoordinationError("QUOTA", `the namespace "${namespace}" ${message}`);
    }
  }
}

/** Whether a user only changes their own password, which needs no access level. */
function isOwnPassword({ subject }: Principal, { userId, role, namespaces, status }: UpdateUser): boolean {
  return userId === subject && role === null && namespaces === null && status === null;
}

/** Deletes the user and all of their API keys. Raises USER_NOT_FOUND and LAST_OWNER. */
function applyDeleteUser(context: ApplyContext, { userId }: DeleteUser, principal: Principal): DeleteUserResult {
  const { transaction } = context;
  const user = requireManagedUser(transaction, requireActor(transaction, principal), userId);
  requireRemainingOwner(transaction, user, null);
  for (const apiKey of apiKeysOf(transaction, userId)) {
    removeApiKey(transaction, apiKey);
  }
  removeUser(transaction, user);
  return { kind: "delete-user", userId, revision: context.revision };
}

/**
 * Verifies the user's address: an unverified user becomes active. The token works once. Raises BAD_FIELD: the same
 * error for every invalid token, and one for a missing password if the user has none.
 */
function applyVerifyUser(context: ApplyContext, command: VerifyUser): UserResult {
  const { transaction, wallMs } = context;
  const { userId, tokenSha256, passwordHash } = command;
  const before = readUser(transaction, userId);
  const verification = readVerification(transaction, userId);
  const isGood =
    verification !== undefined &&
    verification.expiresAtMs > wallMs &&
    equalBytes(verification.tokenSha256, tokenSha256);
  if (before === undefined || before.status !== "unverified" || !isGood) {
    throw badField("token", "is unknown, used or expired");
  }
  if (passwordHash === "" && before.passwordHash === "") {
    throw badField("password", "is required, because none is set");
  }
  const holder = readUserByEmail(transaction, before.email);
  if (holder !== undefined && holder.userId !== userId && isVerified(transaction, holder)) {
    throw badField("token", "is for an e-mail address that is another user's");
  }
  transaction.delete(verificationRow(userId));
  const user: User = { ...before, status: "active", passwordHash: passwordHash || before.passwordHash };
  writeUser(transaction, user);
  return { kind: "verify-user", user, revision: context.revision };
}

/** The calling user; the check before every command has found the record. */
function requireActor(reader: StateReader, { subject }: Principal): User {
  const actor = readUser(reader, subject);
  invariant(actor !== undefined, "the check before a command has found its user");
  return actor;
}

/** The user; raises USER_NOT_FOUND, also for a user whom the actor may not manage (S43). */
function requireManagedUser(reader: StateReader, actor: User, userId: string): User {
  const user = readUser(reader, userId);
  if (user === undefined || !mayManage(actor, user)) {
    throw userNotFound();
  }
  return user;
}

export function userNotFound(): CoordinationError {
  return new CoordinationError("USER_NOT_FOUND", "there is no user with this id that you may see");
}

/** Requires that the actor has the role and each of the namespaces that they give. */
function requireGrantable(actor: User, role: User["role"], namespaces: readonly string[]): void {
  if (!includesRole(actor.role, role)) {
    throw new CoordinationError("ACCESS_DENIED", `your role "${actor.role}" does not include the role "${role}"`);
  }
  for (const namespace of namespaces) {
    if (!includesNamespace(actor.namespaces, namespace)) {
      throw new CoordinationError("NAMESPACE_DENIED", "you cannot give a namespace that you do not hold");
    }
  }
}

/** Requires that the password that the caller proved to know is still the user's. */
function requireKnownPassword({ passwordVersion }: User, known: number | null): void {
  if (known === null) {
    throw badField("current_password", "is required to change your own password");
  }
  if (known !== passwordVersion) {
    throw badField("current_password", "is not your password any more");
  }
}

/** Owners have all namespaces. */
function requireOwnerNamespaces(role: User["role"], namespaces: readonly string[]): void {
  if (role === "owner" && (namespaces.length !== 1 || namespaces[0] !== OWNER_NAMESPACES[0])) {
    throw badField("namespaces", 'must be ["*"] for the role owner');
  }
}

/** @param after the user after the change; null = deleted. */
function requireRemainingOwner(reader: StateReader, before: User, after: User | null): void {
  const isActiveOwner = (user: User | null) => user?.role === "owner" && user.status === "active";
  if (isActiveOwner(before) && !isActiveOwner(after) && !hasOtherActiveOwner(reader, before.userId)) {
    throw new CoordinationError("LAST_OWNER", "the last active owner can be neither demoted, disabled nor deleted");
  }
}
