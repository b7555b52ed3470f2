/** GET /billing/usage: the usage, by hour or day and by API key. */

import {
  type NamespaceUsageBody,
  parseInstant,
  type QuotaBody,
  type UsageBody,
  type UsageNumbersBody,
} from "@quoin/proto";
import * as z from "zod";
import { COUNTED_QUOTAS, type CountedQuota, NAMESPACE_PATTERN } from "../../../state/index.ts";
import type { NamespaceUse, UsageMethods, UsageNumbers, UsageReport } from "../../methods/index.ts";
import { methodAnswer, timestamp } from "../answers/index.ts";
import { optional, type Parameter, ParameterProblem, required } from "../requests/index.ts";
import { type Route, route } from "../routing/index.ts";
import { TimestampSchema } from "./account-schemas.ts";

const GRANULARITIES = ["hour", "day"] as const;

const count = z.int().min(0);

const NumbersSchema = z.object({
  requests: count.describe("Requests and calls of any kind"),
  append_requests: count.describe("The requests that append one event or a batch"),
  events_appended: count,
  bytes_appended: count,
  bytes_stored: count
    .nullable()
    .describe(
      "At the end of the period. If you may not read all namespaces: what your namespaces have now; null for a past period",
    ),
  kv_operations: count,
  lock_operations: count,
  memory_operations: count,
  memory_bytes: count
    .nullable()
    .describe("The total size of memory regions at the end of the period; null if bytes_stored is null"),
});

const QuotaSchema = z.object({
  used: count,
  limit: count.describe("The present limit from the settings; it may be below the use"),
});

const UsageResponse: z.ZodType<UsageBody> = z.object({
  period: z.object({ start: TimestampSchema, end: TimestampSchema }),
  totals: NumbersSchema.describe(
    "The whole cluster if you may read all namespaces; otherwise your own usage and, for administrators, also the usage " +
      "of users whose role and namespaces they have",
  ),
  buckets: z
    .array(z.object({ start: TimestampSchema, ...NumbersSchema.shape }))
    .describe("The parts of the totals, by hour or day; hours or days without any usage are left out"),
  by_key: z
    .array(
      z.object({
        api_key_id: z.string().meta({ format: "uuid" }),
        requests: count,
        events_appended: count,
        bytes_appended: count,
      }),
    )
    .describe("Your own API keys; for administrators also those of users whose role and namespaces they have"),
  namespaces: z
    .array(
      z.object({
        namespace: z.string().meta({ pattern: NAMESPACE_PATTERN.source }),
        quotas: z.object({
          bytes: QuotaSchema.describe("Bytes of keys, values, locks, and descriptions of memory regions"),
          keys: QuotaSchema,
          locks: QuotaSchema.describe("Exclusive and read-write locks"),
          memory_bytes: QuotaSchema.describe("Total size of the memory regions"),
          memory_regions: QuotaSchema,
          event_bytes: QuotaSchema.describe("Bytes of events and of their stored keys"),
          event_logs: QuotaSchema,
          sessions: QuotaSchema,
        }),
      }),
    )
    .meta({ maxItems: 1_000 })
    .describe("Use and limits of your namespaces now, the one nearest to a limit first; empty namespaces are left out"),
  limits: z.object({ requests_per_minute: count.describe("For one user at one member; 0 = no limit") }),
  as_of: TimestampSchema,
});

/** The route of the usage, for users with read access. */
export function usageRoute(methods: UsageMethods): Route {
  return route({
    method: "GET",
    path: "/billing/usage",
    operationId: "getUsage",
    summary: "The usage in a period of at most 100 days",
    access: "read",
    query: {
      from: instant("Beginning of the period; by default the beginning of the month of its end"),
      to: instant("End of the period; by default now"),
      granularity: optional(
        required("Division of the period; by default days", { type: "string", enum: GRANULARITIES }, (text) => {
          const granularity = GRANULARITIES.find((name) => name === text);
          if (granularity === undefined) {
            throw new ParameterProblem(`must be one of ${GRANULARITIES.join(", ")}`);
          }
          return granularity;
        }),
        "day",
      ),
    },
    success: { status: 200, description: "The usage that you may see", schema: UsageResponse },
    isSecret: true,
    handle: async (call, { query: { from: fromMs, to: toMs, granularity } }) => {
      const request = { fromMs, toMs, granularity };
      return { json: usageBody(await methodAnswer<UsageReport>((reply) => methods.getUsage(call, request, reply))) };
    },
  });
}

function usageBody(report: UsageReport): UsageBody {
  return {
    period: { start: timestamp(report.startMs), end: timestamp(report.endMs) },
    totals: numbersBody(report.totals),
    buckets: report.buckets.map((bucket) => ({ start: timestamp(bucket.startMs), ...numbersBody(bucket) })),
    by_key: report.byKey.map(({ apiKeyId, requests, eventsAppended, bytesAppended }) => ({
      api_key_id: apiKeyId,
      requests,
      events_appended: eventsAppended,
      bytes_appended: bytesAppended,
    })),
    namespaces: report.namespaces.map(namespaceBody),
    limits: { requests_per_minute: report.requestsPerMinute },
    as_of: timestamp(report.asOfMs),
  };
}

function numbersBody({ levels, ...counts }: UsageNumbers): UsageNumbersBody {
  return {
    requests: counts.requests,
    append_requests: counts.appendRequests,
    events_appended: counts.eventsAppended,
    bytes_appended: counts.bytesAppended,
    bytes_stored: levels?.bytesStored ?? null,
    kv_operations: counts.kvOperations,
    lock_operations: counts.lockOperations,
    memory_operations: counts.memoryOperations,
    memory_bytes: levels?.memoryBytes ?? null,
  };
}

function namespaceBody({ namespace, usage, limits }: NamespaceUse): NamespaceUsageBody {
  const quotas = COUNTED_QUOTAS.map((quota) => [quota, { used: usage[quota], limit: limits[quota] }]);
  return { namespace, quotas: Object.fromEntries(quotas) as Readonly<Record<CountedQuota, QuotaBody>> };
}

/** Unix time in milliseconds; null = not given. */
function instant(description: string): Parameter<number | null> {
  return optional(required(description, { type: "string", format: "date-time" }, readInstant), null);
}

function readInstant(text: string): number {
  const time = parseInstant(text);
  if (!(time >= 0)) {
    throw new ParameterProblem("must be a date or a time in ISO 8601, such as 2030-01-31T12:00:00Z");
  }
  return time;
}
