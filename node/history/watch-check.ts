/**
 * Judges what watchers of keys were told, by what the clients who changed the keys were told, and by what other watchers
 * were told of the same keys.
 *
 * - Every stream says first that it is created. Changes come in the order of their revisions, each once, each within the
 *   prefix, and no revision is split over messages.
 * - Everything up to the revision of a message has been told: what was acknowledged, and what another watcher has seen.
 * - A change is one that somebody asked for, at the revision that was answered; the end of a key whose time was limited
 *   does not come before that time.
 * - Values before a change, versions and revisions of creation follow from the changes before it.
 * - A stream that goes on where another ended leaves no gap and repeats nothing. What is not kept is refused, and nothing
 *   else is.
 */

import { type ClockLimits, shortestMs } from "./expiries.ts";
import type { KeyContent, RecordedOperation } from "./history.ts";
import { isWrite, revisionToldBy, valueWrittenBy } from "./revelation.ts";
import type { WatchedChange, WatchedStream, Watching, WatchMessage } from "./watch-history.ts";

export interface WatchLimits extends ClockLimits {
  /** The greatest compact revision that there was at any time; 0 = everything is kept. */
  readonly compactRevisionMax: number;
}

/** Revisions of which everything with the prefix was told to somebody, both included. */
interface Coverage {
  readonly client: string;
  readonly prefix: string;
  readonly from: number;
  readonly to: number;
  /** By their revisions, which are those within. */
  readonly changes: ReadonlyMap<number, WatchedChange>;
}

/** A change, and who was told of it first. */
interface Told {
  readonly change: WatchedChange;
  readonly by: string;
}

/** What contradicts what the watchers were told, in words; empty if nothing does. */
export function watchCheck(
  watchings: readonly Watching[],
  operations: readonly RecordedOperation[],
  limits: WatchLimits,
): readonly string[] {
  const wrong: string[] = [];
  const coverages: Coverage[] = [];
  for (const watching of watchings) {
    const found = watching.streams.flatMap((stream) => contradictionsOfStream(watching, stream, limits));
    const gaps = contradictionsOfResumption(watching);
    wrong.push(...[...found, ...gaps].map((what) => `watch of ${watching.client}: ${what}`));
    coverages.push(...coveragesOf(watching));
  }
  return [
    ...wrong,
    ...contradictionsOfTime(watchings, operations),
    ...contradictionsOfTruth(watchings, coverages, operations, limits),
    ...coverages.flatMap(contradictionsOfChain),
  ];
}

/** What a stream shows by itself. */
function contradictionsOfStream(
  { prefix }: Watching,
  { messages, startRevision, compactRevision }: WatchedStream,
  { compactRevisionMax }: WatchLimits,
): readonly string[] {
  const wrong: string[] = [];
  const at = startRevision === 0 ? "from now" : `from ${startRevision}`;
  if (compactRevision !== undefined && !(startRevision < compactRevision && compactRevision <= compactRevisionMax)) {
    wrong.push(`only what is not kept is refused: ${at} was, and what is kept begins at ${compactRevision}`);
  }
  let told = startRevision - 1;
  for (const [position, { kind, revision, changes }] of messages.entries()) {
    if ((kind === "created") !== (position === 0)) {
      wrong.push(`a stream is created once, before anything else: message ${position} of the one ${at} is ${kind}`);
    }
    let last = told;
    for (const { key, content } of changes) {
      const { modRevision } = content;
      if (!key.startsWith(prefix)) {
        wrong.push(`only keys with the prefix are told: ${key} at ${modRevision}`);
      }
      if (modRevision <= last) {
        const rule =
          modRevision <= told ? "what has been told is told once, and whole" : "changes come in order, each once";
        wrong.push(`${rule}: ${key} at ${modRevision} came after ${last}`);
      }
      last = Math.max(last, modRevision);
    }
    if (last > revision || revision < told) {
      wrong.push(`messages say how far everything is told: one after ${last} says ${revision}`);
    }
    told = Math.max(last, revision);
  }
  return wrong;
}

/** A watcher goes on behind what it was told last. */
function contradictionsOfResumption({ streams }: Watching): readonly string[] {
  const wrong: string[] = [];
  let told = 0;
  for (const { startRevision, messages, compactRevision } of streams) {
    if (told !== 0 && startRevision !== told + 1) {
      wrong.push(`a watcher goes on where it was: it asked for ${startRevision} after ${told}`);
    }
    // What is not kept cannot be told; the watcher knows, and goes on behind it.
    told = messages.at(-1)?.revision ?? (compactRevision === undefined ? told : compactRevision - 1);
  }
  return wrong;
}

/** What of the history was told to a watcher: streams that follow each other are one. */
function coveragesOf({ client, prefix, streams }: Watching): readonly Coverage[] {
  const coverages: (Coverage & { to: number; changes: Map<number, WatchedChange> })[] = [];
  for (const { startRevision, messages } of streams) {
    const [first] = messages;
    if (first === undefined) {
      continue;
    }
    const from = startRevision === 0 ? first.revision + 1 : startRevision;
    const last = coverages.at(-1);
    const present =
      last !== undefined && last.to + 1 === from ? last : { client, prefix, from, to: 0, changes: new Map() };
    if (present !== last) {
      coverages.push(present);
    }
    for (const { revision, changes } of messages) {
      present.to = Math.max(present.to, revision);
      for (const change of changes) {
        present.changes.set(change.content.modRevision, change);
      }
    }
  }
  return coverages;
}

/** Nothing is told before it was written, and a watch that begins now begins behind what was acknowledged before. */
function contradictionsOfTime(
  watchings: readonly Watching[],
  operations: readonly RecordedOperation[],
): readonly string[] {
  const writes = operations.flatMap(({ startMs, endMs, outcome }) => {
    const answer = outcome.kind === "ok" ? outcome.answer : null;
    const revision = answer === null ? undefined : revisionToldBy(answer);
    return answer !== null && revision !== undefined ? [{ startMs, endMs, revision, isWrite: isWrite(answer) }] : [];
  });
  const byStart = writes.filter((write) => write.isWrite).sort((a, b) => b.startMs - a.startMs);
  const wrong: string[] = [];
  const floors = floorsOf(writes);
  for (const { client, streams } of watchings) {
    // The last messages first: the least revision of what began after each is that of all that began later.
    // A stream that begins ahead of what there is says so when it is created, and tells nothing before.
    const messages = streams
      .flatMap((stream) => stream.messages.filter(({ kind }) => kind !== "created" || stream.startRevision === 0))
      .sort((a, b) => b.atMs - a.atMs);
    let ceiling = Number.POSITIVE_INFINITY;
    let begun = 0;
    for (const { revision, atMs } of messages) {
      for (let next = byStart[begun]; next !== undefined && next.startMs > atMs; next = byStart[begun]) {
        ceiling = Math.min(ceiling, next.revision);
        begun++;
      }
      if (revision >= ceiling) {
        wrong.push(
          `watch of ${client}: nothing is told before it is written: ${revision} was told, and ${ceiling} not begun`,
        );
      }
    }
    for (const { startMs, messages: told } of streams.filter((stream) => stream.startRevision === 0)) {
      const first = told[0]?.revision ?? Number.POSITIVE_INFINITY;
      const floor = floors.findLast(({ endMs }) => endMs < startMs)?.revision ?? 0;
      if (first < floor) {
        wrong.push(`watch of ${client}: a watch from now on begins now: at ${first}, when ${floor} had been answered`);
      }
    }
  }
  return wrong;
}

/** In the order of time: the ends of answers, each with the greatest revision that had been answered by then. */
function floorsOf(answers: readonly { readonly endMs: number; readonly revision: number }[]) {
  let revision = 0;
  return answers
    .toSorted((a, b) => a.endMs - b.endMs)
    .map((answer) => {
      revision = Math.max(revision, answer.revision);
      return { endMs: answer.endMs, revision };
    });
}

/** Every change is one that somebody asked for, and nothing is missing that was acknowledged or told to others. */
function contradictionsOfTruth(
  watchings: readonly Watching[],
  coverages: readonly Coverage[],
  operations: readonly RecordedOperation[],
  limits: WatchLimits,
): readonly string[] {
  const wrong: string[] = [];
  const writers = new Map<string, RecordedOperation>();
  const acknowledged = new Map<number, RecordedOperation>();
  const deletedMs = new Map<string, number>();
  for (const recorded of operations) {
    const { operation, outcome, startMs } = recorded;
    if (operation.kind === "delete" && outcome.kind !== "not-executed") {
      deletedMs.set(operation.key, Math.min(startMs, deletedMs.get(operation.key) ?? startMs));
    }
    const value = valueWrittenBy(operation);
    if (value !== null && outcome.kind !== "not-executed") {
      writers.set(JSON.stringify([operation.key, value]), recorded);
    }
    const answer = outcome.kind === "ok" ? outcome.answer : null;
    const revision = answer === null || !isWrite(answer) ? undefined : revisionToldBy(answer);
    if (revision !== undefined) {
      acknowledged.set(revision, recorded);
    }
  }
  const told = new Map<number, Told>();
  for (const { client, streams } of watchings) {
    for (const message of streams.flatMap(({ messages }) => messages)) {
      for (const change of message.changes) {
        const { modRevision } = change.content;
        const other = told.get(modRevision);
        if (other !== undefined && !isSame(other.change, change)) {
          wrong.push(`all watchers are told the same: ${other.by} and ${client} of revision ${modRevision}`);
        }
        told.set(modRevision, other ?? { change, by: client });
        const why = contradictionOfChange(change, message, { writers, acknowledged, deletedMs, limits });
        if (why !== null) {
          wrong.push(`watch of ${client}: ${why}: ${change.kind} of ${change.key} at ${modRevision}`);
        }
      }
    }
  }
  for (const coverage of coverages) {
    wrong.push(...missingIn(coverage, told, acknowledged));
  }
  return wrong;
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
  /** Who writes a value, by key and value. */
  readonly writers: ReadonlyMap<string, RecordedOperation>;
  readonly acknowledged: ReadonlyMap<number, RecordedOperation>;
  /** When somebody first began to delete a key. */
  readonly deletedMs: ReadonlyMap<string, number>;
  readonly limits: WatchLimits;
}

/** Why nobody can have made the change; null if somebody can. */
function contradictionOfChange(
  { kind, key, content }: WatchedChange,
  { atMs }: WatchMessage,
  truth: Truth,
): string | null {
  const known = truth.acknowledged.get(content.modRevision);
  const isKnownKey = known === undefined || known.operation.key === key;
  const isKnownKind = known === undefined || (known.operation.kind === "delete") === (kind === "delete");
  if (!isKnownKey || !isKnownKind || (known !== undefined && kind === "expire")) {
    return `the revision is that of #${known?.id}, which changed something else`;
  }
  const writer = truth.writers.get(JSON.stringify([key, content.value]));
  if (writer === undefined || writer.startMs > atMs) {
    return "nobody had begun to write the value";
  }
  if (kind === "put") {
    const told = writer.outcome.kind === "ok" ? revisionToldBy(writer.outcome.answer) : undefined;
    return told !== undefined && told !== content.modRevision
      ? `the value is that of #${writer.id}, which was told another revision`
      : null;
  }
  if (kind === "delete") {
    const isAsked = (truth.deletedMs.get(key) ?? Number.POSITIVE_INFINITY) <= atMs;
    return isAsked ? null : "nobody had begun to delete the key";
  }
  const { operation, startMs } = writer;
  const ttlMs = "ttlMs" in operation ? operation.ttlMs : undefined;
  if (ttlMs === undefined) {
    return "the time of the value is not limited";
  }
  return atMs < startMs + shortestMs(ttlMs, truth.limits) ? "its time is not up" : null;
}

/** What was acknowledged, or told to others, and not to whoever was told everything up to a later revision. */
function missingIn(
  { client, prefix, from, to, changes }: Coverage,
  told: ReadonlyMap<number, Told>,
  acknowledged: ReadonlyMap<number, RecordedOperation>,
): readonly string[] {
  const wrong: string[] = [];
  const isMissing = (revision: number, key: string): boolean =>
    revision >= from && revision <= to && key.startsWith(prefix) && !changes.has(revision);
  for (const [revision, { id, operation }] of acknowledged) {
    if (isMissing(revision, operation.key)) {
      wrong.push(
        `watch of ${client}: nothing is left out: #${id} changed ${operation.key} at ${revision}, told up to ${to}`,
      );
    }
  }
  for (const [revision, { change, by }] of told) {
    if (!acknowledged.has(revision) && isMissing(revision, change.key)) {
      wrong.push(
        `watch of ${client}: nothing is left out: ${by} was told of ${change.key} at ${revision}, told up to ${to}`,
      );
    }
  }
  return wrong;
}

/** Whatever is told of a key follows from what was told of it before. */
function contradictionsOfChain({ client, changes }: Coverage): readonly string[] {
  const wrong: string[] = [];
  const last = new Map<string, WatchedChange>();
  for (const change of [...changes.values()].sort((a, b) => a.content.modRevision - b.content.modRevision)) {
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

/** Whether a key can have become this from that, which is null if it did not exist. */
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
