/** What was used of a cluster, as it is counted for billing. Served over HTTP, by every member. */

import { getJson } from "./http-json.ts";
import type { HttpCallOptions, HttpMembers } from "./http-members.ts";

/** What was counted in some time. */
export interface UsageNumbers {
  /** Requests and calls of any kind. */
  readonly requests: number;
  /** Of those, appends of one event or a batch. */
  readonly appendRequests: number;
  readonly eventsAppended: number;
  readonly bytesAppended: number;
  /** At the end of the time. */
  readonly bytesStored: number;
  readonly kvOperations: number;
  readonly lockOperations: number;
  readonly memoryOperations: number;
  /** The sizes of all memory regions together, at the end of the time. */
  readonly memoryBytes: number;
}

/** What was counted for one API key. */
export interface ApiKeyUsage extends Pick<UsageNumbers, "requests" | "eventsAppended" | "bytesAppended"> {
  readonly apiKeyId: string;
}

/** What was used in a period. Times are Unix times. */
export interface Usage {
  readonly startMs: number;
  readonly endMs: number;
  readonly totals: UsageNumbers;
  /** The hours or days in which something was counted. */
  readonly buckets: readonly (UsageNumbers & { readonly startMs: number })[];
  /** One's own API keys; all of them for administrators. */
  readonly byKey: readonly ApiKeyUsage[];
  /** Of one user at one member; 0 = as many as there come. */
  readonly requestsPerMinuteMax: number;
  readonly asOfMs: number;
}

/** Options of read. */
export interface UsageOptions extends HttpCallOptions {
  /** Where the period begins; text as the service reads it, such as `2030-01-31`. Default: with the month of its end. */
  readonly from?: Date | string | undefined;
  /** Where it ends, at most 100 days later. Default: now. */
  readonly to?: Date | string | undefined;
  /** Default `day`. */
  readonly granularity?: "hour" | "day" | undefined;
}

interface WireNumbers {
  readonly requests: number;
  readonly append_requests: number;
  readonly events_appended: number;
  readonly bytes_appended: number;
  readonly bytes_stored: number;
  readonly kv_operations: number;
  readonly lock_operations: number;
  readonly memory_operations: number;
  readonly memory_bytes: number;
}

interface WireUsage {
  readonly period: { readonly start: string; readonly end: string };
  readonly totals: WireNumbers;
  readonly buckets: readonly (WireNumbers & { readonly start: string })[];
  readonly by_key: readonly (Pick<WireNumbers, "requests" | "events_appended" | "bytes_appended"> & {
    readonly api_key_id: string;
  })[];
  readonly limits: { readonly requests_per_minute: number };
  readonly as_of: string;
}

/** The usage. */
export class UsageClient {
  readonly #members: HttpMembers;

  constructor(members: HttpMembers) {
    this.#members = members;
  }

  /** What was used in a period, divided into hours or days. */
  async read({ from, to, granularity = "day", ...options }: UsageOptions = {}): Promise<Usage> {
    const query = new URLSearchParams({ granularity });
    if (from !== undefined) query.set("from", instantOf(from));
    if (to !== undefined) query.set("to", instantOf(to));
    const usage: WireUsage = await getJson(this.#members, `/billing/usage?${query}`, options);
    return {
      startMs: Date.parse(usage.period.start),
      endMs: Date.parse(usage.period.end),
      totals: numbersOf(usage.totals),
      buckets: usage.buckets.map((bucket) => ({ startMs: Date.parse(bucket.start), ...numbersOf(bucket) })),
      byKey: usage.by_key.map((key) => ({
        apiKeyId: key.api_key_id,
        requests: key.requests,
        eventsAppended: key.events_appended,
        bytesAppended: key.bytes_appended,
      })),
      requestsPerMinuteMax: usage.limits.requests_per_minute,
      asOfMs: Date.parse(usage.as_of),
    };
  }
}

function instantOf(instant: Date | string): string {
  return typeof instant === "string" ? instant : instant.toISOString();
}

function numbersOf(numbers: WireNumbers): UsageNumbers {
  return {
    requests: numbers.requests,
    appendRequests: numbers.append_requests,
    eventsAppended: numbers.events_appended,
    bytesAppended: numbers.bytes_appended,
    bytesStored: numbers.bytes_stored,
    kvOperations: numbers.kv_operations,
    lockOperations: numbers.lock_operations,
    memoryOperations: numbers.memory_operations,
    memoryBytes: numbers.memory_bytes,
  };
}
