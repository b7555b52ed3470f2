/**
 * Usage of the cluster, for whoever may read: what was counted in a period, by hours or days and by API key.
 *
 * The counts are of the whole cluster, the keys are the caller's own, or all of them for an administrator. Mutations are
 * counted exactly, each once. Of requests that only read, what a member had not reported yet is missing, at most those
 * of its last minute: the counts may say less than was done, and never more, so that an invoice can rest on them.
 */

import { ReadConsistency } from "@quoin/proto";
import type { RateLimit } from "../../access/index.ts";
import type { Clock } from "../../replica/index.ts";
import {
  CoordinationError,
  type Granularity,
  type Need,
  NO_USAGE,
  readProgress,
  readUsage,
  type StateReader,
  scanPrincipalUsage,
  sumOf,
  type UsageBucket,
  type UsageCounts,
  type UsageLevels,
} from "../../state/index.ts";
import { attempt, toError } from "./attempt.ts";
import type { Call, Reply } from "./call.ts";
import type { Executor } from "./executor.ts";
import { badField } from "./field-rules.ts";
import { timestamp } from "./timestamp.ts";

const NEED: Need = { access: "read", namespace: null };
const ADMIN: Need = { access: "admin", namespace: null };
const DAY_MS = 86_400_000;
const LENGTHS_MS: Readonly<Record<Granularity, number>> = { hour: 3_600_000, day: DAY_MS };
const PERIOD_MS_MAX = 100 * DAY_MS;
/** How far back the last request is looked for when there was none in the period. */
const EARLIER_MS_MAX = 400 * DAY_MS;
const NOTHING_STORED: UsageLevels = { bytesStored: 0, memoryBytes: 0 };
const SECONDS_PER_MINUTE = 60;
/** Rows of single keys that are read in one turn of the event loop (S44). */
const ROWS_PER_TURN = 2_000;
/** RFC 3339, a date alone, or a date and a time in UTC. */
const INSTANT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2}))?$/;

export interface UsageRequest {
  /** ISO 8601; null = the beginning of the month of `to`. Taken back to the beginning of its hour or day. */
  readonly from: string | null;
  /** ISO 8601, not included; null = now. */
  readonly to: string | null;
  /** `hour` or `day`; null = day. */
  readonly granularity: string | null;
}

export interface UsageNumbers {
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

export interface UsageOfKey {
  readonly api_key_id: string;
  readonly requests: number;
  readonly events_appended: number;
  readonly bytes_appended: number;
}

export interface UsageBody {
  readonly period: { readonly start: string; readonly end: string };
  /** Levels, which are no sums, are those at the end of the period. */
  readonly totals: UsageNumbers;
  /** Only those in which something was counted. */
  readonly buckets: readonly ({ readonly start: string } & UsageNumbers)[];
  readonly by_key: readonly UsageOfKey[];
  /** Of one principal, at one member. */
  readonly limits: { readonly requests_per_minute: number };
  readonly as_of: string;
}

interface Period {
  readonly granularity: Granularity;
  readonly from: number;
  readonly to: number;
  /** It lasts until now, with all that has been counted. */
  readonly isOpen: boolean;
}

export class UsageMethods {
  readonly #executor: Executor;
  readonly #clock: Pick<Clock, "wallMs">;
  readonly #limit: () => RateLimit;

  /** @param limit of requests by HTTP, as it is in force */
  constructor(executor: Executor, clock: Pick<Clock, "wallMs">, limit: () => RateLimit) {
    this.#executor = executor;
    this.#clock = clock;
    this.#limit = limit;
  }

  getUsage(call: Call, request: UsageRequest, reply: Reply<UsageBody>): void {
    const nowMs = this.#clock.wallMs();
    const query = () => ({ consistency: ReadConsistency.LINEARIZABLE, period: periodField(request, nowMs) });
    this.#executor.read(
      call,
      NEED,
      query,
      ({ state }, { period: asked }) => {
        const period = asked.isOpen ? { ...asked, to: Math.max(nowMs, readProgress(state).wallMs) + 1 } : asked;
        return { state, period, seesAll: seesAll(call), body: bodyOf(state, period, nowMs, this.#limit()) };
      },
      (answer, replayed) => {
        if (answer instanceof Error) {
          reply(answer, replayed);
          return;
        }
        const { state, period, body } = answer;
        usageByKey(state, period, answer.seesAll ? null : call.principal.subject)
          .then((byKey) => reply({ ...body, by_key: byKey }, replayed))
          .catch((error: unknown) => reply(toError(error), "no"));
      },
    );
  }
}

/** Everything but the single keys. */
function bodyOf(
  state: StateReader,
  period: Period,
  nowMs: number,
  { requests, windowSecs }: RateLimit,
): Omit<UsageBody, "by_key"> {
  const { granularity, from, to, isOpen } = period;
  const buckets = readUsage(state, granularity, from, to);
  const sum = buckets.reduce<UsageCounts>(sumOf, NO_USAGE);
  return {
    period: { start: timestamp(from), end: timestamp(isOpen ? nowMs : to) },
    totals: numbersOf(sum, levelsAtEnd(state, period, buckets, nowMs)),
    buckets: buckets.map((bucket) => ({ start: timestamp(bucket.startMs), ...numbersOf(bucket, bucket) })),
    limits: { requests_per_minute: Math.floor((requests * SECONDS_PER_MINUTE) / windowSecs) },
    as_of: timestamp(nowMs),
  };
}

/** What is stored now, if the period is not over; else what was at the last request before its end. */
function levelsAtEnd(state: StateReader, period: Period, buckets: readonly UsageBucket[], nowMs: number): UsageLevels {
  if (period.isOpen || period.to >= nowMs) {
    const { dataBytes, eventBytes, totals } = readProgress(state);
    return { bytesStored: dataBytes + eventBytes, memoryBytes: totals.memoryBytes };
  }
  const last = buckets.at(-1) ?? readUsage(state, "day", period.from - EARLIER_MS_MAX, period.from).at(-1);
  return last ?? NOTHING_STORED;
}

/** Whether the caller is an administrator, as far as the token goes as well. */
function seesAll(call: Call): boolean {
  const refusal = attempt(() => call.recheck(ADMIN));
  if (refusal instanceof Error && !(refusal instanceof CoordinationError && refusal.reason === "ACCESS_DENIED")) {
    throw refusal;
  }
  return refusal === undefined;
}

/** By the ids of the keys; only those of one user, unless that is null. */
async function usageByKey(state: StateReader, period: Period, subject: string | null): Promise<readonly UsageOfKey[]> {
  const sums = new Map<string, UsageCounts>();
  let after: Uint8Array | null = null;
  do {
    const bounds: { from: number; to: number; after: Uint8Array | null } = { from: period.from, to: period.to, after };
    after = scanPrincipalUsage(state, period.granularity, bounds, ROWS_PER_TURN, ({ principal, ...counts }) => {
      const { apiKeyId } = principal;
      if (apiKeyId !== "" && (subject === null || principal.subject === subject)) {
        sums.set(apiKeyId, sumOf(sums.get(apiKeyId) ?? NO_USAGE, counts));
      }
    });
    if (after !== null) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  } while (after !== null);
  return Array.from(sums, ([apiKeyId, { requests, eventsAppended, bytesAppended }]) => ({
    api_key_id: apiKeyId,
    requests,
    events_appended: eventsAppended,
    bytes_appended: bytesAppended,
  })).sort((a, b) => (a.api_key_id < b.api_key_id ? -1 : 1));
}

function numbersOf(counts: UsageCounts, levels: UsageLevels): UsageNumbers {
  return {
    requests: counts.requests,
    append_requests: counts.appendRequests,
    events_appended: counts.eventsAppended,
    bytes_appended: counts.bytesAppended,
    bytes_stored: levels.bytesStored,
    kv_operations: counts.kvOperations,
    lock_operations: counts.lockOperations,
    memory_operations: counts.memoryOperations,
    memory_bytes: levels.memoryBytes,
  };
}

function periodField(request: UsageRequest, nowMs: number): Period {
  const granularity = request.granularity ?? "day";
  if (granularity !== "hour" && granularity !== "day") {
    throw badField("granularity", "must be hour or day");
  }
  const to = request.to === null ? nowMs : instantField("to", request.to);
  const asked = request.from === null ? monthOf(to) : instantField("from", request.from);
  const from = asked - (asked % LENGTHS_MS[granularity]);
  if (from > to) {
    throw badField("from", "must not be later than to");
  }
  if (to - asked > PERIOD_MS_MAX) {
    throw badField("from", "must be at most 100 days before to", PERIOD_MS_MAX / DAY_MS);
  }
  return { granularity, from, to, isOpen: request.to === null };
}

function instantField(field: string, text: string): number {
  const instant = INSTANT.test(text) && isDay(text) ? Date.parse(text) : Number.NaN;
  if (!(instant >= 0)) {
    throw badField(field, "must be a date or an instant as of ISO 8601, such as 2030-01-31T12:00:00Z");
  }
  return instant;
}

/** Whether the month has such a day: to the parser the 30th of February is the 2nd of March. */
function isDay(text: string): boolean {
  const [year, month, day] = [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10)].map(Number) as [
    number,
    number,
    number,
  ];
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}

/** The beginning of the month in UTC. */
function monthOf(wallMs: number): number {
  const instant = new Date(wallMs);
  return Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth());
}
