/** API keys: what programs authenticate with. Each acts as the user who has made it. Served over HTTP, by every member. */

import { getJson, optionalTimeMs, sendJson } from "./http-json.ts";
import type { HttpCallOptions, HttpMembers } from "./http-members.ts";
import { textField } from "./request-field.ts";

/** An API key, without what is secret of it. */
export interface ApiKeyInfo {
  readonly apiKeyId: string;
  readonly name: string;
  /** The part of the key that is no secret. */
  readonly keyPrefix: string;
  /** Unix time, as the other ones here. */
  readonly createdAtMs: number;
  /** Undefined = never. */
  readonly expiresAtMs: number | undefined;
  /** To the minute; undefined = never. */
  readonly lastUsedAtMs: number | undefined;
  /** Undefined = it is not revoked. */
  readonly revokedAtMs: number | undefined;
}

/** A new API key. */
export interface CreatedApiKey extends Pick<ApiKeyInfo, "apiKeyId" | "name" | "createdAtMs" | "expiresAtMs"> {
  /** The key itself, in this answer and never again. */
  readonly key: string;
}

/** What the revocation of an API key is answered. */
export interface RevokedApiKey {
  readonly apiKeyId: string;
  /** Unix time of the first revocation. */
  readonly revokedAtMs: number;
}

/** Options of create. */
export interface CreateApiKeyOptions extends HttpCallOptions {
  /** Days that the key is valid, 1 to 3,650. Undefined = without an end. */
  readonly expiresInDays?: number | undefined;
}

/** Options of pages. */
export interface ListApiKeysOptions extends HttpCallOptions {
  /** The keys of the user with this id, for administrators. Default: one's own. */
  readonly userId?: string | undefined;
  /** The keys of all users, for administrators. Default false. */
  readonly all?: boolean | undefined;
  /** Whether revoked keys are listed too. Default false. */
  readonly includeRevoked?: boolean | undefined;
  /** Keys of a page, at most 1,000. Default 100. */
  readonly pageSize?: number | undefined;
}

interface WireApiKey {
  readonly api_key_id: string;
  readonly name: string;
  readonly key_prefix: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

interface WireCreatedApiKey extends Pick<WireApiKey, "api_key_id" | "name" | "created_at" | "expires_at"> {
  readonly key: string;
}

interface WireApiKeys {
  readonly keys: readonly WireApiKey[];
  readonly next_cursor: string | null;
}

/** API keys. */
export class ApiKeyClient {
  readonly #members: HttpMembers;

  constructor(members: HttpMembers) {
    this.#members = members;
  }

  /**
   * Makes an API key for the user whose token this client has, and hands it out, this once.
   *
   * @param name for people; 1 to 128 characters.
   */
  async create(name: string, { expiresInDays, ...options }: CreateApiKeyOptions = {}): Promise<CreatedApiKey> {
    const value = { name: textField("name", name), expires_in_days: expiresInDays };
    const request = { method: "POST", path: "/keys", value, isRepeatable: false } as const;
    const made = await sendJson<WireCreatedApiKey>(this.#members, request, options);
    return {
      apiKeyId: made.api_key_id,
      name: made.name,
      key: made.key,
      createdAtMs: Date.parse(made.created_at),
      expiresAtMs: optionalTimeMs(made.expires_at),
    };
  }

  /** API keys, page by page, each when it is asked for. */
  async *pages({
    userId,
    all = false,
    includeRevoked = false,
    pageSize = 100,
    ...options
  }: ListApiKeysOptions = {}): AsyncGenerator<readonly ApiKeyInfo[], void, undefined> {
    const query = new URLSearchParams({ limit: String(pageSize) });
    if (all) query.set("all", "true");
    if (userId !== undefined) query.set("user_id", textField("userId", userId));
    if (includeRevoked) query.set("include_revoked", "true");
    for (let cursor: string | null = ""; cursor !== null; ) {
      if (cursor !== "") query.set("cursor", cursor);
      const page: WireApiKeys = await getJson(this.#members, `/keys?${query}`, options);
      yield page.keys.map(infoOf);
      cursor = page.next_cursor;
    }
  }

  /**
   * Revokes an API key and all of its tokens, at once and for ever. Once more does no harm.
   *
   * @throws QuoinError NOT_FOUND / KEY_NOT_FOUND, also for the key of a user whose role and
   *   namespaces one does not hold as an administrator.
   */
  async revoke(apiKeyId: string, options: HttpCallOptions = {}): Promise<RevokedApiKey> {
    const path = `/keys/${encodeURIComponent(textField("apiKeyId", apiKeyId))}`;
    const request = { method: "DELETE", path, isRepeatable: true } as const;
    const revoked = await sendJson<{ readonly api_key_id: string; readonly revoked_at: string }>(
      this.#members,
      request,
      options,
    );
    return { apiKeyId: revoked.api_key_id, revokedAtMs: Date.parse(revoked.revoked_at) };
  }
}

function infoOf(key: WireApiKey): ApiKeyInfo {
  return {
    apiKeyId: key.api_key_id,
    name: key.name,
    keyPrefix: key.key_prefix,
    createdAtMs: Date.parse(key.created_at),
    expiresAtMs: optionalTimeMs(key.expires_at),
    lastUsedAtMs: optionalTimeMs(key.last_used_at),
    revokedAtMs: optionalTimeMs(key.revoked_at),
  };
}
