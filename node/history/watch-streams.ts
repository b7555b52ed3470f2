/**
 * What holds of every watch, whatever is watched.
 *
 * - Every stream says first that it is created. Changes come in the order of their revisions, each once, each within the
 *   prefix, and no revision is split over messages.
 * - A stream that goes on where another ended leaves no gap and repeats nothing. What is not kept is refused, and nothing
 *   else is.
 * - Nothing is told before it can have happened, and a watch from now on begins behind what was answered before.
 * - All watchers are told the same, and everything up to the revision of a message.
 */

import type { ClockLimits } from "./expiries.ts";
import type { RevisionAnswer } from "./revision-order.ts";
import type { WatchedStream, Watching } from "./watch-history.ts";

export interface WatchLimits extends ClockLimits {
  /** The greatest compact revision that there was at any time; 0 = everything is kept. */
  readonly compactRevisionMax: number;
}

/** How changes are read that are told of one kind of things. */
export interface Subject<Change> {
  /** What the things are called together. */
  readonly things: string;
  revisionOf(change: Change): number;
  /** Of the thing that has changed: what prefixes are of. */
  nameOf(change: Change): string;
  /** Whether it is the same change, told once more: the only one of its revision that is like this. */
  isAgain(one: Change, other: Change): boolean;
  /** Whether the same change was told in the same way. */
  isSame(one: Change, other: Change): boolean;
}

/** Revisions of which everything with the prefix was told to somebody, both included. */
export interface Coverage<Change> {
  readonly client: string;
  readonly prefix: string;
  readonly from: number;
  readonly to: number;
  /** By their revisions, which are those within; those of one revision in the order in which they were told. */
  readonly changes: ReadonlyMap<number, readonly Change[]>;
}

/** A change, and who was told of it first. */
export interface Told<Change> {
  readonly change: Change;
  readonly by: string;
}

/** A change that must have been told to whoever was told everything up to its revision. */
export interface Due<Change> {
  readonly revision: number;
  readonly name: string;
  /** How it is known that it has happened. */
  readonly why: string;
  /** Whether it is among the changes of its revision that were told. */
  isAmong(changes: readonly Change[]): boolean;
}

/** What contradicts each stream, what follows after it, and the times of the answers, in words. */
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

/** What a stream shows by itself. */
function contradictionsOfStream<Change>(
  { prefix }: Pick<Watching, "prefix">,
  { messages, startRevision, compactRevision }: WatchedStream<Change>,
  subject: Subject<Change>,
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
    let ofLast: Change[] = [];
    for (const change of changes) {
      const name = subject.nameOf(change);
      const changed = subject.revisionOf(change);
      if (!name.startsWith(prefix)) {
        wrong.push(`only ${subject.things} with the prefix are told: ${name} at ${changed}`);
      }
      if (changed <= told) {
        wrong.push(`what has been told is told once, and whole: ${name} at ${changed} came after ${last}`);
      } else if (changed < last || (changed === last && ofLast.some((one) => subject.isAgain(one, change)))) {
        wrong.push(`changes come in order, each once: ${name} at ${changed} came after ${last}`);
      }
      ofLast = changed > last ? [change] : [...ofLast, change];
      last = Math.max(last, changed);
    }
    if (last > revision || revision < told) {
      wrong.push(`messages say how far everything is told: one after ${last} says ${revision}`);
    }
    told = Math.max(last, revision);
  }
  return wrong;
}

/** A watcher goes on behind what it was told last. */
function contradictionsOfResumption<Change>({ streams }: Watching<Change>): readonly string[] {
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

/** Nothing is told before it was asked for, and a watch that begins now begins behind what was answered before. */
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
    // The last messages first: the least revision of what began after each is that of all that began later.
    // A stream that begins ahead of what there is says so when it is created, and tells nothing before.
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
function floorsOf(answers: readonly RevisionAnswer[]) {
  let revision = 0;
  return answers
    .toSorted((a, b) => a.endMs - b.endMs)
    .map((answer) => {
      revision = Math.max(revision, answer.revision);
      return { endMs: answer.endMs, revision };
    });
}

/** What of the history was told to a watcher: streams that follow each other are one. */
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

/** The changes that anybody was told; those that others were told in another way are in `wrong`, in words. */
export function allTold<Change>(
  watchings: readonly Watching<Change>[],
  { revisionOf, isAgain, isSame }: Subject<Change>,
): { readonly told: readonly Told<Change>[]; readonly wrong: readonly string[] } {
  const byRevision = new Map<number, Told<Change>[]>();
  const wrong: string[] = [];
  for (const { client, streams } of watchings) {
    for (const change of streams.flatMap(({ messages }) => messages.flatMap(({ changes }) => changes))) {
      const revision = revisionOf(change);
      const known = byRevision.get(revision) ?? [];
      const other = known.find((one) => isAgain(one.change, change));
      if (other === undefined) {
        byRevision.set(revision, [...known, { change, by: client }]);
      } else if (!isSame(other.change, change)) {
        wrong.push(`all watchers are told the same: ${other.by} and ${client} of revision ${revision}`);
      }
    }
  }
  return { told: [...byRevision.values()].flat(), wrong };
}

/** What was to be told within the coverage and was not. */
export function missingIn<Change>(
  { client, prefix, from, to, changes }: Coverage<Change>,
  due: readonly Due<Change>[],
): readonly string[] {
  return due
    .filter(({ revision, name }) => revision >= from && revision <= to && name.startsWith(prefix))
    .filter((one) => !one.isAmong(changes.get(one.revision) ?? []))
    .map(({ why, revision }) => {
      return `watch of ${client}: nothing is left out: ${why} at ${revision}, told up to ${to}`;
    });
}
