/**
 * Judges what watchers of keys got, by the answers that the clients of the keys got, and by what other watchers of the
 * same keys got. It checks the rules of every watch (`watch-streams.ts`), and besides:
 *
 * - Every acknowledged change reaches the watchers, and so do all writes of a step of which any watcher got one.
 * - A client requested each change, at the revision of the answer. A key with a TTL does not expire early.
 * - Previous values, versions and revisions of creation follow from the changes before.
 */

import { shortestMs } from "./expiries.ts";
import type { KeyContent, RecordedOperation } from "./history.ts";
import type { RevisionAnswer } from "./revision-order.ts";
import { isWrite, revisionAnsweredBy, valueWrittenBy } from "./shown-revisions.ts";
import type { WatchedChange, Watching, WatchMessage } from "./watch-history.ts";
import {
  type Coverage,
  contradictionsOfStreams,
  coveragesOf,
  type DeliveredChange,
  type Due,
  deliveredChanges,
  missingIn,
  type Subject,
  type WatchLimits,
} from "./watch-streams.ts";

/** Changes of keys by these operations. */
function keysOf(operations: readonly RecordedOperation[]): Subject<WatchedChange> {
  const pairs = new Set<string>();
  for (const ofStep of Map.groupBy(operations, ({ step }) => step ?? null).entries()) {
    const keys = ofStep[0] === null ? [] : ofStep[1].map(({ operation }) => operation.key);
    for (const one of keys) {
      for (const other of keys) {
        pairs.add(JSON.stringify([one, other]));
      }
    }
  }
  return {
    things: "keys",
    revisionOf: ({ content }) => content.modRevision,
    nameOf: ({ key }) => key,
    // A revision has one change of a key, and those of several keys only by a step.
    isAgain: (one, other) => one.key === other.key || !pairs.has(JSON.stringify([one.key, other.key])),
    isSame,
  };
}

/** Returns the contradictions in what the watchers got in words; empty if there are none. */
export function watchCheck(
  watchings: readonly Watching[],
  operations: readonly RecordedOperation[],
  limits: WatchLimits,
): readonly string[] {
  const subject = keysOf(operations);
  const coverages = watchings.flatMap((watching) => coveragesOf(watching, subject));
  return [
    ...contradictionsOfStreams(watchings, operations.flatMap(revisionAnswerOf), subject, limits),
    ...contradictionsOfTruth(watchings, coverages, operations, subject, limits),
    ...coverages.flatMap(contradictionsOfChain),
  ];
}

function revisionAnswerOf({ id, startMs, endMs, outcome }: RecordedOperation): readonly RevisionAnswer[] {
  const answer = outcome.kind === "ok" ? outcome.answer : null;
  const revision = answer === null ? undefined : revisionAnsweredBy(answer);
  if (answer === null || revision === undefined) {
    return [];
  }
  return [{ name: `#${id}`, startMs, endMs, revision, own: isWrite(answer) ? revision : null }];
}

/** A client requested every change, and no change is missing that was acknowledged or that other watchers got. */
function contradictionsOfTruth(
  watchings: readonly Watching[],
  coverages: readonly Coverage<WatchedChange>[],
  operations: readonly RecordedOperation[],
  subject: Subject<WatchedChange>,
  limits: WatchLimits,
): readonly string[] {
  const truth = { ...truthOf(operations), limits };
  const { delivered, wrong: differing } = deliveredChanges(watchings, subject);
  const wrong = [...differing];
  for (const { client, streams } of watchings) {
    for (const message of streams.flatMap(({ messages }) => messages)) {
      for (const change of message.changes) {
        const why = contradictionOfChange(change, message, truth);
        if (why !== null) {
          wrong.push(`watch of ${client}: ${why}: ${change.kind} of ${change.key} at ${change.content.modRevision}`);
        }
      }
    }
  }
  const due = dueOf(truth, delivered);
  return [...wrong, ...coverages.flatMap((coverage) => missingIn(coverage, due))];
}

function truthOf(operations: readonly RecordedOperation[]): Omit<Truth, "limits"> {
  const writers = new Map<string, RecordedOperation>();
  const acknowledged = new Map<number, RecordedOperation[]>();
  const steps = new Map<number, RecordedOperation[]>();
  const deletedMs = new Map<string, number>();
  for (const recorded of operations) {
    const { operation, outcome, startMs, step } = recorded;
    if (operation.kind === "delete" && outcome.kind !== "not-executed") {
      deletedMs.set(operation.key, Math.min(startMs, deletedMs.get(operation.key) ?? startMs));
    }
    const value = valueWrittenBy(operation);
    if (value !== null && outcome.kind !== "not-executed") {
      writers.set(JSON.stringify([operation.key, value]), recorded);
      if (step !== undefined) {
        steps.set(step, [...(steps.get(step) ?? []), recorded]);
      }
    }
    const answer = outcome.kind === "ok" ? outcome.answer : null;
    const revision = answer === null || !isWrite(answer) ? undefined : revisionAnsweredBy(answer);
    if (revision !== undefined) {
      acknowledged.set(revision, [...(acknowledged.get(revision) ?? []), recorded]);
    }
  }
  return { writers, acknowledged, steps, deletedMs };
}

/** The changes that were acknowledged, or that other watchers got, and those of the same steps. */
function dueOf(
  { acknowledged, writers, steps }: Omit<Truth, "limits">,
  delivered: readonly DeliveredChange<WatchedChange>[],
): readonly Due<WatchedChange>[] {
  const due = (revision: number, name: string, why: string): Due<WatchedChange> => {
    return { revision, name, why, isAmong: (changes) => changes.some(({ key }) => key === name) };
  };
  const answered = [...acknowledged].flatMap(([revision, made]) => {
    return made.map(({ id, operation: { key } }) => due(revision, key, `#${id} changed ${key}`));
  });
  const others = delivered
    .filter(({ change }) => !acknowledged.has(change.content.modRevision))
    .flatMap(({ change, by }) => {
      const { kind, key, content } = change;
      const step = kind === "put" ? writers.get(JSON.stringify([key, content.value]))?.step : undefined;
      const together = step === undefined ? [] : (steps.get(step) ?? []);
      const keys = new Set([key, ...together.map(({ operation }) => operation.key)]);
      return [...keys].map((name) => due(content.modRevision, name, `${by} saw ${key}`));
    });
  return [...answered, ...others];
}

function isSame(one: WatchedChange, other: WatchedChange): boolean {
  const isSamePrevious =
    one.previous === undefined || other.previous === undefined || isSameContent(one.previous, other.previous);
  return (
    one.kind === other.kind && one.key === other.key && isSameContent(one.content, other.content) && isSamePrevious
  );
}

function isSameContent(one: KeyContent | null, other: KeyContent | null): boolean {
  if (one === null || other === null) {
    return one === other;
  }
  return (
    one.value === other.value &&
    one.version === other.version &&
    one.createRevision === other.createRevision &&
    one.modRevision === other.modRevision
  );
}

interface Truth {
  /** The operation that writes a value, by key and value. */
  readonly writers: ReadonlyMap<string, RecordedOperation>;
  /** By revision. */
  readonly acknowledged: ReadonlyMap<number, readonly RecordedOperation[]>;
  /** The operations of each step that write a value. */
  readonly steps: ReadonlyMap<number, readonly RecordedOperation[]>;
  /** When the first delete of a key began. */
  readonly deletedMs: ReadonlyMap<string, number>;
  readonly limits: WatchLimits;
}

/** Why no operation can have made the change; null if one can. */
function contradictionOfChange(
  { kind, key, content }: WatchedChange,
  { atMs }: WatchMessage,
  truth: Truth,
): string | null {
  const made = truth.acknowledged.get(content.modRevision) ?? [];
  const known = made.find(({ operation }) => operation.key === key) ?? made[0];
  const isKnownKey = known === undefined || known.operation.key === key;
  const isKnownKind = known === undefined || (known.operation.kind === "delete") === (kind === "delete");
  if (!isKnownKey || !isKnownKind || (known !== undefined && kind === "expire")) {
    return `the revision is that of #${known?.id}, which changed something else`;
  }
  const writer = truth.writers.get(JSON.stringify([key, content.value]));
  if (writer === undefined || writer.startMs > atMs) {
    return "no client had begun to write the value";
  }
  if (kind === "put") {
    const delivered = writer.outcome.kind === "ok" ? revisionAnsweredBy(writer.outcome.answer) : undefined;
    return delivered !== undefined && delivered !== content.modRevision
      ? `the value is that of #${writer.id}, which got another revision`
      : null;
  }
  if (kind === "delete") {
    const isAsked = (truth.deletedMs.get(key) ?? Number.POSITIVE_INFINITY) <= atMs;
    return isAsked ? null : "no client had begun to delete the key";
  }
  if (truth.limits.touched?.has(key)) {
    return null;
  }
  const { operation, startMs } = writer;
  const ttlMs = "ttlMs" in operation ? operation.ttlMs : undefined;
  if (ttlMs === undefined) {
    return "the value has no TTL";
  }
  return atMs < startMs + shortestMs(ttlMs, truth.limits) ? "the key expires too early" : null;
}

/** Every change of a key follows from the change before it. */
function contradictionsOfChain({ client, changes }: Coverage<WatchedChange>): readonly string[] {
  const wrong: string[] = [];
  const last = new Map<string, WatchedChange>();
  for (const change of [...changes.values()].flat().sort((a, b) => a.content.modRevision - b.content.modRevision)) {
    const { key, content, previous } = change;
    const before = last.get(key);
    last.set(key, change);
    const known = before === undefined ? previous : before.kind === "put" ? before.content : null;
    if (before !== undefined && previous !== undefined && !isSameContent(previous, known ?? null)) {
      wrong.push(
        `watch of ${client}: the value before a change is that of the change before it: ${key} at ${content.modRevision}`,
      );
    }
    if (known !== undefined && !follows(change, known)) {
      wrong.push(`watch of ${client}: a key goes from one version to the next: ${key} at ${content.modRevision}`);
    }
  }
  return wrong;
}

/** Whether the change leads from the content before to this one; null = the key did not exist. */
function follows({ kind, content }: WatchedChange, before: KeyContent | null): boolean {
  const { value, createRevision, modRevision, version } = content;
  if (kind === "put") {
    const isCreated = before === null && version === 1 && createRevision === modRevision;
    return isCreated || (before !== null && version === before.version + 1 && createRevision === before.createRevision);
  }
  return (
    before !== null && value === before.value && version === before.version && createRevision === before.createRevision
  );
}
