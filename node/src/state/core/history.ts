/**
 * The history of changes, from which watchers read any revision that is still kept.
 *
 * One row holds all changes of one revision, so a revision is never split (S37). The batch that makes the change also
 * writes it (P42), equally on every member, and snapshots contain it. So any member can continue a watch of another.
 * The leader proposes to drop the oldest revisions, and apply decides again: from the compact revision on, nothing is
 * missing. An administrator may raise the compact revision. Watches can then no longer start below it, and later steps
 * drop the rows. What is too old goes for all namespaces alike. If the history is too large, the namespace with the most
 * of it loses its oldest changes, and only its watches can no longer start there.
 *
 * The kept part changes with every revision. While entries are applied, its bounds are in memory, and their row is
 * written once for each batch. The digest covers the changes that determine them.
 */

import { invariant, readUint53, writeUint53 } from "../../primitives/index.ts";
import type { ApplyContext } from "./apply-context.ts";
import { readChange, readNamespace, type WatchedChange, writeChange } from "./changes.ts";
import { count, smallCount, text } from "./fields.ts";
import { completeShareFrom, type HistoryBounds, readHistoryBounds } from "./history-ledger.ts";
import { readShareCompactRevision } from "./history-shares.ts";
import type { HistoryLimits } from "./limits.ts";
import { clusterOperation, clusterStep } from "./operation.ts";
import { optionalRequest, type RequestIdentity } from "./principal.ts";
import { RecordReader, RecordWriter } from "./record.ts";

import { historyRow, tableRange } from "./rows.ts";
import { historyLimitsOf } from "./settings.ts";
import type { StateReader } from "./store.ts";

declare module "./results.ts" {
  interface StoredResults {
    readonly "compact-history": CompactHistoryResult;
  }
}

export interface CompactHistoryResult {
  readonly kind: "compact-history";
  /** The first revision that a watch can start at from now on. */
  readonly compactRevision: number;
  readonly revision: number;
}

/** Drops changes beyond the limits of the history, for at most this many revisions. */
export interface TrimHistory {
  readonly kind: "trim-history";
  readonly countMax: number;
}

/** Drops all changes below a revision; an administrator requests it. */
export interface CompactHistory {
  readonly kind: "compact-history";
  readonly revision: number;
  /** The caller, under whom the answer is stored. */
  readonly subject: string;
  /** Identifies retries; null for a call without a request id. */
  readonly request: RequestIdentity | null;
}

/** All changes of one revision, in order. */
export interface RevisionChanges {
  readonly revision: number;
  /** Cluster tick of the changes, in milliseconds. */
  readonly tickMs: number;
  readonly changes: readonly WatchedChange[];
  /** Their bytes in the history. */
  readonly bytes: number;
}

const NUMBER_BYTES = 8;
const NO_ROW_LEFT: Pick<HistoryBounds, "oldestRevision" | "oldestTickMs"> = { oldestRevision: 0, oldestTickMs: 0 };
const ROW_KEY_BYTES = 1 + NUMBER_BYTES;
/** How many bytes of rows one command examines at most. It reads them in one turn of the event loop (S44). */
const EXAMINED_BYTES_MAX = 8 * 1024 * 1024;
/**
 * If the history is too large, one command frees this share of its limit, so that not every write must free a little.
 */
const FREED_SHARE = 16;

/** Adds the changes of a new revision, or a part of them. */
export function recordChanges(context: ApplyContext, revision: number, changes: readonly WatchedChange[]): void {
  invariant(changes.length > 0, "a revision in the history has changes");
  if (context.collect(changes)) {
    return;
  }
  const { transaction, history, tickMs } = context;
  const row = encodeChanges(tickMs, changes);
  transaction.put(historyRow(revision), row);
  context.watch(changes);
  history.add((changes[0] as WatchedChange).namespace, revision, tickMs, row.length);
}

/**
 * The first revision from which on all changes of the namespace have their rows. Compacted rows that are not yet dropped
 * count; without them it is the compact revision. An open watch can continue from there.
 */
export function completeFrom(reader: StateReader, namespace: string): number {
  const bounds = readHistoryBounds(reader);
  return completeShareFrom(bounds, firstCompleteOf(bounds), () => readShareCompactRevision(reader, namespace));
}

/** The same for namespaces whose share of the history was never the largest. */
export function firstCompleteOf({ compactRevision, oldestRevision }: HistoryBounds): number {
  return oldestRevision === 0 ? compactRevision : Math.min(compactRevision, oldestRevision);
}

/** The first revision that a new watch of the namespace can start at. */
export function compactRevisionOf(reader: StateReader, namespace: string): number {
  const bounds = readHistoryBounds(reader);
  return completeShareFrom(bounds, bounds.compactRevision, () => readShareCompactRevision(reader, namespace));
}

/** Calls `visit` for the revisions from ≤ revision ≤ to that changed something, ascending, until it returns false. */
export function scanHistory(
  reader: StateReader,
  from: number,
  to: number,
  visit: (changes: RevisionChanges) => boolean,
): void {
  reader.scan(historyRow(from), historyRow(to + 1), ({ key, value }) => visit(decodeChanges(revisionOf(key), value)));
}

/** The changes of this revision; undefined if it changed nothing, or if its row is dropped. */
export function readHistory(reader: StateReader, revision: number): RevisionChanges | undefined {
  const bytes = reader.get(historyRow(revision));
  return bytes === undefined ? undefined : decodeChanges(revision, bytes);
}

/**
 * Whether so much of the history is compacted, too old or too large that dropping it is worth an entry. Uses the limits
 * from the settings, else `unset`.
 */
export function isHistoryDue(
  reader: StateReader,
  revision: number,
  tickMs: number,
  unset: HistoryLimits,
  slack: { readonly revisions: number; readonly ageMs: number },
): boolean {
  const bounds = readHistoryBounds(reader);
  const { compactRevision, oldestRevision, oldestTickMs, bytes } = bounds;
  if (oldestRevision === 0) {
    return false;
  }
  const limits = historyLimitsOf(reader, unset);
  const isFar = isInShare(bounds, oldestRevision)
    ? bounds.rows > limits.revisionsMax + slack.revisions
    : oldestRevision <= revision - limits.revisionsMax - slack.revisions;
  const isOld = oldestTickMs < tickMs - limits.ageMsMax - slack.ageMs;
  return isFar || isOld || bytes > limits.bytesMax || oldestRevision < compactRevision;
}

export const trimHistoryOperation = clusterStep<TrimHistory>({
  kind: "trim-history",
  number: 40,
  fields: { countMax: smallCount },
  apply: applyTrimHistory,
});

export const compactHistoryOperation = clusterOperation<CompactHistory, CompactHistoryResult>({
  kind: "compact-history",
  number: 41,
  fields: { revision: count, subject: text, request: optionalRequest },
  answer: { number: 40, fields: { compactRevision: count } },
  apply: applyCompactHistory,
});

/** Drops revisions that are beyond a limit or compacted, at most as many as the command allows. */
function applyTrimHistory(context: ApplyContext, { countMax }: TrimHistory): void {
  const { transaction, history, limits } = context;
  const { revisionsMax, ageMsMax, bytesMax } = historyLimitsOf(transaction, limits.history);
  const { bytes } = history.bounds;
  const keptBytes = bytes > bytesMax ? bytesMax - Math.floor(bytesMax / FREED_SHARE) : bytesMax;
  const hasDropped = dropOldest(context, { revisionsMax, ageMsMax, bytesMax: keptBytes }, countMax);
  if (!hasDropped && history.bounds.rows > 0) {
    dropFromLargest(context, { revisionsMax, ageMsMax, bytesMax: keptBytes }, countMax);
  }
}

/**
 * Drops the oldest rows if they are too old or compacted. Rows that are in no share, because the version of the cluster
 * was raised later, also if the history is too large. Returns whether it has dropped any.
 */
function dropOldest(context: ApplyContext, limits: HistoryLimits, countMax: number): boolean {
  const { transaction, history, tickMs, revision } = context;
  const { bounds } = history;
  let { bytes, compactRevision, rows } = bounds;
  let oldest = NO_ROW_LEFT;
  const gone: HistoryRow[] = [];
  scanRows(transaction, bounds.oldestRevision, (row) => {
    const isTooOld = row.tickMs < tickMs - limits.ageMsMax || row.revision < bounds.compactRevision;
    const isTooMuch = row.revision <= revision - limits.revisionsMax || bytes > limits.bytesMax;
    const isBeyond = isTooOld || (isTooMuch && !isInShare(bounds, row.revision));
    if (!isBeyond || gone.length >= countMax || bounds.bytes - bytes >= EXAMINED_BYTES_MAX) {
      oldest = boundOf(row);
      return false;
    }
    gone.push(row);
    bytes -= row.bytes;
    rows -= Number(isInShare(bounds, row.revision));
    compactRevision = Math.max(compactRevision, row.revision + 1);
    return true;
  });
  if (gone.length === 0) {
    return false;
  }
  deleteRows(context, gone);
  history.change({ ...bounds, ...oldest, compactRevision, bytes, rows });
  history.shares.forgetEmpty(compactRevision);
  return true;
}

/** Drops the oldest rows of the namespace with the most of them, or with the most bytes, until the rest is within the limits. */
function dropFromLargest(context: ApplyContext, limits: HistoryLimits, countMax: number): void {
  const { history } = context;
  const { bounds, shares } = history;
  const isEnough = ({ bytes, rows }: HistorySize): boolean => rows <= limits.revisionsMax && bytes <= limits.bytesMax;
  if (isEnough(bounds)) {
    return;
  }
  const { namespace, share } = shares.largest(bounds.rows > limits.revisionsMax ? "rows" : "bytes");
  const { next, last } = dropRowsOf(context, namespace, share.oldestRevision, countMax, isEnough);
  const compactRevision = Math.max(share.compactRevision, last + 1);
  shares.cut(namespace, compactRevision, next ?? context.revision + 1);
  history.change({ ...history.bounds, completeRevision: Math.max(bounds.completeRevision, compactRevision) });
  shares.forgetEmpty(bounds.compactRevision);
}

/** Nothing of what the history has of the namespace can be watched any more; later steps drop its rows. */
export function closeHistory({ history, revision }: ApplyContext, namespace: string): void {
  const { bounds, shares } = history;
  const compactRevision = revision + 1;
  shares.close(namespace, compactRevision);
  history.change({
    ...bounds,
    // Without rows in shares, the row of the bounds would not have the complete revision.
    sharedFrom: bounds.sharedFrom === 0 ? compactRevision : bounds.sharedFrom,
    completeRevision: Math.max(bounds.completeRevision, compactRevision),
  });
}

/**
 * Drops rows of a closed namespace from the key on, null = from the first one: examines at most `countMax` rows, and a
 * bounded number of bytes. Returns the key at which to continue; null if no row of the namespace is left.
 */
export function dropClosedHistory(
  context: ApplyContext,
  namespace: string,
  from: Uint8Array | null,
  countMax: number,
): Uint8Array | null {
  const { history } = context;
  const first = Math.max(from === null ? 0 : revisionOf(from), history.bounds.oldestRevision);
  const { next } = dropRowsOf(context, namespace, first, countMax, () => false);
  if (next === null) {
    // What expired since it was closed has changed something too.
    closeHistory(context, namespace);
  }
  history.shares.forgetEmpty(history.bounds.compactRevision);
  return next === null ? null : historyRow(next);
}

interface HistorySize {
  readonly bytes: number;
  readonly rows: number;
}

/**
 * Drops the rows of the namespace from the revision on, where its oldest one is, until that is enough. Returns the last
 * revision that it dropped, or 0, and the first one that it did not examine, or null.
 */
function dropRowsOf(
  context: ApplyContext,
  namespace: string,
  from: number,
  countMax: number,
  isEnough: (left: HistorySize) => boolean,
): { readonly next: number | null; readonly last: number } {
  const { transaction, history } = context;
  const { bounds } = history;
  const left = { bytes: bounds.bytes, rows: bounds.rows };
  const gone: HistoryRow[] = [];
  /** The first row that stays, of those that were examined. */
  let firstLeft: HistoryRow | null = null;
  let next: number | null = null;
  let examinedRows = 0;
  let examinedBytes = 0;
  scanRows(transaction, from, (row) => {
    const isLast = isEnough(left) || examinedRows >= countMax || examinedBytes >= EXAMINED_BYTES_MAX;
    if (isLast || row.namespace !== namespace) {
      firstLeft ??= row;
    }
    if (isLast) {
      next = row.revision;
      return false;
    }
    examinedRows++;
    examinedBytes += row.bytes;
    if (row.namespace === namespace) {
      gone.push(row);
      left.bytes -= row.bytes;
      left.rows -= Number(isInShare(bounds, row.revision));
    }
    return true;
  });
  deleteRows(context, gone);
  const hasOldest = gone.length > 0 && gone[0]?.revision === bounds.oldestRevision;
  history.change({ ...bounds, ...(hasOldest ? boundOf(firstLeft) : {}), ...left });
  return { next, last: gone.at(-1)?.revision ?? 0 };
}

/** A row without its changes. */
interface HistoryRow {
  readonly key: Uint8Array;
  readonly revision: number;
  readonly tickMs: number;
  /** All changes of a revision are of one namespace. */
  readonly namespace: string;
  readonly bytes: number;
}

function scanRows(reader: StateReader, from: number, visit: (row: HistoryRow) => boolean): void {
  reader.scan(historyRow(from), tableRange("history").to, ({ key, value }) => {
    const fields = new RecordReader(value);
    const tickMs = fields.uint53();
    fields.uint32();
    return visit({ key, revision: revisionOf(key), tickMs, namespace: readNamespace(fields), bytes: value.length });
  });
}

/** Deletes rows that are the oldest ones of their namespaces. */
function deleteRows({ transaction, history }: ApplyContext, gone: readonly HistoryRow[]): void {
  for (const { key, revision, namespace, bytes } of gone) {
    transaction.delete(key);
    if (isInShare(history.bounds, revision)) {
      history.shares.remove(namespace, revision, bytes);
    }
  }
}

function boundOf(row: HistoryRow | null): Pick<HistoryBounds, "oldestRevision" | "oldestTickMs"> {
  return row === null ? NO_ROW_LEFT : { oldestRevision: row.revision, oldestTickMs: row.tickMs };
}

function isInShare({ sharedFrom }: HistoryBounds, revision: number): boolean {
  return sharedFrom > 0 && revision >= sharedFrom;
}

/**
 * Compacts all changes below the revision: watches can no longer start there. It never compacts beyond the applied
 * revision, and never lowers the compact revision.
 */
export function applyCompactHistory(
  context: ApplyContext,
  { revision }: Pick<CompactHistory, "revision">,
): CompactHistoryResult {
  const { transaction, history } = context;
  const { bounds } = history;
  const compactRevision = Math.max(bounds.compactRevision, Math.min(revision, context.revision));
  if (compactRevision > bounds.compactRevision) {
    history.change({ ...bounds, compactRevision });
    // No row shows this change yet, so add it to the digest; later commands drop the rows below.
    const noted = new Uint8Array(NUMBER_BYTES);
    writeUint53(noted, 0, compactRevision);
    transaction.note(noted);
  }
  return { kind: "compact-history", compactRevision, revision: context.revision };
}

function revisionOf(key: Uint8Array): number {
  invariant(key.length === ROW_KEY_BYTES, "rows of the history are found by their revision");
  return readUint53(key, 1);
}

function encodeChanges(tickMs: number, changes: readonly WatchedChange[]): Uint8Array {
  const writer = new RecordWriter().uint53(tickMs).uint32(changes.length);
  for (const change of changes) {
    writeChange(writer, change);
  }
  return writer.finish();
}

function decodeChanges(revision: number, bytes: Uint8Array): RevisionChanges {
  const reader = new RecordReader(bytes);
  const tickMs = reader.uint53();
  const changes: WatchedChange[] = [];
  for (let left = reader.uint32(); left > 0; left--) {
    changes.push(readChange(reader, revision));
  }
  reader.end();
  invariant(changes.length > 0, "a revision in the history has changes");
  return { revision, tickMs, changes, bytes: bytes.length };
}
