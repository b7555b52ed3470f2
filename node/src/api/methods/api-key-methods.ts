/**
 * Creates, lists and revokes API keys. A key acts as the user who created it, with the present rights of that user.
 * Only the answer to its creation contains the key. Users list and revoke their own keys with any valid token.
 * Administrators also list and revoke the keys of users whose role and namespaces they have. Any other key seems not to
 * exist (S43).
 */

import { ReadConsistency } from "@quoin/proto";
import { createApiKeyMaterial, type Listing, signPageToken, verifyPageToken } from "../../access/index.ts";
import {
  type ApiKey,
  apiKeyNotFound,
  type CreateApiKeyResult,
  createApiKeyOperation,
  listApiKeys,
  listApiKeysOf,
  managedUsers,
  type RequiredAccess,
  type RevokeApiKeyResult,
  readApiKey,
  revokeApiKeyOperation,
  type StateReader,
} from "../../state/index.ts";
import { accountIdField, keyLifetimeField, keyNameField } from "./account-field-rules.ts";
import { attempt } from "./attempt.ts";
import type { Call, Reply } from "./call.ts";
import { isAllowed } from "./caller-rights.ts";
import type { Executor } from "./executor.ts";
import { pageSizeField } from "./field-rules.ts";

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
  /** 0 = it does not expire. */
  readonly expiresInDays: bigint;
}

export interface ListKeysRequest {
  /** 0 = the default. */
  readonly pageSize: number;
  /** "" = the first page. */
  readonly pageToken: string;
  readonly includeRevoked: boolean;
  /** The user whose keys are listed; "" = the caller. */
  readonly userId: string;
  /** Keys of all users that the caller may manage, whatever `userId` says. */
  readonly all: boolean;
}

export interface CreatedKey extends CreateApiKeyResult {
  /** In plain text; "" in the answer to a retry. */
  readonly key: string;
}

/** A page of API keys, true at a revision. */
export interface ListedKeys {
  readonly keys: readonly ApiKey[];
  /** "" = this is the last page. */
  readonly nextPageToken: string;
  readonly revision: number;
}

export class ApiKeyMethods {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  createKey(call: Call, request: CreateKeyRequest, reply: Reply<CreatedKey>): void {
    const { apiKey: key, apiKeyId, prefix, sha256 } = createApiKeyMaterial();
    const operation = () => {
      const fields = { name: keyNameField(request.name), lifetimeMs: keyLifetimeField(request.expiresInDays) };
      return { kind: "create-api-key", apiKeyId, prefix, sha256, ...fields } as const;
    };
    this.#executor.submit(
      call,
      createApiKeyOperation,
      CREATE,
      operation,
      (result) => result,
      (answer, replayed) => {
        // Only the attempt that was executed knows the key that it made.
        reply(
          answer instanceof Error ? answer : { ...answer, key: answer.apiKey.apiKeyId === apiKeyId ? key : "" },
          replayed,
        );
      },
    );
  }

  listKeys(call: Call, request: ListKeysRequest, reply: Reply<ListedKeys>): void {
    const { includeRevoked, all, pageToken } = request;
    const isOwn = !all && (request.userId === "" || request.userId.toLowerCase() === call.principal.subject);
    this.#executor.read(
      call,
      isOwn ? OWN : OTHERS,
      (state) => {
        const limit = pageSizeField(request.pageSize);
        const named = request.userId === "" ? call.principal.subject : accountIdField("user_id", request.userId);
        const userId = all ? "" : named;
        const listing: Listing = {
          of: "api-keys",
          namespace: userId,
          prefix: includeRevoked ? WITH_REVOKED : NO_PREFIX,
        };
        const after = pageToken === "" ? null : verifyPageToken(state, listing, pageToken);
        return { consistency: ReadConsistency.LINEARIZABLE, limit, userId, listing, after };
      },
      ({ state, revision }, { limit, userId, listing, after }) => {
        const isVisible = managedUsers(state, call.principal.subject);
        if (!all && !isVisible(userId)) {
          return { keys: [], nextPageToken: "", revision };
        }
        const page = all
          ? listApiKeys(state, after, limit, includeRevoked, isVisible)
          : listApiKeysOf(state, userId, after, limit, includeRevoked);
        const { items, lastRow } = page;
        return { keys: items, nextPageToken: lastRow === null ? "" : signPageToken(state, listing, lastRow), revision };
      },
      reply,
    );
  }

  /** After the answer, no later request with the key or its tokens succeeds, at any member. */
  revokeKey(call: Call, apiKeyId: string, reply: Reply<RevokeApiKeyResult>): void {
    const operation = (state: StateReader) => {
      const id = accountIdField("api_key_id", apiKeyId);
      // Apply knows only the user: a token that allows less must not revoke the keys of others.
      const revocation = (now: StateReader) => {
        const isOwn = readApiKey(now, id)?.userId === call.principal.subject;
        if (!isOwn && !isAllowed(call, OTHERS, "ACCESS_DENIED")) {
          throw apiKeyNotFound();
        }
        return { kind: "revoke-api-key", apiKeyId: id } as const;
      };
      const known = attempt(() => revocation(state));
      // This member may not know the key yet, or the rights of the caller.
      return known instanceof Error ? this.#executor.afterBarrier(call, revocation) : known;
    };
    this.#executor.submit(call, revokeApiKeyOperation, OWN, operation, (result) => result, reply);
  }
}
