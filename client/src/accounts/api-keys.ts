/** API keys, with which programs authenticate. Each acts for the user who created it. */

import { type ApiKey, serviceDefinitions } from "@quoin/proto";
import { type CallOptions, execute, type OperationContext, unaryMethod } from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import {
  callRules,
  callRulesWithoutRequestId,
  flag,
  optionsCheck,
  positiveField,
  text,
  textField,
  whole,
  whole32,
} from "../options/index.ts";
import { allPages } from "../pages/index.ts";

const service = serviceDefinitions.AccountService;
const createApiKeyMethod = unaryMethod(service.createApiKey);
const listApiKeysMethod = unaryMethod(service.listApiKeys);
const revokeApiKeyMethod = unaryMethod(service.revokeApiKey);

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
export interface CreateApiKeyOptions extends CallOptions {
  /** Days that the key is valid, 1 to 3,650. Undefined = unlimited. */
  readonly expiresInDays?: number | undefined;
}

/** Options of pages. */
export interface ListApiKeysOptions extends Omit<CallOptions, "requestId"> {
  /** The keys of the user with this id, for administrators. Default: one's own. */
  readonly userId?: string | undefined;
  /** The keys of all users, for administrators. Default false. */
  readonly all?: boolean | undefined;
  /** Whether to list revoked keys too. Default false. */
  readonly includeRevoked?: boolean | undefined;
  /** Keys per page, 1 to 1,000. Default 100. */
  readonly pageSize?: number | undefined;
}

const checkCreate = optionsCheck<CreateApiKeyOptions>({ ...callRules, expiresInDays: whole });
const checkPages = optionsCheck<ListApiKeysOptions>({
  ...callRulesWithoutRequestId,
  userId: text,
  all: flag,
  includeRevoked: flag,
  pageSize: whole32,
});
const checkRevoke = optionsCheck<CallOptions>(callRules);

/** API keys. */
export class ApiKeyClient {
  readonly #context: OperationContext;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  /**
   * Creates an API key for the user of this client's token. Only this answer contains the key.
   *
   * @param name for people; 1 to 128 characters.
   * @throws QuoinError DATA_LOSS / API_KEY_LOST if an earlier attempt has created the key, and its answer was lost. The
   * detail `api_key_id` names the key: revoke it, and create another one.
   */
  async create(name: string, options: CreateApiKeyOptions = {}): Promise<CreatedApiKey> {
    checkCreate(options, "keys.create");
    const { expiresInDays, ...call } = options;
    const request = {
      name: textField("name", name),
      expiresInDays: BigInt(positiveField("expiresInDays", expiresInDays)),
    };
    const { message } = await execute(this.#context, createApiKeyMethod, request, call);
    const created = infoOf(message.apiKey);
    if (message.key === "") {
      throw keyLost(created.apiKeyId);
    }
    return {
      apiKeyId: created.apiKeyId,
      name: created.name,
      key: message.key,
      createdAtMs: created.createdAtMs,
      expiresAtMs: created.expiresAtMs,
    };
  }

  /** API keys, page by page; each page is requested when it is needed. */
  async *pages(options: ListApiKeysOptions = {}): AsyncGenerator<readonly ApiKeyInfo[], void, undefined> {
    checkPages(options, "keys.pages");
    const { userId = "", all = false, includeRevoked = false, pageSize, ...call } = options;
    const fields = {
      userId: textField("userId", userId),
      all,
      includeRevoked,
      pageSize: positiveField("pageSize", pageSize),
    };
    const pages = allPages(async (pageToken) => {
      return (await execute(this.#context, listApiKeysMethod, { ...fields, pageToken }, call)).message;
    });
    for await (const { keys } of pages) {
      yield keys.map(infoOf);
    }
  }

  /**
   * Revokes an API key and all of its tokens, at once and for ever. A repetition does no harm.
   *
   * @throws QuoinError NOT_FOUND / API_KEY_NOT_FOUND, also for a key of another user, unless one is an administrator with
   * that user's role and namespaces.
   */
  async revoke(apiKeyId: string, options: CallOptions = {}): Promise<RevokedApiKey> {
    checkRevoke(options, "keys.revoke");
    const request = { apiKeyId: textField("apiKeyId", apiKeyId) };
    const { message } = await execute(this.#context, revokeApiKeyMethod, request, options);
    return { apiKeyId, revokedAtMs: Number(message.revokedAtMs) };
  }
}

function infoOf(key: ApiKey | undefined): ApiKeyInfo {
  if (key === undefined) {
    throw new QuoinError({ code: "INTERNAL", message: "the answer has no API key" });
  }
  return {
    apiKeyId: key.apiKeyId,
    name: key.name,
    keyPrefix: key.keyPrefix,
    createdAtMs: Number(key.createdAtMs),
    expiresAtMs: Number(key.expiresAtMs) || undefined,
    lastUsedAtMs: Number(key.lastUsedAtMs) || undefined,
    revokedAtMs: Number(key.revokedAtMs) || undefined,
  };
}

function keyLost(apiKeyId: string): QuoinError {
  return new QuoinError({
    code: "DATA_LOSS",
    reason: "API_KEY_LOST",
    outcome: "unknown",
    message: `the API key ${apiKeyId} was created, but the answer with the key was lost: revoke it, and create another`,
    details: new Map([["api_key_id", apiKeyId]]),
  });
}
