/** Users and API keys on the command line: by id, or by e-mail address or name. */

import type { ApiKeyInfo, Client, UserInfo } from "../../index.ts";
import { isUuid, type ObjectKind, onlyOne } from "../arguments/index.ts";
import { isRefusal } from "../errors/index.ts";
import { itemsOf, PAGE_SIZE_MAX } from "../session/index.ts";

const USERS: ObjectKind<UserInfo> = {
  title: "user",
  notFoundReason: "USER_NOT_FOUND",
  describe: ({ userId, email }) => `${userId} (${email})`,
};

const API_KEYS: ObjectKind<ApiKeyInfo> = {
  title: "API key",
  notFoundReason: "API_KEY_NOT_FOUND",
  describe: ({ apiKeyId, keyPrefix, createdAtMs }) =>
    `${apiKeyId} (${keyPrefix}, created ${new Date(createdAtMs).toISOString()})`,
};

/**
 * The id of a user who is given by id or e-mail address.
 *
 * @throws NotFoundError if no visible user has this address.
 */
export async function findUserId(client: Client, text: string): Promise<string> {
  if (isUuid(text)) {
    return text;
  }
  const wanted = text.toLowerCase();
  const found = await itemsOf(client.users.pages({ pageSize: PAGE_SIZE_MAX }), (page) => page);
  return onlyOne(
    found.filter(({ email }) => email.toLowerCase() === wanted),
    text,
    USERS,
  ).userId;
}

/**
 * The id of an API key that is given by id, by name or by its public part. One's own keys come first; those of other
 * users count only if the caller may list them.
 *
 * @throws NotFoundError if no key that is not revoked has this name; UsageError if several have it.
 */
export async function findApiKeyId(client: Client, text: string): Promise<string> {
  if (isUuid(text)) {
    return text;
  }
  const named = (keys: readonly ApiKeyInfo[]) =>
    keys.filter(({ name, keyPrefix }) => name === text || keyPrefix === text);
  const own = named(await itemsOf(client.keys.pages({ pageSize: PAGE_SIZE_MAX }), (page) => page));
  const found = own.length > 0 ? own : named(await keysOfAllUsers(client));
  return onlyOne(found, text, API_KEYS).apiKeyId;
}

async function keysOfAllUsers(client: Client): Promise<readonly ApiKeyInfo[]> {
  try {
    return await itemsOf(client.keys.pages({ all: true, pageSize: PAGE_SIZE_MAX }), (page) => page);
  } catch (error) {
    if (isRefusal(error, "PERMISSION_DENIED")) {
      return [];
    }
    throw error;
  }
}
