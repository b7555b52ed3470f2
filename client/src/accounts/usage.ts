/** The usage of a cluster, as counted for billing. Every member serves it over HTTP. */

import type { UsageBody, UsageNumbersBody } from "@quoin/proto";
import { getJson, type HttpCallOptions, type HttpMembers } from "../calls/index.ts";
import { httpCallRules, instant, oneOf, optionsCheck } from "../options/index.ts";

/** The usage in a period. */
export interface UsageNumbers {
  /** Requests and calls of any kind. */
  readonly requests: number;
  /** Of those, appends of one event or a batch. */
  readonly appendRequests: number;
  readonly eventsAppended: number;
  readonly bytesAppended: number;
  /**
   * At the end of the period. For users who may not read all namespaces: the current value of their namespaces;
   * undefined if the period has ended, and in single hours and days.
   */
  readonly bytesStored: number | undefined;
  readonly kvOperations: number;
  readonly lockOperations: number;
  readonly memoryOperations: number;
  /** The total size of memory regions at the end of the period; undefined where `bytesStored` is. */
  readonly memoryBytes: number | undefined;
}

/** The usage of one API key. */
export interface ApiKeyUsage extends Pick<UsageNumbers, "requests" | "eventsAppended" | "bytesAppended"> {
  readonly apiKeyId: string;
}

/** The usage of a namespace, and its limit by a quota. */
export interface QuotaUse {
  readonly used: number;
  /** By the current settings; it may be below `used`. */
  readonly limit: number;
}

/** The current usage of a namespace. */
export interface NamespaceUse {
  readonly namespace: string;
  /** Bytes of keys, values, locks, and descriptions of memory regions. */
  readonly bytes: QuotaUse;
  readonly keys: QuotaUse;
  /** Of both kinds. */
  readonly locks: QuotaUse;
  /** The sizes of the memory regions. */
  readonly memoryBytes: QuotaUse;
  readonly memoryRegions: QuotaUse;
  /** Bytes of events, and of their remembered keys. */
  readonly eventBytes: QuotaUse;
  readonly eventLogs: QuotaUse;
}

/** The usage in a period. Times are Unix times. */
export interface Usage {
  readonly startMs: number;
  readonly endMs: number;
  /**
   * For users who may read all namespaces: of the cluster. For other users: their own usage; for administrators also
   * that of users whose role and namespaces they have.
   */
  readonly totals: UsageNumbers;
  /** The hours or days with any usage, with the same scope as the totals. */
  readonly buckets: readonly (UsageNumbers & { readonly startMs: number })[];
  /** One's own API keys; for administrators also those of users whose role and namespaces they have. */
  readonly byKey: readonly ApiKeyUsage[];
  /** The current usage of one's own namespaces, the one nearest to a limit first; at most 1,000. */
  readonly namespaces: readonly NamespaceUse[];
  /** The request rate of one user on one member; 0 = no limit. */
  readonly requestsPerMinuteMax: number;
  readonly asOfMs: number;
}

/** Options of read. */
export interface UsageOptions extends HttpCallOptions {
  /**
   * The beginning of the period; a text is parsed by the service, such as `2030-01-31`. Default: the beginning of the
   * month of its end.
   */
  readonly from?: Date | string | undefined;
  /** The end of the period, at most 100 days later. Default: now. */
  readonly to?: Date | string | undefined;
  /** Default `day`. */
  readonly granularity?: "hour" | "day" | undefined;
}

const checkRead = optionsCheck<UsageOptions>({
  ...httpCallRules,
  from: instant,
  to: instant,
  granularity: oneOf("hour", "day"),
});

/** Reads the usage. */
export class UsageClient {
  readonly #members: HttpMembers;

  constructor(members: HttpMembers) {
    this.#members = members;
  }

  /** The usage in a period, by hours or days. */
  async read(options: UsageOptions = {}): Promise<Usage> {
    checkRead(options, "usage.read");
    const { from, to, granularity = "day", ...call } = options;
    const query = new URLSearchParams({ granularity });
    if (from !== undefined) {
      query.set("from", instantOf(from));
    }
    if (to !== undefined) {
      query.set("to", instantOf(to));
    }
    const usage: UsageBody = await getJson(this.#members, `/billing/usage?${query}`, call);
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
      namespaces: usage.namespaces.map(({ namespace, quotas }) => ({
        namespace,
        bytes: quotas.bytes,
        keys: quotas.keys,
        locks: quotas.locks,
        memoryBytes: quotas.memory_bytes,
        memoryRegions: quotas.memory_regions,
        eventBytes: quotas.event_bytes,
        eventLogs: quotas.event_logs,
      })),
      requestsPerMinuteMax: usage.limits.requests_per_minute,
      asOfMs: Date.parse(usage.as_of),
    };
  }
}

function instantOf(instant: Date | string): string {
  return typeof instant === "string" ? instant : instant.toISOString();
}

function numbersOf(numbers: UsageNumbersBody): UsageNumbers {
  return {
    requests: numbers.requests,
    appendRequests: numbers.append_requests,
    eventsAppended: numbers.events_appended,
    bytesAppended: numbers.bytes_appended,
    bytesStored: numbers.bytes_stored ?? undefined,
    kvOperations: numbers.kv_operations,
    lockOperations: numbers.lock_operations,
    memoryOperations: numbers.memory_operations,
    memoryBytes: numbers.memory_bytes ?? undefined,
  };
}
