/** The usage of a cluster, as counted for billing. */

import {
  type NamespaceUse as NamespaceUseMessage,
  serviceDefinitions,
  type UsageCounts,
  UsageGranularity,
} from "@quoin/proto";
import { type CallOptions, execute, type OperationContext, unaryMethod } from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import { callRules, instant, instantField, oneOf, optionsCheck } from "../options/index.ts";

const getUsageMethod = unaryMethod(serviceDefinitions.AccountService.getUsage);

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
  readonly sessions: QuotaUse;
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
  /** The rate of HTTP requests of one user on one member; 0 = no limit. */
  readonly requestsPerMinuteMax: number;
  readonly asOfMs: number;
}

/** Options of read. */
export interface UsageOptions extends CallOptions {
  /**
   * The beginning of the period, rounded down to its hour or day; a text is a day or an instant in ISO 8601, such as
   * `2030-01-31` or `2030-01-31T12:00:00Z`. Default: the beginning of the month of its end.
   */
  readonly from?: Date | string | undefined;
  /** The end of the period, at most 100 days later. Default: now. */
  readonly to?: Date | string | undefined;
  /** Default `day`. */
  readonly granularity?: "hour" | "day" | undefined;
}

const GRANULARITIES = { hour: UsageGranularity.HOUR, day: UsageGranularity.DAY } as const;

const checkRead = optionsCheck<UsageOptions>({
  ...callRules,
  from: instant,
  to: instant,
  granularity: oneOf("hour", "day"),
});

/** Reads the usage. */
export class UsageClient {
  readonly #context: OperationContext;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  /** The usage in a period, by hours or days. */
  async read(options: UsageOptions = {}): Promise<Usage> {
    checkRead(options, "usage.read");
    const { from, to, granularity = "day", ...call } = options;
    const request = {
      fromMs: from === undefined ? 0n : instantField("from", from),
      toMs: to === undefined ? 0n : instantField("to", to),
      granularity: GRANULARITIES[granularity],
    };
    const { message: usage } = await execute(this.#context, getUsageMethod, request, call);
    return {
      startMs: Number(usage.startMs),
      endMs: Number(usage.endMs),
      totals: numbersOf(usage.totals),
      buckets: usage.buckets.map(({ startMs, counts }) => ({ startMs: Number(startMs), ...numbersOf(counts) })),
      byKey: usage.apiKeys.map((key) => ({
        apiKeyId: key.apiKeyId,
        requests: Number(key.requests),
        eventsAppended: Number(key.eventsAppended),
        bytesAppended: Number(key.bytesAppended),
      })),
      namespaces: usage.namespaces.map(namespaceOf),
      requestsPerMinuteMax: Number(usage.requestsPerMinute),
      asOfMs: Number(usage.asOfMs),
    };
  }
}

function numbersOf(counts: UsageCounts | undefined): UsageNumbers {
  if (counts === undefined) {
    throw new QuoinError({ code: "INTERNAL", message: "the answer lacks the counts of a period" });
  }
  return {
    requests: Number(counts.requests),
    appendRequests: Number(counts.appendRequests),
    eventsAppended: Number(counts.eventsAppended),
    bytesAppended: Number(counts.bytesAppended),
    bytesStored: counts.bytesStored === undefined ? undefined : Number(counts.bytesStored),
    kvOperations: Number(counts.kvOperations),
    lockOperations: Number(counts.lockOperations),
    memoryOperations: Number(counts.memoryOperations),
    memoryBytes: counts.memoryBytes === undefined ? undefined : Number(counts.memoryBytes),
  };
}

function namespaceOf({ namespace, quotas }: NamespaceUseMessage): NamespaceUse {
  const useOf = (name: string): QuotaUse => {
    const quota = quotas.find((one) => one.name === name);
    if (quota === undefined) {
      throw new QuoinError({ code: "INTERNAL", message: `the answer lacks the quota ${name} of a namespace` });
    }
    return { used: Number(quota.used), limit: Number(quota.limit) };
  };
  return {
    namespace,
    bytes: useOf("bytes"),
    keys: useOf("keys"),
    locks: useOf("locks"),
    memoryBytes: useOf("memory_bytes"),
    memoryRegions: useOf("memory_regions"),
    eventBytes: useOf("event_bytes"),
    eventLogs: useOf("event_logs"),
    sessions: useOf("sessions"),
  };
}
