/** The usage for billing. Times are in ISO 8601, in UTC, with milliseconds. */

/** Counts of a period. */
export interface UsageNumbersBody {
  readonly requests: number;
  readonly append_requests: number;
  readonly events_appended: number;
  readonly bytes_appended: number;
  /** Null if it is not known for the caller's namespaces: for a past period, and for single hours and days. */
  readonly bytes_stored: number | null;
  readonly kv_operations: number;
  readonly lock_operations: number;
  readonly memory_operations: number;
  /** Null in the same cases as `bytes_stored`. */
  readonly memory_bytes: number | null;
}

/** The use of one quota in a namespace, and its limit. */
export interface QuotaBody {
  readonly used: number;
  /** By the present settings; it may be below `used`. */
  readonly limit: number;
}

/** The present usage of a namespace. */
export interface NamespaceUsageBody {
  readonly namespace: string;
  readonly quotas: {
    /** Bytes of keys, values, locks, and descriptions of memory regions. */
    readonly bytes: QuotaBody;
    readonly keys: QuotaBody;
    /** Of both kinds. */
    readonly locks: QuotaBody;
    /** The sizes of the memory regions. */
    readonly memory_bytes: QuotaBody;
    readonly memory_regions: QuotaBody;
    /** Bytes of events, and of their kept keys. */
    readonly event_bytes: QuotaBody;
    readonly event_logs: QuotaBody;
    readonly sessions: QuotaBody;
  };
}

/** The usage of the cluster, or of what the caller may see. */
export interface UsageBody {
  readonly period: { readonly start: string; readonly end: string };
  /** Stored bytes are not sums, but the values at the period's end. */
  readonly totals: UsageNumbersBody;
  /** Only hours or days in which something was counted. */
  readonly buckets: readonly (UsageNumbersBody & { readonly start: string })[];
  readonly by_key: readonly (Pick<UsageNumbersBody, "requests" | "events_appended" | "bytes_appended"> & {
    readonly api_key_id: string;
  })[];
  /** The caller's namespaces that are not empty now, the namespace nearest to a limit first; at most 1,000. */
  readonly namespaces: readonly NamespaceUsageBody[];
  /** Limits of one principal at one member; 0 = no limit. */
  readonly limits: { readonly requests_per_minute: number };
  readonly as_of: string;
}
