/**
 * Creates, lists and revokes API keys. A key acts as the user who created it, with the present rights of that user.
 * Only the answer to its creation contains the key. Users list and revoke their own keys with any valid token.
 * Administrators also list and revoke the keys of users whose role and namespaces they have. Any other key seems not to
 * exist (S43).
 */

import { type ApiKeysBody, type CreatedApiKeyBody, ReadConsistency } from "@quoin/proto";
import { createApiKeyMaterial, type Listing, signPageToken, verifyPageToken } from "../../access/index.ts";
import {
  listApiKeys,
  listApiKeysOf,
  managedUsers,
  type RequiredAccess,
  type RevokeApiKeyResult,
} from "../../state/index.ts";
import { accountIdField, keyLifetimeField, keyNameField } from "./account-field-rules.ts";
import { apiKeyBody, createdApiKeyBody } from "./account-messages.ts";
import type { Call, Reply } from "./call.ts";
import type { Executor } from "./executor.ts";
import { limitField } from "./field-rules.ts";
import { timestamp } from "./timestamp.ts";

/** Needed to create a key. Each use of the key checks the namespaces. */
const CREATE: RequiredAccess = { access: "write", namespace: null };
/** Needed to list keys of other users. */
const OTHERS: RequiredAccess = { access: "admin", namespace: null };
/** Needed to list or revoke one's own keys: any valid token. */
const OWN = null;
const NO_PREFIX = new Uint8Array(0);
const WITH_REVOKED = Uint8Array.of(1);

export interface CreateKeyRequest {
  readonly name: string;
  readonly expiresInDays: number | null;
}

export interface ListKeysRequest {
  readonly limit: number | null;
  /** "" = the first page. */
  readonly cursor: string;
  readonly includeRevoked: boolean;
  /** The user whose keys are listed; null = the caller. */
  readonly userId: string | null;
  /** Keys of all users that the caller may manage, whatever `userId` says. */
  readonly all: boolean;
}

export interface RevokeKeyBody {
  readonly api_key_id: string;
  readonly revoked: true;
  /** Time of the first revocation, also in the answer to a repetition. */
  readonly revoked_at: string;
}

export class ApiKeyMethods {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  createKey(call: Call, request: CreateKeyRequest, reply: Reply<CreatedApiKeyBody>): void {
    const { apiKey: key, apiKeyId, prefix, sha256 } = createApiKeyMaterial();
    const operation = () => {
      const fields = { name: keyNameField(request.name), lifetimeMs: keyLifetimeField(request.expiresInDays) };
      return { kind: "create-api-key", apiKeyId, prefix, sha256, ...fields } as const;
    };
    this.#executor.submit(call, CREATE, operation, ({ apiKey }) => createdApiKeyBody(apiKey, key), reply);
  }

  listKeys(call: Call, request: ListKeysRequest, reply: Reply<ApiKeysBody>): void {
    const { includeRevoked, all, cursor } = request;
    const isOwn = !all && (request.userId === null || request.userId.toLowerCase() === call.principal.subject);
    this.#executor.read(
      call,
      isOwn ? OWN : OTHERS,
      (state) => {
        const limit = limitField(request.limit);
        const named = request.userId === null ? call.principal.subject : accountIdField("user_id", request.userId);
        const userId = all ? "" : named;
        const listing: Listing = {
          of: "api-keys",
          namespace: userId,
          prefix: includeRevoked ? WITH_REVOKED : NO_PREFIX,
        };
        const after = cursor === "" ? null : verifyPageToken(state, listing, cursor, "cursor");
        return { consistency: ReadConsistency.LINEARIZABLE, limit, userId, listing, after };
      },
      ({ state }, { limit, userId, listing, after }) => {
        const isVisible = managedUsers(state, call.principal.subject);
        if (!all && !isVisible(userId)) {
          return { keys: [], next_cursor: null };
        }
        const page = all
          ? listApiKeys(state, after, limit, includeRevoked, isVisible)
          : listApiKeysOf(state, userId, after, limit, includeRevoked);
        const { items, lastRow } = page;
        const next = lastRow === null ? null : signPageToken(state, listing, lastRow);
        return { keys: items.map(apiKeyBody), next_cursor: next };
      },
      reply,
    );
  }

  /** After the answer, no later request with the key or its tokens succeeds, at any member. */
  revokeKey(call: Call, apiKeyId: string, reply: Reply<RevokeKeyBody>): void {
    const operation = () => ({ kind: "revoke-api-key", apiKeyId: accountIdField("api_key_id", apiKeyId) }) as const;
    const response = (result: RevokeApiKeyResult): RevokeKeyBody => {
      return { api_key_id: result.apiKeyId, revoked: true, revoked_at: timestamp(result.revokedAtMs) };
    };
    this.#executor.submit(call, OWN, operation, response, reply);
  }
}
