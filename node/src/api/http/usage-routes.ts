/** GET /billing/usage: what was used, by hour or day and by API key. */

import { z } from "zod";
import { NAMESPACE_PATTERN } from "../../state/index.ts";
import type { UsageBody, UsageMethods } from "../methods/index.ts";
import { TimestampSchema } from "./account-schemas.ts";
import { methodAnswer } from "./method-answer.ts";
import { optional, type Parameter, ParameterProblem, required } from "./parameters.ts";
import { type Route, route } from "./route.ts";

const GRANULARITIES = ["hour", "day"];

const count = z.int().min(0);

const NumbersSchema = z.object({
  requests: count.describe("Requests and calls of any kind"),
  append_requests: count.describe("Of those, appends of one event or a batch"),
  events_appended: count,
  bytes_appended: count,
  bytes_stored: count
    .nullable()
    .describe(
      "At the end of the time. For users who may not read all namespaces: what theirs have now, null where the time is over",
    ),
  kv_operations: count,
  lock_operations: count,
  memory_operations: count,
  memory_bytes: count
    .nullable()
    .describe("The sizes of memory regions together, at the end of the time; null where bytes_stored is"),
});

const QuotaSchema = z.object({
  used: count,
  limit: count.describe("As settings have it now; it may be below what is used"),
});

const UsageResponse: z.ZodType<UsageBody> = z.object({
  period: z.object({ start: TimestampSchema, end: TimestampSchema }),
  totals: NumbersSchema.describe(
    "Of the cluster for users who may read all namespaces; for other users their own usage, and for administrators also " +
      "that of users whose role and namespaces they hold",
  ),
  buckets: z
    .array(z.object({ start: TimestampSchema, ...NumbersSchema.shape }))
    .describe("The hours or days in which something was counted, of what the totals are of"),
  by_key: z
    .array(
      z.object({
        api_key_id: z.string().meta({ format: "uuid" }),
        requests: count,
        events_appended: count,
        bytes_appended: count,
      }),
    )
    .describe("Your own API keys; for administrators also those of users whose role and namespaces they hold"),
  namespaces: z
    .array(
      z.object({
        namespace: z.string().meta({ pattern: NAMESPACE_PATTERN.source }),
        quotas: z.object({
          bytes: QuotaSchema.describe("Of keys, values, locks, and descriptions of memory regions"),
          keys: QuotaSchema,
          locks: QuotaSchema.describe("Of both kinds"),
          memory_bytes: QuotaSchema.describe("The sizes of the memory regions"),
          memory_regions: QuotaSchema,
          event_bytes: QuotaSchema.describe("Of events, and of what is remembered of their keys"),
          event_logs: QuotaSchema,
        }),
      }),
    )
    .meta({ maxItems: 1_000 })
    .describe("What your namespaces have now and may have, the one nearest to a limit first; none that has nothing"),
  limits: z.object({ requests_per_minute: count.describe("Of one user at one member; 0 = as many as there come") }),
  as_of: TimestampSchema,
});

/** The route of the usage, for whoever may read. */
export function usageRoute(methods: UsageMethods): Route {
  return route({
    method: "GET",
    path: "/billing/usage",
    operationId: "getUsage",
    summary: "What was used in a period of at most 100 days",
    access: "read",
    query: {
      from: instant("Where the period begins; at the beginning of the month of its end by default"),
      to: instant("Where it ends; now by default"),
      granularity: optional(
        required("How it is divided; into days by default", { type: "string", enum: GRANULARITIES }, (text) => {
          if (!GRANULARITIES.includes(text)) {
            throw new ParameterProblem(`must be one of ${GRANULARITIES.join(", ")}`);
          }
          return text;
        }),
        null,
      ),
    },
    success: { status: 200, description: "The usage that you may see", schema: UsageResponse },
    isSecret: true,
    handle: async (call, { query }) => ({
      json: await methodAnswer<UsageBody>((reply) => methods.getUsage(call, query, reply)),
    }),
  });
}

/** What an instant is, the method says. */
function instant(description: string): Parameter<string | null> {
  const text = required(description, { type: "string", format: "date-time" }, (given) => given);
  return optional(text, null);
}
