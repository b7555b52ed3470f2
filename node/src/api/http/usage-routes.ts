/** GET /billing/usage: what was used, by hour or day and by API key. */

import { z } from "zod";
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
  bytes_stored: count.describe("At the end of the time"),
  kv_operations: count,
  lock_operations: count,
  memory_operations: count,
  memory_bytes: count.describe("The sizes of all memory regions together, at the end of the time"),
});

const UsageResponse: z.ZodType<UsageBody> = z.object({
  period: z.object({ start: TimestampSchema, end: TimestampSchema }),
  totals: NumbersSchema,
  buckets: z
    .array(z.object({ start: TimestampSchema, ...NumbersSchema.shape }))
    .describe("The hours or days in which something was counted"),
  by_key: z
    .array(
      z.object({
        api_key_id: z.string().meta({ format: "uuid" }),
        requests: count,
        events_appended: count,
        bytes_appended: count,
      }),
    )
    .describe("Your own API keys; all of them for administrators"),
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
    success: { status: 200, description: "The usage of the cluster", schema: UsageResponse },
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
