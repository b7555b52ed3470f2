/**
 * Checks the changes that one watcher got without a gap: each must follow from the change before. For each lock they give
 * the holder at each revision, which must agree with the answers to clients.
 */

import { describeLockRecord, type LockMode, type LockRecord, type LockView, viewOf } from "./lock-history.ts";
import type { WatchedLockChange } from "./watch-history.ts";
import type { Coverage } from "./watch-streams.ts";

type LockCoverage = Coverage<WatchedLockChange>;

/** What an answer showed a client of a lock. */
interface Shown {
  readonly record: LockRecord;
  readonly view: LockView;
}

/**
 * Returns the contradictions of the changes in the coverage in words, among themselves and to what clients were shown.
 */
export function contradictionsOfLockChain(
  coverage: LockCoverage,
  records: readonly LockRecord[],
  nameOf: (lock: string) => string,
): readonly string[] {
  const { client, prefix, from, to, changes } = coverage;
  const byLock = Map.groupBy([...changes.values()].flat(), ({ lock }) => lock);
  const shown = records.flatMap((record): Shown[] => {
    const view = viewOf(record);
    const isWithin = view !== null && view.revision >= from && view.revision <= to;
    return isWithin && nameOf(record.operation.lock).startsWith(prefix) ? [{ record, view }] : [];
  });
  const shownByLock = Map.groupBy(shown, ({ record }) => record.operation.lock);
  return [...new Set([...byLock.keys(), ...shownByLock.keys()])].flatMap((lock) => {
    const chain = new LockChain(from);
    chain.follow(byLock.get(lock) ?? [], shownByLock.get(lock) ?? []);
    return chain.wrong.map((what) => `watch of ${client}: ${what} of ${lock}`);
  });
}

/** One lock, as its changes make it. */
class LockChain {
  readonly wrong: string[] = [];
  /** Nothing is known before this revision. */
  readonly #from: number;
  readonly #live = new Map<number, { readonly owner: string; readonly mode: LockMode }>();
  readonly #ended = new Set<number>();
  /** The end of a hold by its upgrade. The beginning of the other hold must follow. */
  #upgraded: WatchedLockChange | null = null;

  constructor(from: number) {
    this.#from = from;
  }

  follow(changes: readonly WatchedLockChange[], shown: readonly Shown[]): void {
    // Changes of one revision stay in the order in which the watcher got them.
    const sorted = changes.toSorted((a, b) => a.revision - b.revision);
    const views = shown.toSorted((a, b) => a.view.revision - b.view.revision);
    let seen = 0;
    for (const change of sorted) {
      for (let next = views[seen]; next !== undefined && next.view.revision < change.revision; next = views[seen]) {
        this.#compare(next);
        seen++;
      }
      this.#take(change);
    }
    this.#requireUpgraded(null);
    for (const next of views.slice(seen)) {
      this.#compare(next);
    }
  }

  #take(change: WatchedLockChange): void {
    this.#requireUpgraded(change);
    if (change.kind === "released") {
      this.#end(change);
    } else if (change.reason === "downgraded") {
      this.#downgrade(change);
    } else {
      this.#begin(change);
    }
  }

  #begin({ token, owner, mode, revision, reason }: WatchedLockChange): void {
    const [beside] = [...this.#live].filter(([, held]) => held.mode !== "read" || mode !== "read");
    if (beside !== undefined) {
      this.wrong.push(`no hold begins beside a writer's or an exclusive one: ${token} beside ${beside[0]}`);
    }
    if (reason === "upgraded" && this.#upgraded === null) {
      this.wrong.push(`an upgrade ends one hold and begins another, in this order: ${token} at ${revision}`);
    }
    this.#upgraded = null;
    this.#live.set(token, { owner, mode });
  }

  #downgrade({ token, owner, revision }: WatchedLockChange): void {
    const before = this.#live.get(token);
    const isKnown = token >= this.#from;
    if (this.#ended.has(token) || (isKnown && before?.mode !== "write") || (before?.owner ?? owner) !== owner) {
      this.wrong.push(`only a hold for writing is downgraded: ${token} at ${revision}`);
    }
    this.#live.set(token, { owner, mode: "read" });
  }

  #end(change: WatchedLockChange): void {
    const { token, owner, mode, revision, reason } = change;
    const before = this.#live.get(token);
    if (this.#ended.has(token) || (before === undefined && token >= this.#from)) {
      this.wrong.push(`a hold begins before it ends, and ends once: ${token} at ${revision}`);
    } else if (before !== undefined && (before.owner !== owner || before.mode !== mode)) {
      this.wrong.push(`a hold ends as it was: ${token} at ${revision}`);
    }
    this.#live.delete(token);
    this.#ended.add(token);
    if (reason === "upgraded") {
      this.#upgraded = change;
    }
  }

  /** After the end of a hold by an upgrade, the next change begins the other hold. */
  #requireUpgraded(next: WatchedLockChange | null): void {
    const ended = this.#upgraded;
    if (ended === null) {
      return;
    }
    const isOther =
      next?.kind === "acquired" &&
      next.reason === "upgraded" &&
      next.revision === ended.revision &&
      next.owner === ended.owner;
    if (!isOther) {
      this.#upgraded = null;
      this.wrong.push(
        `an upgrade ends one hold and begins another, in this order: ${ended.token} at ${ended.revision}`,
      );
    }
  }

  /** Holds that began before the coverage may be shown and may end without a beginning. */
  #compare({ record, view: { holds, revision } }: Shown): void {
    const hidden = [...this.#live].find(([token, { owner, mode }]) => {
      return !holds.some((hold) => hold.token === token && hold.owner === owner && hold.mode === mode);
    });
    const untold = holds.find(({ token }) => {
      return this.#ended.has(token) || (token >= this.#from && !this.#live.has(token));
    });
    const token = hidden?.[0] ?? untold?.token;
    if (token !== undefined) {
      const what = `answers and watches show the same of a lock: ${describeLockRecord(record)} at ${revision}`;
      this.wrong.push(`${what}, by ${token}`);
    }
  }
}
