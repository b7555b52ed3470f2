/**
 * The search check: is there any order of the operations, within their times, in which a single copy of the key would
 * have given these answers? It believes no revision: it uses them as names of writes, never as an order.
 *
 * The method is that of Wing and Gong with Lowe's memory of configurations that were tried: keys apart from each other,
 * for an order of the whole exists if one exists for each (Herlihy and Wing, theorem 1). Two things keep it short. What
 * changes nothing and fits is executed at once, for nothing is won by waiting. And what is of unknown outcome is tried
 * last, because mostly it was not executed.
 */

import type { RecordedOperation } from "./history.ts";
import { contradiction, execute, type KeyState, unknownRevision } from "./key-model.ts";
import { Revelations } from "./revelation.ts";
import { CORRECT, type Impossible, type Verdict } from "./verdict.ts";

export interface SearchOptions {
  /** A monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  /** How long to look, over all keys. */
  readonly limitMs: number;
}

/** How long a search may take by default: a history that takes longer is too large to show anything. */
export const SEARCH_LIMIT_MS = 10_000;

const STEPS_BETWEEN_LOOKS_AT_THE_CLOCK = 256;
/** Operations shown before the point where nothing fits. */
const SHOWN_BEFORE = 5;

/** An answered operation in the list of those that have not been executed, in the order of their starts. */
interface Node {
  readonly recorded: RecordedOperation;
  readonly position: number;
  previous: Node | null;
  next: Node | null;
}

/** A place in the order that is being tried, and what was put there. */
interface Frame {
  /** State before it. */
  readonly state: KeyState;
  /** Highest position that was executed before it. */
  readonly high: number;
  /** What could come here; those before `at` were tried. */
  readonly candidates: readonly Candidate[];
  at: number;
  chosen: Candidate | null;
}

/** Exactly one of the two: an answered operation, or the position of one of unknown outcome. */
type Candidate = { readonly node: Node } | { readonly unknown: number };

/** Looks for an order of all operations, key by key. */
export function searchCheck(operations: readonly RecordedOperation[], options: SearchOptions): Verdict {
  const deadlineMs = options.nowMs() + options.limitMs;
  const byKey = new Map<string, RecordedOperation[]>();
  for (const recorded of operations) {
    const { key } = recorded.operation;
    const ofKey = byKey.get(key);
    if (ofKey === undefined) {
      byKey.set(key, [recorded]);
    } else {
      ofKey.push(recorded);
    }
  }
  for (const [key, ofKey] of byKey) {
    const verdict = new Search(key, ofKey, () => options.nowMs() > deadlineMs).run();
    if (verdict.kind !== "correct") {
      return verdict;
    }
  }
  return CORRECT;
}

class Search {
  readonly #key: string;
  readonly #isOver: () => boolean;
  /** Before the first node. */
  readonly #head: Node;
  readonly #unknown: readonly RecordedOperation[];
  readonly #isUnknownExecuted: boolean[];
  readonly #revelations: Revelations;
  readonly #tried = new Set<string>();
  readonly #frames: Frame[] = [];
  #state: KeyState = null;
  #high = -1;
  #remaining: number;
  #fewestRemaining = Number.POSITIVE_INFINITY;
  #deadEnd: Verdict | null = null;

  constructor(key: string, operations: readonly RecordedOperation[], isOver: () => boolean) {
    this.#key = key;
    this.#isOver = isOver;
    const byStart = [...operations].sort((a, b) => a.startMs - b.startMs || a.id - b.id);
    const answered = byStart.filter(({ outcome }) => outcome.kind === "ok");
    this.#head = { recorded: answered[0] as RecordedOperation, position: -1, previous: null, next: null };
    let last = this.#head;
    for (const [position, recorded] of answered.entries()) {
      const node: Node = { recorded, position, previous: last, next: null };
      last.next = node;
      last = node;
    }
    this.#remaining = answered.length;
    this.#revelations = new Revelations(answered);
    this.#unknown = byStart.filter(({ outcome, operation }) => outcome.kind === "unknown" && operation.kind !== "get");
    this.#isUnknownExecuted = this.#unknown.map(() => false);
  }

  run(): Verdict {
    this.#push();
    for (let steps = 1; this.#remaining > 0; steps++) {
      if (steps % STEPS_BETWEEN_LOOKS_AT_THE_CLOCK === 0 && this.#isOver()) {
        return { kind: "undecided", key: this.#key, operations: this.#remaining };
      }
      if (this.#advance()) {
        this.#push();
      } else if (!this.#goBack()) {
        return this.#deadEnd ?? CORRECT;
      }
    }
    return CORRECT;
  }

  #push(): void {
    const candidates = this.#candidates();
    this.#frames.push({ state: this.#state, high: this.#high, candidates, at: 0, chosen: null });
  }

  /** Executes the next candidate of the last frame that leads to something new; false if there is none. */
  #advance(): boolean {
    const frame = this.#frames.at(-1) as Frame;
    while (frame.at < frame.candidates.length) {
      const candidate = frame.candidates[frame.at] as Candidate;
      frame.at++;
      const { operation, outcome } = this.#recordedOf(candidate);
      if (outcome.kind === "ok" && contradiction(frame.state, operation, outcome.answer) !== null) {
        continue;
      }
      const state = execute(frame.state, operation, this.#revisionOf(candidate));
      if (state === frame.state) {
        if ("unknown" in candidate) {
          continue;
        }
        // Whatever could come in its place can come after it.
        frame.at = frame.candidates.length;
        this.#choose(frame, candidate, state);
        return true;
      }
      this.#choose(frame, candidate, state);
      const configuration = this.#configuration();
      if (!this.#tried.has(configuration)) {
        this.#tried.add(configuration);
        return true;
      }
      this.#takeBack(frame);
    }
    this.#noteDeadEnd(frame);
    return false;
  }

  /** Leaves the last frame, in which nothing fits, for the one before; false if there is none. */
  #goBack(): boolean {
    this.#frames.pop();
    const frame = this.#frames.at(-1);
    if (frame === undefined) {
      return false;
    }
    this.#takeBack(frame);
    return true;
  }

  #choose(frame: Frame, candidate: Candidate, state: KeyState): void {
    frame.chosen = candidate;
    this.#state = state;
    if ("unknown" in candidate) {
      this.#isUnknownExecuted[candidate.unknown] = true;
      return;
    }
    const { node } = candidate;
    (node.previous as Node).next = node.next;
    if (node.next !== null) {
      node.next.previous = node.previous;
    }
    this.#high = Math.max(this.#high, node.position);
    this.#remaining--;
  }

  #takeBack(frame: Frame): void {
    const candidate = frame.chosen as Candidate;
    frame.chosen = null;
    this.#state = frame.state;
    this.#high = frame.high;
    if ("unknown" in candidate) {
      this.#isUnknownExecuted[candidate.unknown] = false;
      return;
    }
    const { node } = candidate;
    (node.previous as Node).next = node;
    if (node.next !== null) {
      node.next.previous = node;
    }
    this.#remaining++;
  }

  /**
   * What may come next: everything that started before the first end of what was not executed, answered operations
   * first.
   */
  #candidates(): Candidate[] {
    const nodes: Node[] = [];
    let firstEndMs = Number.POSITIVE_INFINITY;
    for (let node = this.#head.next; node !== null && node.recorded.startMs <= firstEndMs; node = node.next) {
      nodes.push(node);
      firstEndMs = Math.min(firstEndMs, node.recorded.endMs);
    }
    const candidates: Candidate[] = nodes
      .filter(({ recorded }) => recorded.startMs <= firstEndMs)
      .map((node) => ({ node }));
    for (const [unknown, { startMs }] of this.#unknown.entries()) {
      if (startMs > firstEndMs) {
        break;
      }
      if (!this.#isUnknownExecuted[unknown]) {
        candidates.push({ unknown });
      }
    }
    return candidates;
  }

  /** What was executed, as the highest position with the gaps below it, and the state that it led to. */
  #configuration(): string {
    const gaps: number[] = [];
    for (let node = this.#head.next; node !== null && node.position < this.#high; node = node.next) {
      gaps.push(node.position);
    }
    const unknown = this.#isUnknownExecuted.flatMap((isExecuted, position) => (isExecuted ? [position] : []));
    const state = this.#state;
    const content =
      state === null ? "" : `${state.value} ${state.createRevision} ${state.modRevision} ${state.version}`;
    return `${this.#high} ${gaps} ${unknown} ${content}`;
  }

  #recordedOf(candidate: Candidate): RecordedOperation {
    return "node" in candidate ? candidate.node.recorded : (this.#unknown[candidate.unknown] as RecordedOperation);
  }

  #revisionOf(candidate: Candidate): number {
    const { id, operation, outcome } = this.#recordedOf(candidate);
    if (outcome.kind === "ok") {
      // An answer that changed nothing has a revision too, or none; nobody looks at it.
      return "revision" in outcome.answer ? outcome.answer.revision : 0;
    }
    return this.#revelations.revisionOf(operation) ?? unknownRevision(id);
  }

  /** Remembers the place where the fewest operations were left: what is wrong is there. */
  #noteDeadEnd(frame: Frame): void {
    if (this.#remaining >= this.#fewestRemaining) {
      return;
    }
    this.#fewestRemaining = this.#remaining;
    const impossible: Impossible[] = [];
    for (const candidate of frame.candidates) {
      const operation = this.#recordedOf(candidate);
      if (operation.outcome.kind === "ok") {
        const why = contradiction(frame.state, operation.operation, operation.outcome.answer);
        impossible.push({ operation, why: why ?? "what comes after it does not fit" });
      }
    }
    const before = this.#frames.slice(-SHOWN_BEFORE - 1, -1).map(({ chosen }) => this.#recordedOf(chosen as Candidate));
    const rule = "no order of the operations within their times gives these answers";
    this.#deadEnd = {
      kind: "violation",
      violation: { rule, key: this.#key, before, state: frame.state, impossible },
    };
  }
}
