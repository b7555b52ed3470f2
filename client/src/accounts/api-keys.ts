/**
 * API keys, with which programs authenticate. Each acts for the user who created it. Every member serves them over
 * HTTP.
 */

import type { ApiKeyBody, ApiKeysBody, CreatedApiKeyBody } from "@quoin/proto";
import { getJson, type HttpCallOptions, type HttpMembers, optionalTimeMs, sendJson } from "../calls/index.ts";
import { flag, httpCallRules, optionsCheck, text, textField, whole } from "../options/index.ts";

/** An API key without its secret part. */
export interface ApiKeyInfo {
  readonly apiKeyId: string;
  readonly name: string;
  /** The public part of the key. */
  readonly keyPrefix: string;
  /** Unix time, like the other times here. */
  readonly createdAtMs: number;
  /** Undefined = never. */
  readonly expiresAtMs: number | undefined;
  /** To the minute; undefined = never. */
  readonly lastUsedAtMs: number | undefined;
  /** Undefined = not revoked. */
  readonly revokedAtMs: number | undefined;
}

/** A new API key. */
export interface CreatedApiKey extends Pick<ApiKeyInfo, "apiKeyId" | "name" | "createdAtMs" | "expiresAtMs"> {
  /** The key itself; only this answer contains it. */
  readonly key: string;
}

/** Answer of revoke. */
export interface RevokedApiKey {
  readonly apiKeyId: string;
  /** Unix time of the first revocation. */
  readonly revokedAtMs: number;
}

/** Options of create. */
export interface CreateApiKeyOptions extends HttpCallOptions {
  /** Days that the key is valid, 1 to 3,650. Undefined = unlimited. */
  readonly expiresInDays?: number | undefined;
}

/** Options of pages. */
export interface ListApiKeysOptions extends HttpCallOptions {
  /** The keys of the user with this id, for administrators. Default: one's own. */
  readonly userId?: string | undefined;
  /** The keys of all users, for administrators. Default false. */
  readonly all?: boolean | undefined;
  /** Whether to list revoked keys too. Default false. */
  readonly includeRevoked?: boolean | undefined;
  /** Keys per page, at most 1,000. Default 100. */
  readonly pageSize?: number | undefined;
}

const checkCreate = optionsCheck<CreateApiKeyOptions>({ ...httpCallRules, expiresInDays: whole });
const checkPages = optionsCheck<ListApiKeysOptions>({
  ...httpCallRules,
  userId: text,
  all: flag,
  includeRevoked: flag,
  pageSize: whole,
});
const checkRevoke = optionsCheck<HttpCallOptions>(httpCallRules);

/** API keys. */
export class ApiKeyClient {
  readonly #members: HttpMembers;

  constructor(members: HttpMembers) {
    this.#members = members;
  }

  /**
   * Creates an API key for the user of this client's token. Only this answer contains the key.
   *
   * @param name for people; 1 to 128 characters.
   */
  async create(name: string, options: CreateApiKeyOptions = {}): Promise<CreatedApiKey> {
    checkCreate(options, "keys.create");
    const { expiresInDays, ...call } = options;
    const value = { name: textField("name", name), expires_in_days: expiresInDays };
    const request = { method: "POST", path: "/keys", value, isRepeatable: false } as const;
    const made = await sendJson<CreatedApiKeyBody>(this.#members, request, call);
    return {
      apiKeyId: made.api_key_id,
      name: made.name,
      key: made.key,
      createdAtMs: Date.parse(made.created_at),
      expiresAtMs: optionalTimeMs(made.expires_at),
    };
  }

  /** API keys, page by page; each page is requested when it is needed. */
  async *pages(options: ListApiKeysOptions = {}): AsyncGenerator<readonly ApiKeyInfo[], void, undefined> {
    checkPages(options, "keys.pages");
    const { userId, all = false, includeRevoked = false, pageSize = 100, ...call } = options;
    const query = new URLSearchParams({ limit: String(pageSize) });
    if (all) {
      query.set("all", "true");
    }
    if (userId !== undefined) {
      query.set("user_id", textField("userId", userId));
    }
    if (includeRevoked) {
      query.set("include_revoked", "true");
    }
    for (let cursor: string | null = ""; cursor !== null; ) {
      if (cursor !== "") {
        query.set("cursor", cursor);
      }
      const page: ApiKeysBody = await getJson(this.#members, `/keys?${query}`, call);
      yield page.keys.map(infoOf);
      cursor = page.next_cursor;
    }
  }

  /**
   * Revokes an API key and all of its tokens, at once and for ever. A repetition does no harm.
   *
   * @throws QuoinError NOT_FOUND / API_KEY_NOT_FOUND, also for a key of another user, unless one is an administrator with
   * that user's role and namespaces.
   */
  async revoke(apiKeyId: string, options: HttpCallOptions = {}): Promise<RevokedApiKey> {
    checkRevoke(options, "keys.revoke");
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

function infoOf(key: ApiKeyBody): ApiKeyInfo {
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
