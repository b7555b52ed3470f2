/**
 * The requests of a member by kind and result: sums over the counts that the observers of gRPC and HTTP keep anyway.
 *
 * A call by the Connect protocol is a request of both observers, and counts once, as a call of its service.
 */

import { RequestCounts_Kind as Kind, type RequestCounts } from "@quoin/proto";
import { quantileSeconds, REQUEST_BOUNDS } from "../../telemetry/index.ts";
import { type CallObserver, status } from "../calls/index.ts";
import type { RequestObserver } from "../http/index.ts";

/** The requests of one kind since the start. */
interface Totals {
  ok: number;
  refused: number;
  failed: number;
  /** Number of durations in each bucket of REQUEST_BOUNDS. */
  readonly durations: number[];
}

/** The requests of each kind since the start. */
export type RequestTotals = ReadonlyMap<Kind, Totals>;

type Result = "ok" | "refused" | "failed";

/** Kinds in the order of an answer. */
const KINDS: readonly Kind[] = [Kind.KEY_READ, Kind.KEY_WRITE, Kind.LOCK, Kind.MEMORY, Kind.EVENT_LOG, Kind.OTHER];
const FAILED_CODES: ReadonlySet<number> = new Set([
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS,
]);
const KEY_READS: ReadonlySet<string> = new Set(["GetKey", "ListKeys", "ListKeyVersions", "ListNamespaces"]);
const KINDS_BY_SERVICE: ReadonlyMap<string, Kind> = new Map([
  ["coordination.v1.LockService", Kind.LOCK],
  ["coordination.v1.MemoryService", Kind.MEMORY],
  ["coordination.v1.TransactionService", Kind.KEY_WRITE],
  ["coordination.v1.SessionService", Kind.KEY_WRITE],
  ["coordination.v1.EventLogService", Kind.EVENT_LOG],
  ["coordination.v1.AccountService", Kind.OTHER],
  ["coordination.v1.WatchService", Kind.OTHER],
  ["coordination.v1.ClusterService", Kind.OTHER],
  ["coordination.v1.ClusterAdminService", Kind.OTHER],
]);
const SERVICE_ROUTE = "/coordination.";
const LOG_ROUTE = "/logs";
const WATCH_ROUTE = "/v1/watch/";
/** Routes that programs poll, or whose answers are not data. */
const UNCOUNTED_ROUTES: ReadonlySet<string> = new Set(["/livez", "/readyz", "/startupz", "/metrics"]);
const US_PER_SECOND = 1_000_000;

/** What the totals are made of. */
export interface ObservedRequests {
  readonly calls: Pick<CallObserver, "methods">;
  readonly requests: Pick<RequestObserver, "routes">;
}

export function requestTotals({ calls, requests }: ObservedRequests): RequestTotals {
  const totals = new Map(KINDS.map((kind) => [kind, noRequests()]));
  for (const { service, method, isStream, mayWait, codes, durations } of calls.methods) {
    const total = totals.get(isStream ? Kind.KIND_UNSPECIFIED : kindOfCall(service, method));
    if (total !== undefined) {
      for (let code = 0; code < codes.length; code++) {
        total[resultOfCode(code)] += codes[code] as number;
      }
      addDurations(total, mayWait ? [] : durations.counts);
    }
  }
  for (const { route, statuses, durations } of requests.routes) {
    const total = totals.get(kindOfRoute(route));
    if (total !== undefined) {
      for (const [code, count] of statuses) {
        total[resultOfStatus(code)] += count;
      }
      addDurations(total, durations.counts);
    }
  }
  return totals;
}

/** The requests between two totals of one process, without kinds that had none. */
export function requestsBetween(before: RequestTotals, after: RequestTotals): RequestCounts[] {
  const counts: RequestCounts[] = [];
  for (const kind of KINDS) {
    const [from, to] = [before.get(kind) ?? noRequests(), after.get(kind) ?? noRequests()];
    const durations = to.durations.map((count, bucket) => count - (from.durations[bucket] ?? 0));
    const one = { kind, ok: to.ok - from.ok, refused: to.refused - from.refused, failed: to.failed - from.failed };
    if (one.ok + one.refused + one.failed > 0) {
      counts.push({ ...one, p50Us: microseconds(durations, 0.5), p99Us: microseconds(durations, 0.99) });
    }
  }
  return counts;
}

function noRequests(): Totals {
  return { ok: 0, refused: 0, failed: 0, durations: new Array<number>(REQUEST_BOUNDS.length + 1).fill(0) };
}

function addDurations(total: Totals, counts: readonly number[]): void {
  for (let bucket = 0; bucket < counts.length; bucket++) {
    total.durations[bucket] = (total.durations[bucket] ?? 0) + (counts[bucket] as number);
  }
}

function microseconds(counts: readonly number[], quantile: number): bigint {
  return BigInt(Math.round(quantileSeconds(REQUEST_BOUNDS, counts, quantile) * US_PER_SECOND));
}

/** KIND_UNSPECIFIED = it is not counted: health checks and reflection. */
function kindOfCall(service: string, method: string): Kind {
  if (service === "coordination.v1.KeyValueService") {
    return KEY_READS.has(method) ? Kind.KEY_READ : Kind.KEY_WRITE;
  }
  return KINDS_BY_SERVICE.get(service) ?? Kind.KIND_UNSPECIFIED;
}

function kindOfRoute(route: string): Kind {
  if (UNCOUNTED_ROUTES.has(route) || route.startsWith(SERVICE_ROUTE) || route.startsWith(WATCH_ROUTE)) {
    return Kind.KIND_UNSPECIFIED;
  }
  return route.startsWith(LOG_ROUTE) ? Kind.EVENT_LOG : Kind.OTHER;
}

function resultOfCode(code: number): Result {
  if (code === status.OK) {
    return "ok";
  }
  return FAILED_CODES.has(code) ? "failed" : "refused";
}

/** A request whose client had gone before the answer has a word as its status. */
function resultOfStatus(code: string): Result {
  const number = Number(code);
  if (number < 400) {
    return "ok";
  }
  return number >= 500 ? "failed" : "refused";
}
