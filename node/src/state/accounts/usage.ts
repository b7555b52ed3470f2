/**
 * Usage: the work for each API key, and for each user who logged in, by hour and by day of the cluster's wall clock.
 *
 * Apply counts every mutation once. It does not count a retry that gets its stored answer, or a caller without rights.
 * So the numbers are the same on every member, survive every failover, and never exceed the work that was done. Reads
 * leave no entry. Members report how many they have answered from time to time, each at most once: the unreported reads
 * of a crashed member are missing, and no read is counted twice.
 *
 * Counting must cost next to nothing. The rows of the hour and of the day are in memory and written once for each batch
 * of entries; the digest covers sums instead of the rows. There is one small row for each principal in each hour and
 * day with any work: hours stay for 101 days, days for 400.
 */

import { writeUint53 } from "../../primitives/index.ts";
import {
  type ApplyContext,
  clusterStep,
  count,
  decodeText,
  type Field,
  listOf,
  NO_USAGE,
  type Principal,
  RecordReader,
  RecordWriter,
  recordOf,
  type StateReader,
  smallCount,
  type Transaction,
  USAGE_DROPPED_ROW,
  type UsageCounts,
  type UsageLevels,
  usageRow,
  usageTableRow,
} from "../core/index.ts";
import type { PruneUsage, ReportedUse, ReportUse } from "./account-commands.ts";
import { noteApiKeyUse } from "./api-keys.ts";

export type Granularity = "hour" | "day";

/** The usage of an hour or a day. */
export interface UsageBucket extends UsageCounts, UsageLevels {
  /** Wall clock in milliseconds at which it begins, in UTC. */
  readonly startMs: number;
}

/** The usage of one principal in an hour or a day. */
export interface PrincipalUsage extends UsageCounts {
  readonly startMs: number;
  readonly principal: Principal;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LENGTHS_MS: Readonly<Record<Granularity, number>> = { hour: HOUR_MS, day: DAY_MS };
/** A usage period has at most 100 days; one more for the day that is not over. */
const KEPT_MS: Readonly<Record<Granularity, number>> = { hour: 101 * DAY_MS, day: 400 * DAY_MS };
const GRANULARITIES: readonly Granularity[] = ["hour", "day"];
/** Numbers of a row, and further ones of a row with levels. */
const COUNTS = 7;
const LEVELS = 2;
const ROW_HEAD_BYTES = 1 + 1 + 8;

/** Mutable counters. */
type Counting = { -readonly [Field in keyof UsageCounts]: number };

/** A row being counted; totals also have levels. */
interface Line {
  readonly key: Uint8Array;
  readonly counts: Counting;
  levels: UsageLevels | null;
}

interface OpenBucket {
  readonly startMs: number;
  readonly total: Line;
  /** By subject, then by API key id. */
  readonly byPrincipal: Map<string, Map<string, Line>>;
}

/** The usage that a state machine counts between two batches. */
export class UsageLedger {
  readonly #store: StateReader;
  readonly #open: Record<Granularity, OpenBucket | null> = { hour: null, day: null };
  readonly #dirty = new Set<Line>();
  readonly #sum = new Uint8Array(8);

  constructor(store: StateReader) {
    this.#store = store;
  }

  /** Adds counts at this wall clock, and adds the new sum of the hour to the digest of the transaction. */
  count(
    transaction: Transaction,
    { subject, apiKeyId }: Principal,
    counts: UsageCounts,
    { wallMs, usageLevels: levels }: { readonly wallMs: number; readonly usageLevels: UsageLevels },
  ): void {
    for (const granularity of GRANULARITIES) {
      const bucket = this.#bucketAt(granularity, wallMs);
      const known = bucket.byPrincipal.get(subject)?.get(apiKeyId);
      const line = known ?? this.#begin(granularity, bucket, subject, apiKeyId);
      add(line.counts, counts);
      add(bucket.total.counts, counts);
      bucket.total.levels = levels;
      this.#dirty.add(line).add(bucket.total);
    }
    writeUint53(this.#sum, 0, sumOfAll((this.#open.hour as OpenBucket).total.counts));
    transaction.note(this.#sum);
  }

  /** Starts the row of a principal in this bucket. */
  #begin(granularity: Granularity, bucket: OpenBucket, subject: string, apiKeyId: string): Line {
    const line = this.#line(usageRow(granularity, bucket.startMs, `${subject}\0${apiKeyId}`), false);
    const ofSubject = bucket.byPrincipal.get(subject) ?? new Map<string, Line>();
    bucket.byPrincipal.set(subject, ofSubject.set(apiKeyId, line));
    return line;
  }

  /** Writes all rows that have changed since the last flush into the transaction. */
  flush(transaction: Transaction): void {
    for (const line of this.#dirty) {
      transaction.carry(line.key, encodeLine(line));
    }
    this.#dirty.clear();
  }

  /** The bucket of this instant. The wall clock of the log never decreases, so an earlier bucket is final. */
  #bucketAt(granularity: Granularity, wallMs: number): OpenBucket {
    const startMs = wallMs - (wallMs % LENGTHS_MS[granularity]);
    const open = this.#open[granularity];
    if (open?.startMs === startMs) {
      return open;
    }
    const total = this.#line(usageRow(granularity, startMs, null), true);
    const bucket = { startMs, total, byPrincipal: new Map<string, Map<string, Line>>() };
    this.#open[granularity] = bucket;
    return bucket;
  }

  /** The row as last written: this process may have started within the hour. */
  #line(row: Uint8Array, isTotal: boolean): Line {
    // It lives for up to a day, so it gets its own memory: a cut of a slab would keep the whole slab.
    const key = row.slice();
    const bytes = this.#store.get(key);
    const counts = { ...NO_USAGE };
    if (bytes === undefined) {
      return { key, counts, levels: null };
    }
    const reader = new RecordReader(bytes);
    return { key, counts: readCounts(reader), levels: isTotal ? readLevels(reader) : null };
  }
}

/** Whether there are rows beyond their retention. */
export function isUsageDue(reader: StateReader, wallMs: number): boolean {
  const begins = droppedBefore(reader);
  return TABLES.some(([granularity, isTotal], at) => {
    let due = false;
    reader.scan(...boundsOf(granularity, isTotal, begins[at] as number, wallMs - KEPT_MS[granularity]), () => {
      due = true;
      return false;
    });
    return due;
  });
}

const reportedPrincipal: Field<Principal> = {
  write: (writer, { subject, apiKeyId }) => void writer.text(subject).text(apiKeyId),
  read: (reader) => ({ subject: reader.text(), apiKeyId: reader.text() }),
};

export const reportUseOperation = clusterStep<ReportUse>({
  kind: "report-use",
  number: 66,
  fields: {
    uses: listOf(
      recordOf<ReportedUse>({
        principal: reportedPrincipal,
        requests: count,
        kvOperations: count,
        lockOperations: count,
        memoryOperations: count,
      }),
    ),
  },
  apply: applyReportUse,
});

export const pruneUsageOperation = clusterStep<PruneUsage>({
  kind: "prune-usage",
  number: 70,
  fields: { countMax: smallCount },
  apply: (context, command) => {
    context.usage.flush(context.transaction);
    applyPruneUsage(context.transaction, context.wallMs, command);
  },
});

/** Counts the calls that a member answered without an entry, and records which API keys were used. */
function applyReportUse(context: ApplyContext, { uses }: ReportUse): void {
  for (const { principal, ...counts } of uses) {
    if (counts.requests > 0) {
      context.usage.count(context.transaction, principal, { ...NO_USAGE, ...counts }, context);
    }
    noteApiKeyUse(context, principal.apiKeyId);
  }
}

/**
 * Drops rows beyond their retention, at most as many as the command allows; the caller must flush the ledger before.
 */
function applyPruneUsage(transaction: Transaction, wallMs: number, { countMax }: PruneUsage): void {
  const gone: Uint8Array[] = [];
  const before = droppedBefore(transaction);
  const begins = TABLES.map(([granularity, isTotal], at) => {
    const from = before[at] as number;
    const to = wallMs - KEPT_MS[granularity];
    let begin = Math.max(from, to);
    transaction.scan(...boundsOf(granularity, isTotal, from, to), ({ key }) => {
      if (gone.length === countMax) {
        begin = startOf(key);
        return false;
      }
      gone.push(key);
      return true;
    });
    return begin;
  });
  for (const key of gone) {
    transaction.delete(key);
  }
  const writer = new RecordWriter();
  for (const begin of begins) {
    writer.uint53(begin);
  }
  transaction.put(USAGE_DROPPED_ROW, writer.finish());
}

/**
 * For each table, the time before which no row is left. Scans start there, and not at the first row ever: a store on
 * disk keeps a tombstone of each dropped row for a while.
 */
function droppedBefore(reader: StateReader): readonly number[] {
  const row = reader.get(USAGE_DROPPED_ROW);
  if (row === undefined) {
    return TABLES.map(() => 0);
  }
  const fields = new RecordReader(row);
  const begins = TABLES.map(() => fields.uint53());
  fields.end();
  return begins;
}

/** The buckets that begin within from ≤ start < to and have counts, ascending. */
export function readUsage(reader: StateReader, granularity: Granularity, from: number, to: number): UsageBucket[] {
  const buckets: UsageBucket[] = [];
  reader.scan(...boundsOf(granularity, true, from, to), ({ key, value }) => {
    const fields = new RecordReader(value);
    buckets.push({ startMs: startOf(key), ...readCounts(fields), ...readLevels(fields) });
    fields.end();
    return true;
  });
  return buckets;
}

/**
 * Visits the usage of principals in the buckets that begin within from ≤ start < to, ascending by time: at most
 * `rowsMax` rows, after this row of an earlier call. Returns the last visited row if there may be more.
 */
export function scanPrincipalUsage(
  reader: StateReader,
  granularity: Granularity,
  { from, to, after }: { readonly from: number; readonly to: number; readonly after: Uint8Array | null },
  rowsMax: number,
  visit: (usage: PrincipalUsage) => void,
): Uint8Array | null {
  const [first, end] = boundsOf(granularity, false, from, to);
  let visited = 0;
  let last: Uint8Array | null = null;
  reader.scan(after === null ? first : Uint8Array.of(...after, 0), end, ({ key, value }) => {
    const [subject = "", apiKeyId = ""] = decodeText(key.subarray(ROW_HEAD_BYTES)).split("\0");
    const fields = new RecordReader(value);
    visit({ startMs: startOf(key), principal: { subject, apiKeyId }, ...readCounts(fields) });
    fields.end();
    last = key;
    visited++;
    return visited < rowsMax;
  });
  return visited < rowsMax ? null : last;
}

/** The sum of both. */
export function sumOf(one: UsageCounts, other: UsageCounts): UsageCounts {
  const sum = pick(one);
  add(sum, other);
  return sum;
}

const TABLES: readonly (readonly [Granularity, boolean])[] = [
  ["hour", true],
  ["hour", false],
  ["day", true],
  ["day", false],
];

function boundsOf(granularity: Granularity, isTotal: boolean, from: number, to: number): [Uint8Array, Uint8Array] {
  const lowest = usageTableRow(granularity, isTotal, Math.max(0, from));
  return [lowest, usageTableRow(granularity, isTotal, Math.max(0, from, to))];
}

function startOf(key: Uint8Array): number {
  return new RecordReader(key.subarray(2, ROW_HEAD_BYTES)).uint53();
}

// Every mutation runs this: named fields are several times as fast as a loop over them.
function add(sum: Counting, counts: UsageCounts): void {
  sum.requests += counts.requests;
  sum.appendRequests += counts.appendRequests;
  sum.eventsAppended += counts.eventsAppended;
  sum.bytesAppended += counts.bytesAppended;
  sum.kvOperations += counts.kvOperations;
  sum.lockOperations += counts.lockOperations;
  sum.memoryOperations += counts.memoryOperations;
}

function sumOfAll(counts: UsageCounts): number {
  const { requests, appendRequests, eventsAppended, bytesAppended } = counts;
  const { kvOperations, lockOperations, memoryOperations } = counts;
  return requests + appendRequests + eventsAppended + bytesAppended + kvOperations + lockOperations + memoryOperations;
}

function encodeLine({ counts, levels }: Line): Uint8Array {
  const bytes = new Uint8Array((levels === null ? COUNTS : COUNTS + LEVELS) * 8);
  writeUint53(bytes, 0, counts.requests);
  writeUint53(bytes, 8, counts.appendRequests);
  writeUint53(bytes, 16, counts.eventsAppended);
  writeUint53(bytes, 24, counts.bytesAppended);
  writeUint53(bytes, 32, counts.kvOperations);
  writeUint53(bytes, 40, counts.lockOperations);
  writeUint53(bytes, 48, counts.memoryOperations);
  if (levels !== null) {
    writeUint53(bytes, 56, levels.bytesStored);
    writeUint53(bytes, 64, levels.memoryBytes);
  }
  return bytes;
}

function pick(counts: UsageCounts): Counting {
  const { requests, appendRequests, eventsAppended, bytesAppended } = counts;
  const { kvOperations, lockOperations, memoryOperations } = counts;
  return {
    requests,
    appendRequests,
    eventsAppended,
    bytesAppended,
    kvOperations,
    lockOperations,
    memoryOperations,
  };
}

function readCounts(reader: RecordReader): Counting {
  return {
    requests: reader.uint53(),
    appendRequests: reader.uint53(),
    eventsAppended: reader.uint53(),
    bytesAppended: reader.uint53(),
    kvOperations: reader.uint53(),
    lockOperations: reader.uint53(),
    memoryOperations: reader.uint53(),
  };
}

function readLevels(reader: RecordReader): UsageLevels {
  return { bytesStored: reader.uint53(), memoryBytes: reader.uint53() };
}
