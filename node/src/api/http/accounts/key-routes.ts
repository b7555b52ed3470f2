/** The routes of API keys: POST, GET and DELETE of /keys. */

import type { ApiKeysBody, CreatedApiKeyBody } from "@quoin/proto";
import * as z from "zod";
import type { RevokeApiKeyResult } from "../../../state/index.ts";
import type { ApiKeyMethods, CreatedKey, ListedKeys } from "../../methods/index.ts";
import { methodAnswer, timestamp } from "../answers/index.ts";
import { cursor, flag, limit, optional, uuid } from "../requests/index.ts";
import { jsonBody, type Route, route } from "../routing/index.ts";
import { apiKeysBody, createdApiKeyBody } from "./account-bodies.ts";
import { ListedApiKeySchema, TimestampSchema } from "./account-schemas.ts";

const NAME_CHARACTERS_MAX = 128;
const EXPIRES_IN_DAYS_MAX = 3_650;

const CreateKeyRequest = z.strictObject({
  name: z.string().meta({ minLength: 1, maxLength: NAME_CHARACTERS_MAX, description: "For people" }),
  expires_in_days: z
    .int()
    .min(1)
    .max(EXPIRES_IN_DAYS_MAX)
    .nullish()
    .describe("Days until the key expires; without it the key does not expire"),
});

const CreatedKeyResponse: z.ZodType<CreatedApiKeyBody> = z.object({
  api_key_id: z.string().meta({ format: "uuid" }),
  name: z.string(),
  key: z.string().describe("The API key in plain text; only this answer contains it"),
  created_at: TimestampSchema,
  expires_at: TimestampSchema.nullable(),
});

const ListKeysResponse: z.ZodType<ApiKeysBody> = z.object({
  keys: z.array(ListedApiKeySchema),
  next_cursor: z.string().nullable().describe("Cursor of the next page; null if this is the last page"),
});

const RevokedKeyResponse = z.object({
  api_key_id: z.string().meta({ format: "uuid" }),
  revoked: z.literal(true),
  revoked_at: TimestampSchema,
});

/**
 * The routes of API keys. To create a key needs write access; to list and revoke one's own keys needs any valid token.
 */
export function keyRoutes(methods: ApiKeyMethods): readonly Route[] {
  return [createKeyRoute(methods), listKeysRoute(methods), revokeKeyRoute(methods)];
}

function createKeyRoute(methods: ApiKeyMethods): Route {
  return route({
    method: "POST",
    path: "/keys",
    operationId: "createKey",
    summary: "Create an API key, which acts as its creator",
    access: "write",
    body: jsonBody(CreateKeyRequest),
    success: { status: 201, description: "The API key", schema: CreatedKeyResponse },
    errors: ["storage_full"],
    isSecret: true,
    handle: async (call, { body: { name, expires_in_days } }) => {
      const request = { name, expiresInDays: BigInt(expires_in_days ?? 0) };
      return {
        json: createdApiKeyBody(await methodAnswer<CreatedKey>((reply) => methods.createKey(call, request, reply))),
      };
    },
  });
}

function listKeysRoute(methods: ApiKeyMethods): Route {
  return route({
    method: "GET",
    path: "/keys",
    operationId: "listKeys",
    summary: "List API keys, without their secrets",
    access: "token",
    query: {
      limit,
      cursor,
      include_revoked: flag("Whether to list revoked keys too"),
      user_id: optional(
        uuid(
          "The user whose keys to list; by default you. Another user's keys need admin, and that user's role and namespaces",
        ),
        "",
      ),
      all: flag("Whether to list the keys of all users whose role and namespaces you have; needs admin"),
    },
    success: { status: 200, description: "A page of API keys", schema: ListKeysResponse },
    errors: ["insufficient_role"],
    isSecret: true,
    handle: async (call, { query }) => {
      const request = {
        pageSize: query.limit,
        pageToken: query.cursor,
        includeRevoked: query.include_revoked,
        userId: query.user_id,
        all: query.all,
      };
      return { json: apiKeysBody(await methodAnswer<ListedKeys>((reply) => methods.listKeys(call, request, reply))) };
    },
  });
}

function revokeKeyRoute(methods: ApiKeyMethods): Route {
  return route({
    method: "DELETE",
    path: "/keys/{api_key_id}",
    operationId: "revokeKey",
    summary: "Revoke an API key and all of its tokens, at once and permanently",
    access: "token",
    pathParameters: {
      api_key_id: uuid("The id of your own API key; as admin also of a user whose role and namespaces you have"),
    },
    success: { status: 200, description: "The API key is revoked, now or before", schema: RevokedKeyResponse },
    errors: ["key_not_found"],
    isSecret: true,
    handle: async (call, { path }) => {
      const { apiKeyId, revokedAtMs } = await methodAnswer<RevokeApiKeyResult>((reply) => {
        methods.revokeKey(call, path.api_key_id, reply);
      });
      return { json: { api_key_id: apiKeyId, revoked: true, revoked_at: timestamp(revokedAtMs) } as const };
    },
  });
}
