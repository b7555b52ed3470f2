/**
 * The history of changes, from which watchers read any revision that is still kept.
 *
 * One row holds all changes of one revision, so a revision is never split (S37). The batch that makes the change also
 * writes it (P42), equally on every member, and snapshots contain it. So any member can continue a watch of another.
 * The leader proposes to drop the oldest revisions, and apply decides again: from the compact revision on, nothing is
 * missing. An administrator may raise the compact revision. Watches can then no longer start below it, and later steps
 * drop the rows.
 *
 * The kept part changes with every revision. While entries are applied, its bounds are in memory, and their row is
 * written once for each batch. The digest covers the changes that determine them.
 */

import { invariant, readUint53, writeUint53 } from "../../primitives/index.ts";
import type { ApplyContext } from "./apply-context.ts";
import { readChange, type WatchedChange, writeChange } from "./changes.ts";
import { type HistoryBounds, readHistoryBounds } from "./history-ledger.ts";
import type { HistoryLimits } from "./limits.ts";
import type { RequestIdentity } from "./principal.ts";
import { RecordReader, RecordWriter } from "./record.ts";
import type { CompactHistoryResult } from "./results.ts";
import { historyRow, tableRange } from "./rows.ts";
import { historyLimitsOf } from "./settings.ts";
import type { StateReader } from "./store.ts";

/** Drops changes beyond the limits of the history, the oldest first, for at most this many revisions. */
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
const ROW_KEY_BYTES = 1 + NUMBER_BYTES;
/** How many bytes one command drops at most. It reads them in one turn of the event loop (S44). */
const TRIMMED_BYTES_MAX = 8 * 1024 * 1024;
/**
 * If the history is too large, one command frees this share of its limit, so that not every write must free a little.
 */
const FREED_SHARE = 16;

/** Adds the changes of a new revision. */
export function recordChanges(context: ApplyContext, revision: number, changes: readonly WatchedChange[]): void {
  invariant(changes.length > 0, "a revision in the history has changes");
  const { transaction, history, tickMs } = context;
  const row = encodeChanges(tickMs, changes);
  transaction.put(historyRow(revision), row);
  context.watch(changes);
  history.add(revision, tickMs, row.length);
}

/**
 * The first revision from which on all changes have their rows. Compacted rows that are not yet dropped count; without
 * them it is the compact revision. An open watch can continue from there.
 */
export function completeFrom({ compactRevision, oldestRevision }: HistoryBounds): number {
  return oldestRevision === 0 ? compactRevision : Math.min(compactRevision, oldestRevision);
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
  const { compactRevision, oldestRevision, oldestTickMs, bytes } = readHistoryBounds(reader);
  if (oldestRevision === 0) {
    return false;
  }
  const limits = historyLimitsOf(reader, unset);
  const isFar = oldestRevision <= revision - limits.revisionsMax - slack.revisions;
  const isOld = oldestTickMs < tickMs - limits.ageMsMax - slack.ageMs;
  return isFar || isOld || bytes > limits.bytesMax || oldestRevision < compactRevision;
}

/** Drops the oldest revisions that are beyond a limit or compacted, at most as many as the command allows. */
export function applyTrimHistory(context: ApplyContext, { countMax }: TrimHistory): void {
  const { transaction, history, tickMs, revision, limits } = context;
  const { revisionsMax, ageMsMax, bytesMax } = historyLimitsOf(transaction, limits.history);
  const { bounds } = history;
  const keptBytes = bounds.bytes > bytesMax ? bytesMax - Math.floor(bytesMax / FREED_SHARE) : bytesMax;
  let { bytes, compactRevision } = bounds;
  let oldest: Pick<HistoryBounds, "oldestRevision" | "oldestTickMs"> = { oldestRevision: 0, oldestTickMs: 0 };
  const gone: Uint8Array[] = [];
  const { from, to } = tableRange("history");
  transaction.scan(from, to, ({ key, value }) => {
    const rowRevision = revisionOf(key);
    const rowTickMs = readUint53(value, 0);
    const isBeyond = rowRevision <= revision - revisionsMax || rowTickMs < tickMs - ageMsMax || bytes > keptBytes;
    const isGivenUp = rowRevision < bounds.compactRevision;
    if (!(isBeyond || isGivenUp) || gone.length >= countMax || bounds.bytes - bytes >= TRIMMED_BYTES_MAX) {
      oldest = { oldestRevision: rowRevision, oldestTickMs: rowTickMs };
      return false;
    }
    gone.push(key);
    bytes -= value.length;
    compactRevision = Math.max(compactRevision, rowRevision + 1);
    return true;
  });
  if (gone.length === 0) {
    return;
  }
  for (const key of gone) {
    transaction.delete(key);
  }
  history.change({ compactRevision, bytes, ...oldest });
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
