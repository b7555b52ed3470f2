/**
 * What the search check has to put in order, made ready for it once: what must have been executed, in the order of the
 * starts, and the writes of unknown outcome that may have been executed without anybody seeing them.
 *
 * Values are written once. So a write of unknown outcome whose value somebody was shown has been executed, and before
 * the first of those who were shown it had ended; only the others are a matter of guessing. And of those, whoever writes
 * what nobody ever asks for is as good as any other that does the same, so the one that began first will do.
 */

import type { KeyAnswer, KeyContent, KeyOperation, RecordedOperation } from "./history.ts";
import { contradictionOfFound, type KeyState, unknownRevision } from "./key-model.ts";
import { contentShownBy, isWrite, Revelations, revisionToldBy, shownBy, valueWrittenBy } from "./revelation.ts";

/** An operation that was executed, in the list of those that have no place in the order yet. */
export interface Node {
  readonly recorded: RecordedOperation;
  readonly answer: KeyAnswer;
  /** In the order of the starts, from 0. */
  readonly position: number;
  readonly endMs: number;
  /** The revision that it was told, which names its write; 0 if it was told none. */
  readonly revision: number;
  /** The value that it saw, so that it comes while that is there; null = none. */
  readonly seen: string | null;
  /** What the key was after it wrote, to whoever was shown it; null if nobody was, or it writes nothing. */
  readonly shown: KeyContent | null;
  /** Comes later than this one, whatever the times; null = than none. */
  readonly cause: Node | null;
  previous: Node | null;
  next: Node | null;
  isExecuted: boolean;
}

/** An operation with what it must have been answered. */
interface Executed {
  readonly recorded: RecordedOperation;
  readonly answer: KeyAnswer;
  readonly endMs: number;
}

/** One key's operations, and what of them has its place in the order that is being tried. */
export class SearchPlan {
  /** In the order of the starts; null if nothing was executed for certain. */
  readonly first: Node | null;
  /** How many were executed for certain. */
  readonly count: number;
  readonly hidden: HiddenWrites;
  /** The first that saw a value that nobody had begun to write when it ended; null if there is none. */
  readonly orphan: RecordedOperation | null;
  /** How many have seen each value that have no place yet. */
  readonly #waiting = new Map<string, number>();
  /** What was shown of the lives of the key, by the revisions that created it. */
  readonly #lives: ReadonlyMap<number, Life>;
  /** Revisions of the writes that were executed for certain. */
  readonly #revisions: ReadonlySet<number>;
  /** The highest version shown of a key that nobody can have made but a hidden write. */
  readonly #versionMaxOfHidden: number;

  constructor(operations: readonly RecordedOperation[]) {
    const sights = sightsOf(operations);
    const revelations = new Revelations(operations);
    const executed: Executed[] = [];
    const hidden: RecordedOperation[] = [];
    for (const recorded of operations) {
      const { operation, outcome, endMs } = recorded;
      const value = valueWrittenBy(operation);
      const seenMs = value === null ? undefined : sights.get(value);
      if (outcome.kind === "ok") {
        executed.push({ recorded, answer: outcome.answer, endMs });
      } else if (outcome.kind === "unknown" && seenMs !== undefined) {
        const revision = revelations.revisionOf(operation) ?? unknownRevision(recorded.id);
        const isSwap = operation.kind === "compare-and-swap";
        executed.push({ recorded, answer: isSwap ? { kind: "swapped", revision } : DONE, endMs: seenMs });
      } else if (outcome.kind === "unknown" && operation.kind !== "get") {
        hidden.push(recorded);
      }
    }
    const nodes = linked(executed, revelations, contentsOf(executed));
    this.first = nodes[0] ?? null;
    this.count = nodes.length;
    for (const { seen } of nodes) {
      this.#wait(seen, 1);
    }
    this.orphan = orphanOf(nodes);
    this.#lives = livesOf(nodes);
    const writes = nodes.filter(({ answer }) => isWrite(answer) || answer.kind === "done");
    this.#revisions = new Set(writes.map(({ revision }) => revision));
    const hiddenLives = [...this.#lives].filter(([createRevision]) => !this.#revisions.has(createRevision));
    this.#versionMaxOfHidden = Math.max(0, ...hiddenLives.map(([, { versions }]) => versions.at(-1) ?? 0));
    this.hidden = new HiddenWrites(hidden);
  }

  /**
   * What of the state can ever make a difference: two states of which this is the same accept the same answers for ever.
   */
  essenceOf(state: KeyState): string {
    if (state === null) {
      return "";
    }
    const { value, createRevision, modRevision, version } = state;
    const name = modRevision >= 0 || !this.hidden.isAnonymous(value) ? value : "?";
    // Versions above all that anybody was shown of this key are one to everybody.
    const life = this.#lives.get(createRevision);
    const max = createRevision < 0 ? this.#versionMaxOfHidden : (life?.versions.at(-1) ?? 0);
    return `${createRevision < 0 ? "?" : createRevision} ${Math.min(version, max + 1)} ${modRevision < 0 ? "?" : modRevision} ${name}`;
  }

  /** Whether nobody waits to see what is there: a value that has gone never comes back. */
  mayGo(state: KeyState): boolean {
    return state === null || (this.#waiting.get(state.value) ?? 0) === 0;
  }

  /**
   * The state after an operation, with all that somebody was shown of it; undefined if somebody was shown something that
   * cannot be now: another state after this write, a write that should have come before, or one that is still to come in
   * the life of the key that is over.
   */
  settle(before: KeyState, after: KeyState, shown: KeyContent | null): KeyState | undefined {
    if (after === null) {
      const isOver = before === null || this.#nextVersion(before.createRevision) === Number.POSITIVE_INFINITY;
      return isOver ? after : undefined;
    }
    let state = after;
    if (shown !== null) {
      if (contradictionOfFound(after, shown) !== null) {
        return undefined;
      }
      if (after.createRevision < 0) {
        if (this.#revisions.has(shown.createRevision)) {
          return undefined;
        }
        state = { ...after, createRevision: shown.createRevision };
      }
    }
    return this.#nextVersion(state.createRevision) > state.version ? state : undefined;
  }

  /** The operation gets its place in the order. */
  place(node: Node): void {
    this.#note(node, -1);
  }

  /** The operation loses its place again. */
  displace(node: Node): void {
    this.#note(node, 1);
  }

  #note({ seen, shown }: Node, more: number): void {
    this.#wait(seen, more);
    const life = shown === null ? undefined : this.#lives.get(shown.createRevision);
    if (life !== undefined) {
      life.placed -= more;
    }
  }

  #wait(seen: string | null, more: number): void {
    if (seen !== null) {
      this.#waiting.set(seen, (this.#waiting.get(seen) ?? 0) + more);
    }
  }

  /** The lowest version that was shown of this life of the key and has no place yet; infinity if there is none. */
  #nextVersion(createRevision: number): number {
    const life = this.#lives.get(createRevision);
    return life?.versions[life.placed] ?? Number.POSITIVE_INFINITY;
  }
}

/** What was shown of a key between its creation and its end: writes come in the order of their versions. */
interface Life {
  /** Of the writes that were shown, in rising order. */
  readonly versions: number[];
  /** How many of them have their place. */
  placed: number;
}

/** How much of what is hidden was executed; never changed. */
export interface Used {
  readonly deletes: number;
  readonly puts: number;
  readonly creations: number;
  /** Ids, in rising order. */
  readonly others: readonly number[];
}

export const NOTHING_USED: Used = { deletes: 0, puts: 0, creations: 0, others: [] };

const DONE: KeyAnswer = { kind: "done" };

/** Whether whoever has used this has at least as much left as whoever has used the other. */
export function isAtMost(one: Used, other: Used): boolean {
  return (
    one.deletes <= other.deletes &&
    one.puts <= other.puts &&
    one.creations <= other.creations &&
    one.others.every((id) => other.others.includes(id))
  );
}

/** An operation of unknown outcome that could be executed, and what is used up then. */
export interface HiddenChoice {
  readonly recorded: RecordedOperation;
  readonly used: Used;
}

/** Writes of unknown outcome whose values nobody has met. */
export class HiddenWrites {
  readonly #deletes: RecordedOperation[] = [];
  readonly #puts: RecordedOperation[] = [];
  readonly #creations: RecordedOperation[] = [];
  /** Puts and creations of values that another hidden operation waits for. */
  readonly #others: RecordedOperation[] = [];
  /**
   * Those that happen to one value or one revision only. Nobody needs to remember which of them were executed: they
   * take away for ever what they happen to.
   */
  readonly #byValue = new Map<string, RecordedOperation[]>();
  readonly #byRevision = new Map<number, RecordedOperation[]>();
  readonly #anonymous = new Set<string>();

  constructor(operations: readonly RecordedOperation[]) {
    const byStart = [...operations].sort((a, b) => a.startMs - b.startMs || a.id - b.id);
    const awaited = new Set(byStart.map(({ operation }) => expectedValueOf(operation)));
    for (const recorded of byStart) {
      const { operation } = recorded;
      const value = valueWrittenBy(operation);
      if (value !== null && !awaited.has(value)) {
        this.#anonymous.add(value);
      }
      this.#listFor(operation, value !== null && awaited.has(value)).push(recorded);
    }
  }

  /** Whether the value is that of a hidden write, and nobody will ever tell it from another one. */
  isAnonymous(value: string): boolean {
    return this.#anonymous.has(value);
  }

  /** What of it could be executed in this state, of what began up to that time, and would change something. */
  choices(state: KeyState, used: Used, untilMs: number): HiddenChoice[] {
    const choices: HiddenChoice[] = [];
    const offer = (recorded: RecordedOperation | undefined, after: Used): void => {
      if (recorded !== undefined && recorded.startMs <= untilMs) {
        choices.push({ recorded, used: after });
      }
    };
    if (state === null) {
      offer(this.#creations[used.creations], { ...used, creations: used.creations + 1 });
    } else {
      offer(this.#deletes[used.deletes], { ...used, deletes: used.deletes + 1 });
      for (const recorded of this.#byValue.get(state.value) ?? []) {
        const { operation } = recorded;
        const expected = operation.kind === "compare-and-swap" ? operation.expectedModRevision : undefined;
        if (expected === undefined || expected === state.modRevision) {
          offer(recorded, used);
        }
      }
      for (const recorded of this.#byRevision.get(state.modRevision) ?? []) {
        offer(recorded, used);
      }
    }
    offer(this.#puts[used.puts], { ...used, puts: used.puts + 1 });
    for (const recorded of this.#others) {
      const isPossible = recorded.operation.kind === "put" || state === null;
      if (isPossible && !used.others.includes(recorded.id)) {
        offer(recorded, { ...used, others: [...used.others, recorded.id].sort((a, b) => a - b) });
      }
    }
    return choices;
  }

  #listFor(operation: KeyOperation, isAwaited: boolean): RecordedOperation[] {
    const value = expectedValueOf(operation);
    if (value !== undefined) {
      return listAt(this.#byValue, value);
    }
    if (operation.kind === "compare-and-swap" && (operation.expectedModRevision ?? 0) !== 0) {
      return listAt(this.#byRevision, operation.expectedModRevision as number);
    }
    if (operation.kind === "delete") {
      return this.#deletes;
    }
    if (isAwaited) {
      return this.#others;
    }
    return operation.kind === "put" ? this.#puts : this.#creations;
  }
}

function listAt<Key>(map: Map<Key, RecordedOperation[]>, key: Key): RecordedOperation[] {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
}

function expectedValueOf(operation: KeyOperation): string | undefined {
  return operation.kind === "delete" || operation.kind === "compare-and-swap" ? operation.expectedValue : undefined;
}

/** The value that it was shown, or has swapped for another; null if none. */
function valueSeenBy(operation: KeyOperation, answer: KeyAnswer): string | null {
  const swapped = answer.kind === "swapped" ? expectedValueOf(operation) : undefined;
  return shownBy(answer)?.value ?? swapped ?? null;
}

/** By value, when the first one had ended who was shown it, or has swapped it for another. */
function sightsOf(operations: readonly RecordedOperation[]): Map<string, number> {
  const sights = new Map<string, number>();
  for (const { operation, outcome, endMs } of operations) {
    const value = outcome.kind === "ok" ? valueSeenBy(operation, outcome.answer) : null;
    if (value !== null) {
      sights.set(value, Math.min(endMs, sights.get(value) ?? endMs));
    }
  }
  return sights;
}

/** By value, what the key was when it had just been written, to whoever was shown it. */
function contentsOf(executed: readonly Executed[]): Map<string, KeyContent> {
  const contents = new Map<string, KeyContent>();
  for (const { answer } of executed) {
    const content = contentShownBy(answer);
    if (content !== null) {
      contents.set(content.value, content);
    }
  }
  return contents;
}

function orphanOf(nodes: readonly Node[]): RecordedOperation | null {
  const begunMs = new Map<string, number>();
  for (const { recorded } of nodes) {
    const value = valueWrittenBy(recorded.operation);
    if (value !== null) {
      begunMs.set(value, recorded.startMs);
    }
  }
  const orphan = nodes.find(
    ({ seen, endMs }) => seen !== null && !((begunMs.get(seen) ?? Number.POSITIVE_INFINITY) <= endMs),
  );
  return orphan?.recorded ?? null;
}

function livesOf(nodes: readonly Node[]): Map<number, Life> {
  const lives = new Map<number, Life>();
  for (const { shown } of nodes) {
    if (shown !== null) {
      const life = lives.get(shown.createRevision) ?? { versions: [], placed: 0 };
      life.versions.push(shown.version);
      lives.set(shown.createRevision, life);
    }
  }
  for (const { versions } of lives.values()) {
    versions.sort((a, b) => a - b);
  }
  return lives;
}

/** The operations as a list in the order of their starts; those that cause others come before them. */
function linked(
  executed: readonly Executed[],
  revelations: Revelations,
  contents: ReadonlyMap<string, KeyContent>,
): Node[] {
  const byStart = [...executed].sort(({ recorded: a }, { recorded: b }) => a.startMs - b.startMs || a.id - b.id);
  const byId = new Map<number, Node>();
  const nodes: Node[] = [];
  for (const { recorded, answer, endMs } of byStart) {
    const previous = nodes.at(-1) ?? null;
    const node: Node = {
      ...{ recorded, answer, endMs, position: nodes.length, previous, next: null, isExecuted: false },
      seen: valueSeenBy(recorded.operation, answer),
      shown:
        isWrite(answer) || answer.kind === "done"
          ? (contents.get(valueWrittenBy(recorded.operation) ?? "") ?? null)
          : null,
      revision: revisionToldBy(answer) ?? revelations.revisionOf(recorded.operation) ?? 0,
      cause: recorded.consequenceOf === undefined ? null : (byId.get(recorded.consequenceOf) ?? null),
    };
    if (previous !== null) {
      previous.next = node;
    }
    byId.set(recorded.id, node);
    nodes.push(node);
  }
  return nodes;
}
