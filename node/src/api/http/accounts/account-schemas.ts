/** The schemas of users and API keys in answers, for the OpenAPI document. */

import type { ApiKeyBody, UserBody } from "@quoin/proto";
import * as z from "zod";

const ROLES = ["viewer", "member", "admin", "owner"] as const;

export const RoleSchema = z.enum(ROLES).describe("What the user may do; each role includes the roles before it");

/** A time of the wall clock in UTC, with milliseconds. */
export const TimestampSchema = z.string().meta({ format: "date-time" });

export const UserSchema = z.object({
  user_id: z.string().meta({ format: "uuid" }),
  email: z.string(),
  role: z.enum(ROLES),
  namespaces: z.array(z.string()).describe('Namespaces in which the user may do it; "*" = all'),
  status: z.enum(["unverified", "active", "disabled"]),
  created_at: TimestampSchema,
}) satisfies z.ZodType<UserBody>;

export const ListedApiKeySchema = z.object({
  api_key_id: z.string().meta({ format: "uuid" }),
  name: z.string(),
  key_prefix: z.string().describe("The part of the key that is not secret"),
  created_at: TimestampSchema,
  expires_at: TimestampSchema.nullable(),
  last_used_at: TimestampSchema.nullable().describe(
    "Accurate to the minute. A member reports uses once a second, so a first use shows a moment later",
  ),
  revoked_at: TimestampSchema.nullable(),
}) satisfies z.ZodType<ApiKeyBody>;
