/** POST, GET and DELETE of /keys: API keys. */

import { z } from "zod";
import type { ApiKeyMethods, CreatedApiKey, ListKeysBody, RevokeKeyBody } from "../methods/index.ts";
import { ListedApiKeySchema, TimestampSchema } from "./account-schemas.ts";
import { methodAnswer } from "./method-answer.ts";
import { cursor, limit } from "./page-parameters.ts";
import { flag, optional, uuid } from "./parameters.ts";
import { jsonBody, type Route, route } from "./route.ts";

const NAME_CHARACTERS_MAX = 128;
const EXPIRES_IN_DAYS_MAX = 3_650;

const CreateKeyRequest = z.object({
  name: z.string().meta({ minLength: 1, maxLength: NAME_CHARACTERS_MAX, description: "For people" }),
  expires_in_days: z
    .int()
    .min(1)
    .max(EXPIRES_IN_DAYS_MAX)
    .nullish()
    .describe("The key is not valid any more after so many days; without it there is no end"),
});

const CreatedKeyResponse: z.ZodType<CreatedApiKey> = z.object({
  api_key_id: z.string().meta({ format: "uuid" }),
  name: z.string(),
  key: z.string().describe("The API key in plain text, in this answer and never again"),
  created_at: TimestampSchema,
  expires_at: TimestampSchema.nullable(),
});

const ListKeysResponse: z.ZodType<ListKeysBody> = z.object({
  keys: z.array(ListedApiKeySchema),
  next_cursor: z.string().nullable().describe("Where the next page begins; null if this is the last one"),
});

const RevokedKeyResponse: z.ZodType<RevokeKeyBody> = z.object({
  api_key_id: z.string().meta({ format: "uuid" }),
  revoked: z.literal(true),
  revoked_at: TimestampSchema,
});

/** The routes of API keys: creating one needs write access, listing and revoking one's own needs any valid token. */
export function keyRoutes(methods: ApiKeyMethods): readonly Route[] {
  return [createKeyRoute(methods), listKeysRoute(methods), revokeKeyRoute(methods)];
}

function createKeyRoute(methods: ApiKeyMethods): Route {
  return route({
    method: "POST",
    path: "/keys",
    operationId: "createKey",
    summary: "Make an API key, which acts as its maker",
    access: "write",
    body: jsonBody(CreateKeyRequest),
    success: { status: 201, description: "The API key", schema: CreatedKeyResponse },
    errors: ["storage_full"],
    isSecret: true,
    handle: async (call, { body: { name, expires_in_days } }) => {
      const request = { name, expiresInDays: expires_in_days ?? null };
      return { json: await methodAnswer<CreatedApiKey>((reply) => methods.createKey(call, request, reply)) };
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
      include_revoked: flag("Whether revoked keys are listed as well"),
      user_id: optional(
        uuid(
          "The user whose keys are listed; you by default. Keys of another user need admin, and that user's role and namespaces",
        ),
        null,
      ),
      all: flag("Whether the keys of all users are listed whose role and namespaces you hold; needs admin"),
    },
    success: { status: 200, description: "A page of API keys", schema: ListKeysResponse },
    errors: ["insufficient_role"],
    isSecret: true,
    handle: async (call, { query }) => {
      const request = {
        limit: query.limit,
        cursor: query.cursor,
        includeRevoked: query.include_revoked,
        userId: query.user_id,
        all: query.all,
      };
      return { json: await methodAnswer<ListKeysBody>((reply) => methods.listKeys(call, request, reply)) };
    },
  });
}

function revokeKeyRoute(methods: ApiKeyMethods): Route {
  return route({
    method: "DELETE",
    path: "/keys/{api_key_id}",
    operationId: "revokeKey",
    summary: "Revoke an API key and all of its tokens, at once and for ever",
    access: "token",
    pathParameters: {
      api_key_id: uuid("The id of an API key of yours, or of a user whose role and namespaces you hold as admin"),
    },
    success: { status: 200, description: "The API key is revoked, now or already", schema: RevokedKeyResponse },
    errors: ["key_not_found"],
    isSecret: true,
    handle: async (call, { path }) => ({
      json: await methodAnswer<RevokeKeyBody>((reply) => methods.revokeKey(call, path.api_key_id, reply)),
    }),
  });
}
