/**
 * Usage of the cluster, for users who may read: the counts of a period, by hours or days and by API key.
 *
 * A caller who may read all namespaces gets the totals of the whole cluster. Any other caller gets the totals of the
 * users whose usage the caller may see: their own, and for administrators also that of users whose role and namespaces
 * they have. The listed keys belong to the same users; owners also see the keys of deleted users. The listed namespaces
 * are those that the caller may read.
 *
 * The stored bytes of the whole cluster are known for each past request; those of a single namespace only for now.
 * Mutations are counted exactly, each once. Reads that a member had not reported yet are missing: at most those of its
 * last minute. So the counts may be too low, but never too high, and an invoice can use them.
 */

import { ReadConsistency } from "@quoin/proto";
import type { RateLimit } from "../../access/index.ts";
import type { Clock } from "../../replica/index.ts";
import {
  ALL_NAMESPACES,
  badRequestField,
  COUNTED_QUOTAS,
  DEFAULT_STATE_LIMITS,
  type Granularity,
  managedUsers,
  type NamespaceLimits,
  type NamespaceUsage,
  NO_USAGE,
  namespaceLimitsOf,
  type RequiredAccess,
  readNamespaceUsage,
  readProgress,
  readUsage,
  type StateReader,
  scanNamespaceUsage,
  scanPrincipalUsage,
  sumOf,
  type UsageBucket,
  type UsageCounts,
  type UsageLevels,
  unsetLimits,
} from "../../state/index.ts";
import { toError } from "./attempt.ts";
import type { Call, Reply } from "./call.ts";
import { allowedNamespaces, isAllowed, mayRead } from "./caller-rights.ts";
import type { Executor } from "./executor.ts";

const NEED: RequiredAccess = { access: "read", namespace: null };
const ADMIN: RequiredAccess = { access: "admin", namespace: null };
const DAY_MS = 86_400_000;
const LENGTHS_MS: Readonly<Record<Granularity, number>> = { hour: 3_600_000, day: DAY_MS };
const PERIOD_MS_MAX = 100 * DAY_MS;
/** The greatest time that a Date can have. */
const WALL_MS_MAX = 8_640_000_000_000_000;
/** How far back to search for the last request if the period has none. */
const EARLIER_MS_MAX = 400 * DAY_MS;
const NOTHING_STORED: UsageLevels = { bytesStored: 0, memoryBytes: 0 };
const SECONDS_PER_MINUTE = 60;
const UNSET = unsetLimits(DEFAULT_STATE_LIMITS);
/** Maximum number of namespaces in an answer: about 400 bytes each. */
const NAMESPACES_MAX = 1_000;
/** Namespaces to read in one turn of the event loop (S44). */
const NAMESPACES_PER_TURN = 250;
/** Rows of API keys to read in one turn of the event loop (S44). */
const ROWS_PER_TURN = 2_000;

export interface UsageRequest {
  /**
   * Unix time in milliseconds; null = the beginning of the month of the end. Rounded down to the beginning of its hour or
   * day.
   */
  readonly fromMs: number | null;
  /** Exclusive; null = now. */
  readonly toMs: number | null;
  /** `hour` or `day`. */
  readonly granularity: string;
}

/** Counts of a period, and what was stored at its end; null = that is not known for what the caller may see. */
export type UsageNumbers = UsageCounts & { readonly levels: UsageLevels | null };

/** What a namespace uses now, and its limits. */
export interface NamespaceUse {
  readonly namespace: string;
  readonly usage: NamespaceUsage;
  readonly limits: NamespaceLimits;
}

/** The usage of the cluster, or of what the caller may see. */
export interface UsageReport {
  readonly startMs: number;
  readonly endMs: number;
  readonly totals: UsageNumbers;
  readonly buckets: readonly (UsageNumbers & { readonly startMs: number })[];
  /** By the ids of API keys, ascending. */
  readonly byKey: readonly (Pick<UsageCounts, "requests" | "eventsAppended" | "bytesAppended"> & {
    readonly apiKeyId: string;
  })[];
  /** The fullest first. */
  readonly namespaces: readonly NamespaceUse[];
  readonly requestsPerMinute: number;
  readonly asOfMs: number;
  readonly revision: number;
}

interface Period {
  readonly granularity: Granularity;
  readonly from: number;
  readonly to: number;
  /** The period ends now and includes everything that was counted. */
  readonly isOpen: boolean;
}

export class UsageMethods {
  readonly #executor: Executor;
  readonly #clock: Pick<Clock, "wallMs">;
  readonly #limit: () => RateLimit;

  /** @param limit returns the present rate limit of HTTP requests */
  constructor(executor: Executor, clock: Pick<Clock, "wallMs">, limit: () => RateLimit) {
    this.#executor = executor;
    this.#clock = clock;
    this.#limit = limit;
  }

  getUsage(call: Call, request: UsageRequest, reply: Reply<UsageReport>): void {
    const nowMs = this.#clock.wallMs();
    const query = () => ({ consistency: ReadConsistency.LINEARIZABLE, period: periodField(request, nowMs) });
    this.#executor.read(
      call,
      NEED,
      query,
      ({ state, revision }, { period: asked }) => {
        const period = asked.isOpen ? { ...asked, to: Math.max(nowMs, readProgress(state).wallMs) + 1 } : asked;
        const { subject } = call.principal;
        const isVisible = isAllowed(call, ADMIN, "ACCESS_DENIED")
          ? managedUsers(state, subject)
          : (userId: string) => userId === subject;
        const cluster = mayRead(call, ALL_NAMESPACES) ? usageOfCluster(state, period, nowMs) : null;
        return { state, revision, period, isVisible, cluster };
      },
      (answer, replayed) => {
        if (answer instanceof Error) {
          reply(answer, replayed);
          return;
        }
        const { state, revision, period, isVisible, cluster } = answer;
        Promise.all([usageOfUsers(state, period, isVisible), usageByNamespace(state, call)])
          .then(([users, namespaces]) => {
            const seen = cluster ?? {
              buckets: Array.from(users.buckets, ([startMs, counts]) => ({ startMs, counts, levels: null })),
              levels: hasEnded(period, nowMs) ? null : namespaces.levels,
            };
            const report = reportOf(period, nowMs, this.#limit(), seen);
            reply({ ...report, byKey: users.byKey, namespaces: namespaces.fullest, revision }, replayed);
          })
          .catch((error: unknown) => reply(toError(error), "no"));
      },
    );
  }
}

/** The usage of a period that the caller may see. */
interface SeenUsage {
  readonly buckets: readonly {
    readonly startMs: number;
    readonly counts: UsageCounts;
    readonly levels: UsageLevels | null;
  }[];
  /** At the end of the period; null = not known. */
  readonly levels: UsageLevels | null;
}

/** Whether the period ended in the past. */
function hasEnded({ isOpen, to }: Period, nowMs: number): boolean {
  return !isOpen && to < nowMs;
}

/** The answer without its keys and namespaces. */
function reportOf(
  { from, to, isOpen }: Period,
  nowMs: number,
  { requests, windowSecs }: RateLimit,
  { buckets, levels }: SeenUsage,
): Omit<UsageReport, "byKey" | "namespaces" | "revision"> {
  const sum = buckets.reduce((counts, bucket) => sumOf(counts, bucket.counts), NO_USAGE);
  return {
    startMs: from,
    endMs: isOpen ? nowMs : to,
    totals: { ...sum, levels },
    buckets: buckets.map(({ startMs, counts, levels: atEnd }) => ({ ...counts, startMs, levels: atEnd })),
    requestsPerMinute: Math.floor((requests * SECONDS_PER_MINUTE) / windowSecs),
    asOfMs: nowMs,
  };
}

/** The usage of all users together. */
function usageOfCluster(state: StateReader, period: Period, nowMs: number): SeenUsage {
  const buckets = readUsage(state, period.granularity, period.from, period.to);
  return {
    buckets: buckets.map((bucket) => ({ startMs: bucket.startMs, counts: bucket, levels: bucket })),
    levels: levelsAtEnd(state, period, buckets, nowMs),
  };
}

/** What is stored now, if the period has not ended; else what was stored at the last request before its end. */
function levelsAtEnd(state: StateReader, period: Period, buckets: readonly UsageBucket[], nowMs: number): UsageLevels {
  if (!hasEnded(period, nowMs)) {
    const { dataBytes, eventBytes, totals } = readProgress(state);
    return { bytesStored: dataBytes + eventBytes, memoryBytes: totals.memoryBytes };
  }
  const last = buckets.at(-1) ?? readUsage(state, "day", period.from - EARLIER_MS_MAX, period.from).at(-1);
  return last ?? NOTHING_STORED;
}

/** The usage of the visible users: by the beginning of hours or days, ascending, and by the ids of their keys. */
async function usageOfUsers(
  state: StateReader,
  period: Period,
  isVisible: (userId: string) => boolean,
): Promise<{ readonly buckets: ReadonlyMap<number, UsageCounts>; readonly byKey: UsageReport["byKey"] }> {
  const buckets = new Map<number, UsageCounts>();
  const keys = new Map<string, UsageCounts>();
  let after: Uint8Array | null = null;
  do {
    const bounds: { from: number; to: number; after: Uint8Array | null } = { from: period.from, to: period.to, after };
    after = scanPrincipalUsage(state, period.granularity, bounds, ROWS_PER_TURN, (usage) => {
      const { startMs, principal } = usage;
      if (!isVisible(principal.subject)) {
        return;
      }
      buckets.set(startMs, sumOf(buckets.get(startMs) ?? NO_USAGE, usage));
      if (principal.apiKeyId !== "") {
        keys.set(principal.apiKeyId, sumOf(keys.get(principal.apiKeyId) ?? NO_USAGE, usage));
      }
    });
    if (after !== null) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  } while (after !== null);
  const byKey = Array.from(keys, ([apiKeyId, { requests, eventsAppended, bytesAppended }]) => ({
    apiKeyId,
    requests,
    eventsAppended,
    bytesAppended,
  })).sort((a, b) => (a.apiKeyId < b.apiKeyId ? -1 : 1));
  return { buckets, byKey };
}

/** The usage of the namespaces that the caller may read, the fullest first, and their total. */
async function usageByNamespace(
  state: StateReader,
  call: Call,
): Promise<{ readonly fullest: readonly NamespaceUse[]; readonly levels: UsageLevels }> {
  const found: NamespaceUse[] = [];
  let [bytesStored, memoryBytes] = [0, 0];
  const add = (namespace: string, usage: NamespaceUsage): void => {
    if (COUNTED_QUOTAS.some((quota) => usage[quota] > 0) && mayRead(call, namespace)) {
      bytesStored += usage.bytes + usage.event_bytes;
      memoryBytes += usage.memory_bytes;
      found.push({ namespace, usage, limits: namespaceLimitsOf(state, namespace, UNSET) });
    }
  };
  const granted = allowedNamespaces(state, call);
  if (granted === null) {
    let after: string | null = null;
    do {
      after = scanNamespaceUsage(state, after, NAMESPACES_PER_TURN, add);
      if (after !== null) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    } while (after !== null);
  } else {
    for (const namespace of granted) {
      add(namespace, readNamespaceUsage(state, namespace));
    }
  }
  const shares = new Map(found.map((one) => [one, fullestShare(one)]));
  const inOrder = found.sort((one, other) => {
    return (shares.get(other) as number) - (shares.get(one) as number) || (one.namespace < other.namespace ? -1 : 1);
  });
  return { fullest: inOrder.slice(0, NAMESPACES_MAX), levels: { bytesStored, memoryBytes } };
}

/** The use of the fullest quota, as a share of its limit. */
function fullestShare({ usage, limits }: NamespaceUse): number {
  return Math.max(...COUNTED_QUOTAS.map((quota) => (usage[quota] === 0 ? 0 : usage[quota] / limits[quota])));
}

function periodField({ fromMs, toMs, granularity }: UsageRequest, nowMs: number): Period {
  if (granularity !== "hour" && granularity !== "day") {
    throw badRequestField("granularity", "must be hour or day");
  }
  const to = toMs ?? nowMs;
  const asked = fromMs ?? monthOf(to);
  const from = asked - (asked % LENGTHS_MS[granularity]);
  if (asked < 0 || to < 0 || to > WALL_MS_MAX) {
    throw badRequestField(asked < 0 ? "from_ms" : "to_ms", `must be a time from 0 to ${WALL_MS_MAX}`);
  }
  if (from > to) {
    throw badRequestField("from_ms", "must not be later than the end");
  }
  if (to - asked > PERIOD_MS_MAX) {
    throw badRequestField("from_ms", "must be at most 100 days before the end", PERIOD_MS_MAX / DAY_MS);
  }
  return { granularity, from, to, isOpen: toMs === null };
}

/** The beginning of the month in UTC. */
function monthOf(wallMs: number): number {
  const instant = new Date(wallMs);
  return Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth());
}
