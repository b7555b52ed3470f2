/**
 * Prepares the operations of one key for the search check. It lists the operations that were certainly executed, in the
 * order of their starts, and the writes of unknown outcome that may have been executed unseen.
 *
 * Each value is written once. So a write of unknown outcome was executed if an answer shows its value, and before the
 * end of the first operation with such an answer. Only the other writes need guessing. Among those that do the same and
 * whose values no operation expects, the one that began first stands for all.
 */

import type { KeyAnswer, KeyContent, KeyOperation, RecordedOperation } from "./history.ts";
import { contradictionOfFound, type KeyState, unknownRevision } from "./key-model.ts";
import {
  contentShownBy,
  isWrite,
  revisionAnsweredBy,
  ShownRevisions,
  shownBy,
  valueWrittenBy,
} from "./shown-revisions.ts";

/** An executed operation of the key. */
export interface Node {
  readonly recorded: RecordedOperation;
  readonly answer: KeyAnswer;
  readonly endMs: number;
  /** The revision in its answer, which identifies its write; 0 if there is none. */
  readonly revision: number;
  /** The value that it saw, so that its place is while that value is there; null = none. */
  readonly seen: string | null;
  /** The key after its write, as an answer shows it; null if none does, or if it writes nothing. */
  readonly shown: KeyContent | null;
  /** This operation comes after its cause, whatever the times; null = no cause. */
  readonly cause: Node | null;
  /** Whether it has a place in the order. */
  isExecuted: boolean;
}

/** An executed operation with its answer, known or deduced. */
interface Executed {
  readonly recorded: RecordedOperation;
  readonly answer: KeyAnswer;
  readonly endMs: number;
}

/** The operations of one key, and which of them have a place in the order that is being tried. */
export class SearchPlan {
  /** Those that were certainly executed, in the order of the starts. */
  readonly nodes: readonly Node[];
  readonly hidden: HiddenWrites;
  /** The first operation that saw a value whose write had not begun when it ended; null if there is none. */
  readonly orphan: RecordedOperation | null;
  /** By value, how many operations without a place have seen it. */
  readonly #waiting = new Map<string, number>();
  /** What answers show of the lives of the key, by the revision of the creation. */
  readonly #lives: ReadonlyMap<number, Life>;
  /** Revisions of the writes that were certainly executed. */
  readonly #revisions: ReadonlySet<number>;
  /** The highest version shown in a life that only a hidden write can have begun. */
  readonly #versionMaxOfHidden: number;

  /**
   * @param operations of the key.
   * @param all what is known of the keys that steps have joined with this one.
   */
  constructor(operations: readonly RecordedOperation[], { seenSteps, shownRevisions }: JoinedKeys) {
    const sights = sightsOf(operations);
    const executed: Executed[] = [];
    const hidden: RecordedOperation[] = [];
    for (const recorded of operations) {
      const { operation, outcome, endMs } = recorded;
      const value = valueWrittenBy(operation);
      const seenMs = seenSteps.get(recorded.step ?? -1) ?? (value === null ? undefined : sights.get(value));
      const isUnknown = outcome.kind === "unknown" && operation.kind !== "get";
      if (outcome.kind === "ok") {
        executed.push({ recorded, answer: outcome.answer, endMs });
      } else if (isUnknown && seenMs !== undefined) {
        const revision = shownRevisions.revisionOf(recorded) ?? unknownRevision(recorded.id);
        const isSwap = operation.kind === "compare-and-swap";
        executed.push({ recorded, answer: isSwap ? { kind: "swapped", revision } : DONE, endMs: seenMs });
      } else if (isUnknown && recorded.step === undefined) {
        hidden.push(recorded);
      }
    }
    const nodes = nodesOf(executed, shownRevisions, contentsOf(executed));
    this.nodes = nodes;
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
   * The part of the state that can make a difference: two states with the same essence allow the same answers for ever.
   */
  essenceOf(state: KeyState): string {
    if (state === null) {
      return "";
    }
    const { value, createRevision, modRevision, version } = state;
    const name = modRevision >= 0 || !this.hidden.isAnonymous(value) ? value : "?";
    // Versions above all that answers show of this life make no difference.
    const life = this.#lives.get(createRevision);
    const max = createRevision < 0 ? this.#versionMaxOfHidden : (life?.versions.at(-1) ?? 0);
    return `${createRevision < 0 ? "?" : createRevision} ${Math.min(version, max + 1)} ${modRevision < 0 ? "?" : modRevision} ${name}`;
  }

  /** Whether no operation still needs to see the value: an overwritten value never comes back. */
  mayGo(state: KeyState): boolean {
    return state === null || (this.#waiting.get(state.value) ?? 0) === 0;
  }

  /**
   * The state after an operation, with all that answers show of it. It is undefined if answers contradict it: they show
   * another state after this write, an earlier write that is missing, or a later write in the life that has ended.
   */
  deduceState(before: KeyState, after: KeyState, shown: KeyContent | null): KeyState | undefined {
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

  /** Gives the operation its place in the order. */
  place(node: Node): void {
    this.#note(node, -1);
  }

  /** Takes its place away again. */
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

  /** The lowest version in this life that an answer shows and that has no place yet; infinity if there is none. */
  #nextVersion(createRevision: number): number {
    const life = this.#lives.get(createRevision);
    return life?.versions[life.placed] ?? Number.POSITIVE_INFINITY;
  }
}

/** What answers show of keys that are searched together. */
export interface JoinedKeys {
  readonly shownRevisions: ShownRevisions;
  /** By step of unknown outcome, the end of the first operation that was shown a value of it. */
  readonly seenSteps: ReadonlyMap<number, number>;
}

export function joinedKeys(operations: readonly RecordedOperation[]): JoinedKeys {
  const seenSteps = new Map<number, number>();
  for (const ofKey of Map.groupBy(operations, ({ operation }) => operation.key).values()) {
    const sights = sightsOf(ofKey);
    for (const { operation, step, outcome } of ofKey) {
      const seenMs = sights.get(valueWrittenBy(operation) ?? "");
      if (step !== undefined && outcome.kind === "unknown" && seenMs !== undefined) {
        seenSteps.set(step, Math.min(seenMs, seenSteps.get(step) ?? seenMs));
      }
    }
  }
  return { shownRevisions: new ShownRevisions(operations), seenSteps };
}

/** What answers show of a key between its creation and its end. Its writes come in the order of their versions. */
interface Life {
  /** Versions of the shown writes, in rising order. */
  readonly versions: number[];
  /** How many of them have a place. */
  placed: number;
}

/** How many of the hidden operations were executed; immutable. */
export interface Used {
  readonly deletes: number;
  readonly puts: number;
  readonly creations: number;
  /** Ids in rising order. */
  readonly others: readonly number[];
}

export const NOTHING_USED: Used = { deletes: 0, puts: 0, creations: 0, others: [] };

const DONE: KeyAnswer = { kind: "done" };

/** Whether `one` leaves at least as many hidden operations as `other`. */
export function isAtMost(one: Used, other: Used): boolean {
  return (
    one.deletes <= other.deletes &&
    one.puts <= other.puts &&
    one.creations <= other.creations &&
    one.others.every((id) => other.others.includes(id))
  );
}

/** A hidden operation that could be executed, and what is used up after it. */
export interface HiddenChoice {
  readonly recorded: RecordedOperation;
  readonly used: Used;
}

/** Writes of unknown outcome whose values no answer shows. */
export class HiddenWrites {
  readonly #deletes: RecordedOperation[] = [];
  readonly #puts: RecordedOperation[] = [];
  readonly #creations: RecordedOperation[] = [];
  /** Puts and creations of values that another hidden operation expects. */
  readonly #others: RecordedOperation[] = [];
  /**
   * Operations that apply to one value or one revision only. The search need not remember which of them were executed:
   * each removes for ever the state that it applies to.
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

  /** Whether a hidden write wrote the value, and no operation can distinguish it from other such values. */
  isAnonymous(value: string): boolean {
    return this.#anonymous.has(value);
  }

  /** The hidden operations that began by `untilMs`, could be executed in this state, and would change it. */
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

/** The value that an answer showed it, or that it swapped for another; null if none. */
function valueSeenBy(operation: KeyOperation, answer: KeyAnswer): string | null {
  const swapped = answer.kind === "swapped" ? expectedValueOf(operation) : undefined;
  return shownBy(answer)?.value ?? swapped ?? null;
}

/** By value, the end of the first operation that was shown it, or swapped it for another. */
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

/** By value, the key right after the write, as an answer shows it. */
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

/** The operations in the order of their starts; causes come before their consequences. */
function nodesOf(
  executed: readonly Executed[],
  shownRevisions: ShownRevisions,
  contents: ReadonlyMap<string, KeyContent>,
): Node[] {
  const byStart = [...executed].sort(({ recorded: a }, { recorded: b }) => a.startMs - b.startMs || a.id - b.id);
  const byId = new Map<number, Node>();
  const nodes: Node[] = [];
  for (const { recorded, answer, endMs } of byStart) {
    const node: Node = {
      recorded,
      answer,
      endMs,
      isExecuted: false,
      seen: valueSeenBy(recorded.operation, answer),
      shown:
        isWrite(answer) || answer.kind === "done"
          ? (contents.get(valueWrittenBy(recorded.operation) ?? "") ?? null)
          : null,
      revision: revisionAnsweredBy(answer) ?? shownRevisions.revisionOf(recorded) ?? 0,
      cause: recorded.consequenceOf === undefined ? null : (byId.get(recorded.consequenceOf) ?? null),
    };
    byId.set(recorded.id, node);
    nodes.push(node);
  }
  return nodes;
}
