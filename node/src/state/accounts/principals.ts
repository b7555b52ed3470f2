/**
 * Users, API keys and their rights: the records, and the one check that decides.
 *
 * The check runs against the given reader: in apply against the transaction, where it is ordered with the revocations
 * that it must respect; for reads against the applied state. The claims of a token are only an upper bound, which is
 * intersected with the current record of the user.
 */

import { equalBytes } from "../../bytes/index.ts";
import { invariant } from "../../primitives/index.ts";
import {
  ACTIVE_OWNER_PREFIX,
  type Access,
  API_KEYS_PER_USER_MAX,
  type ApiKey,
  activeOwnerRow,
  addressClaimPrefix,
  addressClaimRow,
  apiKeyByUserPrefix,
  apiKeyByUserRow,
  apiKeyKey,
  apiKeyPrefixRow,
  apiKeyRow,
  CoordinationError,
  count,
  decodeRow,
  emailRow,
  encodeRow,
  type Field,
  fixedBytes,
  hasRulesOf,
  listOf,
  namespaceUsersRow,
  oneOf,
  type Principal,
  prefixRange,
  RecordReader,
  RecordWriter,
  type RequiredAccess,
  type Role,
  type Row,
  recordOf,
  type StateReader,
  type Transaction,
  tableRange,
  text,
  USER_COUNT_ROW,
  type User,
  type UserStatus,
  userKey,
  userRow,
  verificationRow,
} from "../core/index.ts";

/** A page of a listing, and the row after which the next page starts; null = this is the last page. */
export interface AccountPage<Item> {
  readonly items: readonly Item[];
  readonly lastRow: Uint8Array | null;
}

/** Each includes the ones before it. */
export const ROLES: readonly Role[] = ["viewer", "member", "admin", "owner"];
export const STATUSES: readonly UserStatus[] = ["unverified", "active", "disabled"];
/** The cluster version since which users of different namespaces do not see each other's addresses, and have shares. */
export const VERSION_WITH_SHARES = 5;
export const SHA256_BYTES = 32;
const WHO = {
  userId: text,
  email: text,
  role: oneOf(ROLES, "users have a known role"),
  namespaces: listOf(text),
} as const;
const status = oneOf(STATUSES, "users have a known status");
const userFields = recordOf<User>({
  ...WHO,
  status,
  passwordHash: text,
  passwordVersion: count,
  createdAtMs: count,
});
const KEY_NAME = { apiKeyId: text, userId: text, name: text, prefix: text } as const;
const apiKeyFields = recordOf<ApiKey>({
  ...KEY_NAME,
  sha256: fixedBytes(SHA256_BYTES),
  createdAtMs: count,
  expiresAtMs: count,
  revokedAtMs: count,
  lastUsedAtMs: count,
});
/** A user and a new API key in answers, which never contain what only checks of secrets need. */
export const userInAnswer = recordOf<User, Pick<User, "passwordHash" | "passwordVersion">>(
  { ...WHO, status, createdAtMs: count },
  { passwordHash: "", passwordVersion: 0 },
);
export const apiKeyInAnswer = recordOf<ApiKey, Pick<ApiKey, "sha256" | "revokedAtMs" | "lastUsedAtMs">>(
  { ...KEY_NAME, createdAtMs: count, expiresAtMs: count },
  { sha256: new Uint8Array(0), revokedAtMs: 0, lastUsedAtMs: 0 },
);
const LEVELS: readonly Access[] = ["read", "write", "admin"];
const READ = LEVELS.slice(0, 1);
const READ_AND_WRITE = LEVELS.slice(0, 2);
export const ALL_NAMESPACES = "*";
/** Rows that one page of a listing reads. */
const VISITED_MAX = 2_000;
const NOTHING = new Uint8Array(0);

/** The access levels of a role, lowest first. */
export function roleAccess(role: Role): readonly Access[] {
  switch (role) {
    case "viewer":
      return READ;
    case "member":
      return READ_AND_WRITE;
    case "admin":
    case "owner":
      return LEVELS;
  }
}

/** Whether the first role includes the second. */
export function includesRole(own: Role, role: Role): boolean {
  return ROLES.indexOf(own) >= ROLES.indexOf(role);
}

/** Whether one of the granted levels includes the needed one. */
export function includesAccess(granted: readonly string[], needed: Access): boolean {
  for (let level = LEVELS.indexOf(needed); level < LEVELS.length; level++) {
    if (granted.includes(LEVELS[level] as Access)) {
      return true;
    }
  }
  return false;
}

/** Whether the list contains the namespace or the wildcard. It never matches a part of a name (S40). */
export function includesNamespace(namespaces: readonly string[], namespace: string): boolean {
  return namespaces.includes(namespace) || namespaces.includes(ALL_NAMESPACES);
}

/**
 * Whether the actor may see and change the record, the API keys and the usage of the other user. Users may manage
 * themselves. Administrators may manage users whose role and namespaces they have themselves.
 */
export function mayManage(actor: User, other: User): boolean {
  if (actor.userId === other.userId) {
    return true;
  }
  return (
    includesAccess(roleAccess(actor.role), "admin") &&
    includesRole(actor.role, other.role) &&
    other.namespaces.every((namespace) => includesNamespace(actor.namespaces, namespace))
  );
}

/**
 * Decides `mayManage` by user id, for the actor with the id `actorId`, and caches each answer for one listing. Only an
 * owner may see the data of a deleted user, because that user's role and namespaces are no longer known.
 */
export function managedUsers(reader: StateReader, actorId: string): (userId: string) => boolean {
  const actor = readUser(reader, actorId);
  const known = new Map<string, boolean>();
  return (userId) => {
    let isManaged = known.get(userId);
    if (isManaged === undefined) {
      const other = readUser(reader, userId);
      isManaged = actor !== undefined && (other === undefined ? actor.role === "owner" : mayManage(actor, other));
      known.set(userId, isManaged);
    }
    return isManaged;
  };
}

/**
 * Decides whether the principal may do this now, by the records of the reader. `wallMs` decides about expired keys.
 * Returns the refusal (TOKEN_REVOKED, TOKEN_EXPIRED, NAMESPACE_DENIED, ACCESS_DENIED), or null = allowed.
 */
export function refusalOf(
  reader: StateReader,
  principal: Principal,
  required: RequiredAccess | null,
  wallMs: number,
): CoordinationError | null {
  const user = readUser(reader, principal.subject);
  if (user === undefined || user.status !== "active") {
    return new CoordinationError("TOKEN_REVOKED", "the token's user no longer exists or is disabled");
  }
  if (principal.apiKeyId !== "") {
    const apiKey = readApiKey(reader, principal.apiKeyId);
    if (apiKey === undefined || apiKey.revokedAtMs !== 0 || apiKey.userId !== principal.subject) {
      return new CoordinationError("TOKEN_REVOKED", "the API key that the token was issued for is revoked");
    }
    if (apiKey.expiresAtMs !== 0 && apiKey.expiresAtMs <= wallMs) {
      return new CoordinationError("TOKEN_EXPIRED", "the API key that the token was issued for has expired");
    }
  } else if ((principal.passwordVersion ?? 0) !== user.passwordVersion) {
    return new CoordinationError("TOKEN_REVOKED", "the user's password was changed after the login");
  }
  if (required === null) {
    return null;
  }
  if (required.namespace !== null && !includesNamespace(user.namespaces, required.namespace)) {
    return new CoordinationError("NAMESPACE_DENIED", "the user may not access the namespace of the request");
  }
  if (!includesAccess(roleAccess(user.role), required.access)) {
    return new CoordinationError(
      "ACCESS_DENIED",
      `the user's role "${user.role}" does not give ${required.access} access`,
    );
  }
  return null;
}

/** The user with this id. */
export function readUser(reader: StateReader, userId: string): User | undefined {
  const { key, hash } = userKey(userId);
  const bytes = reader.get(key, hash);
  return bytes === undefined ? undefined : decodedOnce(decodedUsers, bytes, userFields);
}

/**
 * The form that is equal for e-mail addresses that differ only in case. Letters beyond ASCII do not change: their case
 * rules differ between Unicode versions, and so between members during an upgrade (P44).
 */
export function addressInAnyCase(email: string): string {
  return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/**
 * Finds a user by e-mail address, without regard to upper and lower case. Returns the user who has verified it, or else
 * the first who was asked to. A user of one namespace cannot keep an address from those of another, so others may have
 * been asked too.
 */
export function readUserByEmail(reader: StateReader, email: string): User | undefined {
  const bytes = reader.get(emailRow(addressInAnyCase(email)));
  if (bytes === undefined) {
    return undefined;
  }
  return readUser(reader, new RecordReader(bytes).text());
}

/** The API key with this id. */
export function readApiKey(reader: StateReader, apiKeyId: string): ApiKey | undefined {
  const { key, hash } = apiKeyKey(apiKeyId);
  const bytes = reader.get(key, hash);
  return bytes === undefined ? undefined : decodedOnce(decodedApiKeys, bytes, apiKeyFields);
}

/** Nearly every request reads these rows, and a store returns the same byte array while a row does not change. */
const decodedUsers = new WeakMap<Uint8Array, User>();
const decodedApiKeys = new WeakMap<Uint8Array, ApiKey>();

function decodedOnce<Item>(decoded: WeakMap<Uint8Array, Item>, bytes: Uint8Array, field: Field<Item>): Item {
  let item = decoded.get(bytes);
  if (item === undefined) {
    item = decodeRow(field, bytes);
    decoded.set(bytes, item);
  }
  return item;
}

/** The API key with this public part. */
export function readApiKeyByPrefix(reader: StateReader, prefix: string): ApiKey | undefined {
  const bytes = reader.get(apiKeyPrefixRow(prefix));
  return bytes === undefined ? undefined : readApiKey(reader, new RecordReader(bytes).text());
}

/** The other users who are to verify this address, in the order of their ids. */
export function readClaimants(reader: StateReader, email: string): User[] {
  const { from, to } = prefixRange(addressClaimPrefix(addressInAnyCase(email)));
  const users: User[] = [];
  reader.scan(from, to, ({ value }) => {
    const user = readUser(reader, new RecordReader(value).text());
    invariant(user !== undefined, "users who are to verify an address exist");
    users.push(user);
    return true;
  });
  return users;
}

/** Whether mail to the user's address has reached them. */
export function isVerified(reader: StateReader, { userId }: User): boolean {
  return reader.get(verificationRow(userId)) === undefined;
}

/** How many users there are. */
export function countUsers(reader: StateReader): number {
  return countAt(reader, USER_COUNT_ROW) ?? 0;
}

/** How many users have this namespace by its name. Users with all namespaces do not count. */
export function countUsersOf(reader: StateReader, namespace: string): number {
  const counted = countAt(reader, namespaceUsersRow(namespace));
  if (counted !== undefined) {
    return counted;
  }
  // Once for each namespace, in a cluster that is older than these rows.
  let count = 0;
  const { from, to } = tableRange("user");
  reader.scan(from, to, ({ value }) => {
    count += decodeRow(userFields, value).namespaces.includes(namespace) ? 1 : 0;
    return true;
  });
  return count;
}

/** Whether there is another active user of the role owner. */
export function hasOtherActiveOwner(reader: StateReader, userId: string): boolean {
  const own = activeOwnerRow(userId);
  const { from, to } = prefixRange(ACTIVE_OWNER_PREFIX);
  let found = false;
  reader.scan(from, to, ({ key }) => {
    found = !equalBytes(key, own);
    return !found;
  });
  return found;
}

/** Visible users in the order of their ids, after this row of an earlier page, at most `limit` of them. */
export function listUsers(
  reader: StateReader,
  after: Uint8Array | null,
  limit: number,
  isVisible: (user: User) => boolean,
): AccountPage<User> {
  return pageOf(reader, tableRange("user"), after, limit, ({ value }) => {
    const user = decodeRow(userFields, value);
    return isVisible(user) ? user : null;
  });
}

/** API keys of visible users in the order of their ids, after this row of an earlier page; revoked ones on request. */
export function listApiKeys(
  reader: StateReader,
  after: Uint8Array | null,
  limit: number,
  includeRevoked: boolean,
  isVisible: (userId: string) => boolean,
): AccountPage<ApiKey> {
  return pageOf(reader, tableRange("apiKey"), after, limit, ({ value }) => {
    const apiKey = decodeRow(apiKeyFields, value);
    return isVisible(apiKey.userId) ? listed(apiKey, includeRevoked) : null;
  });
}

/**
 * The API keys of a user in the order of their creation, after this row of an earlier page; revoked ones on request.
 */
export function listApiKeysOf(
  reader: StateReader,
  userId: string,
  after: Uint8Array | null,
  limit: number,
  includeRevoked: boolean,
): AccountPage<ApiKey> {
  return pageOf(reader, prefixRange(apiKeyByUserPrefix(userId)), after, limit, ({ value }) => {
    const apiKey = readApiKey(reader, new RecordReader(value).text());
    invariant(apiKey !== undefined, "API keys that are found by their user exist");
    return listed(apiKey, includeRevoked);
  });
}

/** How many API keys a user has, revoked and expired ones included. */
export function countApiKeysOf(reader: StateReader, userId: string): number {
  const { from, to } = prefixRange(apiKeyByUserPrefix(userId));
  let count = 0;
  reader.scan(from, to, () => {
    count++;
    return true;
  });
  return count;
}

/** All API keys of a user, in the order of their creation. */
export function apiKeysOf(reader: StateReader, userId: string): readonly ApiKey[] {
  return listApiKeysOf(reader, userId, null, API_KEYS_PER_USER_MAX, true).items;
}

/**
 * Writes the user, and the rows that find it by its address, count users and list active owners.
 *
 * @param isVerified whether mail to the user's address has reached them.
 */
export function writeUser(transaction: Transaction, user: User, isVerified = true): void {
  const before = readUser(transaction, user.userId);
  if (before === undefined) {
    countUser(transaction, 1);
  }
  countNamespaces(transaction, before?.namespaces ?? [], user.namespaces);
  transaction.put(userRow(user.userId), encodeRow(userFields, user));
  claimAddress(transaction, user, isVerified);
  const ownerRow = activeOwnerRow(user.userId);
  if (user.role === "owner" && user.status === "active") {
    transaction.put(ownerRow, NOTHING);
  } else if (transaction.get(ownerRow) !== undefined) {
    transaction.delete(ownerRow);
  }
}

/** Deletes all rows of the user except the API keys. */
export function removeUser(transaction: Transaction, user: User): void {
  countNamespaces(transaction, user.namespaces, []);
  transaction.delete(userRow(user.userId));
  releaseAddress(transaction, user);
  transaction.delete(activeOwnerRow(user.userId));
  transaction.delete(verificationRow(user.userId));
  countUser(transaction, -1);
}

/** Writes the API key, and the rows that find it by its public part and by its user. */
export function writeApiKey(transaction: Transaction, apiKey: ApiKey): void {
  const { apiKeyId, userId, createdAtMs } = apiKey;
  const isNew = transaction.get(apiKeyRow(apiKeyId)) === undefined;
  transaction.put(apiKeyRow(apiKeyId), encodeRow(apiKeyFields, apiKey));
  if (isNew) {
    const found = idRow(apiKeyId);
    transaction.put(apiKeyPrefixRow(apiKey.prefix), found);
    transaction.put(apiKeyByUserRow(userId, createdAtMs, apiKeyId), found);
  }
}

/** Deletes all rows of the API key. */
export function removeApiKey(transaction: Transaction, apiKey: ApiKey): void {
  transaction.delete(apiKeyRow(apiKey.apiKeyId));
  transaction.delete(apiKeyPrefixRow(apiKey.prefix));
  transaction.delete(apiKeyByUserRow(apiKey.userId, apiKey.createdAtMs, apiKey.apiKeyId));
}

function countUser(transaction: Transaction, change: 1 | -1): void {
  transaction.put(USER_COUNT_ROW, new RecordWriter().uint53(countUsers(transaction) + change).finish());
}

/** The user's namespaces are about to change. */
function countNamespaces(transaction: Transaction, before: readonly string[], after: readonly string[]): void {
  if (!hasRulesOf(VERSION_WITH_SHARES, transaction)) {
    return;
  }
  for (const namespace of new Set([...before, ...after])) {
    const change = Number(after.includes(namespace)) - Number(before.includes(namespace));
    if (change !== 0 && namespace !== ALL_NAMESPACES) {
      const count = countUsersOf(transaction, namespace) + change;
      transaction.put(namespaceUsersRow(namespace), new RecordWriter().uint53(count).finish());
    }
  }
}

/** The value of a row that finds a record by something else than its id. */
function idRow(id: string): Uint8Array {
  return new RecordWriter().text(id).finish();
}

function countAt(reader: StateReader, key: Uint8Array): number | undefined {
  const bytes = reader.get(key);
  return bytes === undefined ? undefined : new RecordReader(bytes).uint53();
}

/** Makes the address that of the user, unless another has it and this one has not verified it. */
function claimAddress(transaction: Transaction, user: User, isVerified: boolean): void {
  const address = addressInAnyCase(user.email);
  const holder = readUserByEmail(transaction, address);
  const claim = addressClaimRow(address, user.userId);
  if (holder !== undefined && holder.userId !== user.userId) {
    if (!isVerified) {
      transaction.put(claim, idRow(user.userId));
      return;
    }
    transaction.put(addressClaimRow(address, holder.userId), idRow(holder.userId));
  }
  transaction.put(emailRow(address), idRow(user.userId));
  if (transaction.get(claim) !== undefined) {
    transaction.delete(claim);
  }
}

/** If the user had the address, the next user who was asked to verify it gets it. */
function releaseAddress(transaction: Transaction, user: User): void {
  const address = addressInAnyCase(user.email);
  const claim = addressClaimRow(address, user.userId);
  if (transaction.get(claim) !== undefined) {
    transaction.delete(claim);
    return;
  }
  const [next] = readClaimants(transaction, address);
  if (next === undefined) {
    transaction.delete(emailRow(address));
  } else {
    transaction.delete(addressClaimRow(address, next.userId));
    transaction.put(emailRow(address), idRow(next.userId));
  }
}

function listed(apiKey: ApiKey, includeRevoked: boolean): ApiKey | null {
  return includeRevoked || apiKey.revokedAtMs === 0 ? apiKey : null;
}

/**
 * Skips rows without an item. A page ends early after VISITED_MAX rows (S44). A full page has a next one only if
 * another item follows, so skipped rows are never visible.
 */
function pageOf<Item>(
  reader: StateReader,
  { from, to }: { readonly from: Uint8Array; readonly to: Uint8Array },
  after: Uint8Array | null,
  limit: number,
  itemOf: (row: Row) => Item | null,
): AccountPage<Item> {
  const items: Item[] = [];
  let lastRow: Uint8Array | null = null;
  let isMore = false;
  let visited = 0;
  // The next possible key: the same with one more byte.
  const start = after === null ? from : Uint8Array.of(...after, 0);
  reader.scan(start, to, (row) => {
    if (visited === VISITED_MAX) {
      isMore = true;
      return false;
    }
    visited++;
    const item = itemOf(row);
    if (items.length === limit) {
      isMore = item !== null;
      return !isMore;
    }
    lastRow = row.key;
    if (item !== null) {
      items.push(item);
    }
    return true;
  });
  return { items, lastRow: isMore ? lastRow : null };
}
