/**
 * The rules of every watch, of keys and of locks.
 *
 * - Every stream first reports that it is created. Changes come in the order of their revisions, each once, each within
 *   the prefix, and no revision is split over messages.
 * - A stream that resumes another one leaves no gap and repeats nothing. A stream is refused only if its start is not
 *   kept.
 * - No change comes before it can have happened. A watch from now on begins after all earlier answers.
 * - All watchers get the same changes, and everything up to the revision of a message.
 */

import type { ClockLimits } from "./expiries.ts";
import type { RevisionAnswer } from "./revision-order.ts";
import type { WatchedStream, Watching } from "./watch-history.ts";

export interface WatchLimits extends ClockLimits {
  /** The greatest compact revision at any time; 0 = all revisions are kept. */
  readonly compactRevisionMax: number;
  /** Keys whose values may have got another TTL than that of their write; absent = none. */
  readonly touched?: ReadonlySet<string>;
}

/** How to read the changes of one kind of things. */
export interface Subject<Change> {
  /** The plural name of the things. */
  readonly things: string;
  revisionOf(change: Change): number;
  /** The name of the changed thing. Prefixes apply to it. */
  nameOf(change: Change): string;
  /** Whether it is the same change, sent again: the only one of its revision that is like this. */
  isAgain(one: Change, other: Change): boolean;
  /** Whether two watchers got the same change with the same content. */
  isSame(one: Change, other: Change): boolean;
}

/** A range of revisions, both included, for which a watcher got all changes with the prefix. */
export interface Coverage<Change> {
  readonly client: string;
  readonly prefix: string;
  readonly from: number;
  readonly to: number;
  /** The changes in the range by revision; those of one revision in the order in which they came. */
  readonly changes: ReadonlyMap<number, readonly Change[]>;
}

/** A change, and the watcher that got it first. */
export interface DeliveredChange<Change> {
  readonly change: Change;
  readonly by: string;
}

/** A change that must reach every watcher that got everything up to its revision. */
export interface Due<Change> {
  readonly revision: number;
  readonly name: string;
  /** How the check knows that it happened. */
  readonly why: string;
  /** Whether it is among the changes of its revision that a watcher got. */
  isAmong(changes: readonly Change[]): boolean;
}

/** Returns the contradictions within streams, between consecutive ones, and to the times of the answers, in words. */
export function contradictionsOfStreams<Change>(
  watchings: readonly Watching<Change>[],
  answers: readonly RevisionAnswer[],
  subject: Subject<Change>,
  limits: WatchLimits,
): readonly string[] {
  const wrong = watchings.flatMap((watching) => {
    const found = watching.streams.flatMap((stream) => contradictionsOfStream(watching, stream, subject, limits));
    const gaps = contradictionsOfResumption(watching);
    return [...found, ...gaps].map((what) => `watch of ${watching.client}: ${what}`);
  });
  return [...wrong, ...contradictionsOfTime(watchings, answers)];
}

/** The rules that a stream breaks by itself. */
function contradictionsOfStream<Change>(
  { prefix }: Pick<Watching, "prefix">,
  { messages, startRevision, compactRevision }: WatchedStream<Change>,
  subject: Subject<Change>,
  { compactRevisionMax }: WatchLimits,
): readonly string[] {
  const wrong: string[] = [];
  const at = startRevision === 0 ? "from now" : `from ${startRevision}`;
  if (compactRevision !== undefined && !(startRevision < compactRevision && compactRevision <= compactRevisionMax)) {
    wrong.push(`only a compacted start is refused: ${at} was, but revisions are kept from ${compactRevision}`);
  }
  let delivered = startRevision - 1;
  for (const [position, { kind, revision, changes }] of messages.entries()) {
    if ((kind === "created") !== (position === 0)) {
      wrong.push(`a stream is created once, before anything else: message ${position} of the one ${at} is ${kind}`);
    }
    let last = delivered;
    let ofLast: Change[] = [];
    for (const change of changes) {
      const name = subject.nameOf(change);
      const changed = subject.revisionOf(change);
      if (!name.startsWith(prefix)) {
        wrong.push(`only ${subject.things} with the prefix are sent: ${name} at ${changed}`);
      }
      if (changed <= delivered) {
        wrong.push(`a revision is sent once, and whole: ${name} at ${changed} came after ${last}`);
      } else if (changed < last || (changed === last && ofLast.some((one) => subject.isAgain(one, change)))) {
        wrong.push(`changes come in order, each once: ${name} at ${changed} came after ${last}`);
      }
      ofLast = changed > last ? [change] : [...ofLast, change];
      last = Math.max(last, changed);
    }
    if (last > revision || revision < delivered) {
      wrong.push(`the revisions of messages grow: one after ${last} has ${revision}`);
    }
    delivered = Math.max(last, revision);
  }
  return wrong;
}

/** A watcher resumes right after the last revision that it got. */
function contradictionsOfResumption<Change>({ streams }: Watching<Change>): readonly string[] {
  const wrong: string[] = [];
  let delivered = 0;
  for (const { startRevision, messages, compactRevision } of streams) {
    if (delivered !== 0 && startRevision !== delivered + 1) {
      wrong.push(`a watcher resumes where it was: it requested ${startRevision} after ${delivered}`);
    }
    // Compacted changes cannot be sent. The watcher knows that, and resumes after them.
    delivered = messages.at(-1)?.revision ?? (compactRevision === undefined ? delivered : compactRevision - 1);
  }
  return wrong;
}

/** No change comes before its request, and a watch from now on begins after all earlier answers. */
function contradictionsOfTime<Change>(
  watchings: readonly Watching<Change>[],
  answers: readonly RevisionAnswer[],
): readonly string[] {
  const byStart = answers
    .flatMap(({ startMs, own }) => (own === null ? [] : [{ startMs, own }]))
    .sort((a, b) => b.startMs - a.startMs);
  const wrong: string[] = [];
  const floors = floorsOf(answers);
  for (const { client, streams } of watchings) {
    // The last messages come first: the least revision of what began after each applies to all that began later.
    const messages = streams
      .flatMap((stream) => stream.messages.filter(({ kind }) => kind !== "created" || stream.startRevision === 0))
      .sort((a, b) => b.atMs - a.atMs);
    let ceiling = Number.POSITIVE_INFINITY;
    let begun = 0;
    for (const { revision, atMs } of messages) {
      for (let next = byStart[begun]; next !== undefined && next.startMs > atMs; next = byStart[begun]) {
        ceiling = Math.min(ceiling, next.own);
        begun++;
      }
      if (revision >= ceiling) {
        wrong.push(
          `watch of ${client}: nothing is sent before it is written: ${revision} was sent, and ${ceiling} not begun`,
        );
      }
    }
    for (const { startMs, messages: delivered } of streams.filter((stream) => stream.startRevision === 0)) {
      const first = delivered[0]?.revision ?? Number.POSITIVE_INFINITY;
      const floor = floors.findLast(({ endMs }) => endMs < startMs)?.revision ?? 0;
      if (first < floor) {
        wrong.push(`watch of ${client}: a watch from now on begins now: at ${first}, when ${floor} had been answered`);
      }
    }
  }
  return wrong;
}

/** The ends of the answers in the order of time, each with the greatest revision that was answered by then. */
function floorsOf(answers: readonly RevisionAnswer[]) {
  let revision = 0;
  return answers
    .toSorted((a, b) => a.endMs - b.endMs)
    .map((answer) => {
      revision = Math.max(revision, answer.revision);
      return { endMs: answer.endMs, revision };
    });
}

/** The ranges of the history that a watcher got; consecutive streams are one range. */
export function coveragesOf<Change>(
  { client, prefix, streams }: Watching<Change>,
  { revisionOf }: Subject<Change>,
): readonly Coverage<Change>[] {
  const coverages: (Coverage<Change> & { to: number; changes: Map<number, readonly Change[]> })[] = [];
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
      for (const [changed, ofRevision] of Map.groupBy(changes, revisionOf)) {
        present.changes.set(changed, ofRevision);
      }
    }
  }
  return coverages;
}

/** All changes that any watcher got. `wrong` lists those that watchers got with different content, in words. */
export function deliveredChanges<Change>(
  watchings: readonly Watching<Change>[],
  { revisionOf, isAgain, isSame }: Subject<Change>,
): { readonly delivered: readonly DeliveredChange<Change>[]; readonly wrong: readonly string[] } {
  const byRevision = new Map<number, DeliveredChange<Change>[]>();
  const wrong: string[] = [];
  for (const { client, streams } of watchings) {
    for (const change of streams.flatMap(({ messages }) => messages.flatMap(({ changes }) => changes))) {
      const revision = revisionOf(change);
      const known = byRevision.get(revision) ?? [];
      const other = known.find((one) => isAgain(one.change, change));
      if (other === undefined) {
        byRevision.set(revision, [...known, { change, by: client }]);
      } else if (!isSame(other.change, change)) {
        wrong.push(`all watchers get the same: ${other.by} and ${client} of revision ${revision}`);
      }
    }
  }
  return { delivered: [...byRevision.values()].flat(), wrong };
}

/** The changes that are due within the coverage and are missing. */
export function missingIn<Change>(
  { client, prefix, from, to, changes }: Coverage<Change>,
  due: readonly Due<Change>[],
): readonly string[] {
  return due
    .filter(({ revision, name }) => revision >= from && revision <= to && name.startsWith(prefix))
    .filter((one) => !one.isAmong(changes.get(one.revision) ?? []))
    .map(({ why, revision }) => {
      return `watch of ${client}: nothing is left out: ${why} at ${revision}, sent up to ${to}`;
    });
}
