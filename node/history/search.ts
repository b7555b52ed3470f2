/**
 * The search check: is there any order of the operations, within their times, in which a single copy of the key would
 * have given these answers? It believes no revision: it uses them as names of writes, never as an order.
 *
 * The method is that of Wing and Gong with Lowe's memory of configurations that were tried: keys apart from each other,
 * for an order of the whole exists if one exists for each (Herlihy and Wing, theorem 1). Four things keep it short, and
 * none of them makes it miss an order:
 *
 * - What changes nothing and fits is executed at once, for nothing is won by waiting.
 * - Of what may come next, what claims the lowest revision is tried first. In a correct history that is the right one.
 * - What is of unknown outcome and unseen is tried last, because mostly it was not executed.
 * - A configuration is not tried if one was in vain that had executed the same, led to the same state, and had used up
 *   less of what is unknown: it could have done everything that this one can.
 */

import type { RecordedOperation } from "./history.ts";
import { contradiction, execute, type KeyState, unknownRevision } from "./key-model.ts";
import { requireDistinctValues } from "./revelation.ts";
import { type HiddenChoice, isAtMost, NOTHING_USED, type Node, SearchPlan, type Used } from "./search-plan.ts";
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

/** What could come at a place: an operation that was executed for certain, or one that nobody saw. */
type Candidate = Node | HiddenChoice;

/** A place in the order that is being tried, and what was put there. */
interface Frame {
  /** State before it. */
  readonly state: KeyState;
  /** Highest position that was executed before it. */
  readonly high: number;
  /** What of the hidden was executed before it. */
  readonly used: Used;
  /** When the first operation ends that must come here or later. */
  readonly untilMs: number;
  /** What could come here; those before `at` were tried. */
  candidates: readonly Candidate[];
  at: number;
  /** Whether the hidden are among the candidates already, or need not be. */
  isWhole: boolean;
  chosen: Candidate | null;
}

/** Looks for an order of all operations, key by key. Raises an Error if a value is written twice. */
export function searchCheck(operations: readonly RecordedOperation[], options: SearchOptions): Verdict {
  requireDistinctValues(operations);
  const deadlineMs = options.nowMs() + options.limitMs;
  for (const [key, ofKey] of Map.groupBy(operations, ({ operation }) => operation.key)) {
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
  readonly #plan: SearchPlan;
  /** The first that has no place yet. */
  #first: Node | null;
  /** By what was executed for certain and the state: what of the hidden had been used up. */
  readonly #tried = new Map<string, Used[]>();
  readonly #frames: Frame[] = [];
  #state: KeyState = null;
  #used = NOTHING_USED;
  #high = -1;
  #remaining: number;
  #fewestRemaining = Number.POSITIVE_INFINITY;
  #deadEnd: Verdict | null = null;

  constructor(key: string, operations: readonly RecordedOperation[], isOver: () => boolean) {
    this.#key = key;
    this.#isOver = isOver;
    this.#plan = new SearchPlan(operations);
    this.#first = this.#plan.first;
    this.#remaining = this.#plan.count;
  }

  run(): Verdict {
    const orphan = this.#plan.orphan;
    if (orphan !== null) {
      const rule = "a value that is seen was written, by an operation that had begun";
      const impossible = [{ operation: orphan, why: "nobody had begun to write what it saw" }];
      return { kind: "violation", violation: { rule, key: this.#key, before: [], state: null, impossible } };
    }
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
    const [nodes, untilMs] = this.#open();
    const state = this.#state;
    const idle = nodes.find((node) => isIdle(node, state));
    this.#frames.push({
      ...{ state, high: this.#high, used: this.#used, untilMs, at: 0, chosen: null },
      // Whatever could come in the place of one that is idle can come after it.
      candidates: idle === undefined ? nodes.filter((node) => fits(node, state)).sort(byRevision) : [idle],
      isWhole: idle !== undefined,
    });
  }

  /** Executes the next candidate of the last frame that leads to something new; false if there is none. */
  #advance(): boolean {
    const frame = this.#frames.at(-1) as Frame;
    for (;;) {
      const candidate = frame.candidates[frame.at];
      if (candidate === undefined) {
        if (frame.isWhole) {
          break;
        }
        const mayGo = this.#plan.mayGo(frame.state);
        frame.candidates = !mayGo ? [] : this.#plan.hidden.choices(frame.state, frame.used, frame.untilMs);
        frame.at = 0;
        frame.isWhole = true;
        continue;
      }
      frame.at++;
      this.#choose(frame, candidate);
      if (this.#state === frame.state || (this.#settle(frame) && this.#isNew())) {
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

  #choose(frame: Frame, candidate: Candidate): void {
    frame.chosen = candidate;
    if (!("position" in candidate)) {
      const { id, operation } = candidate.recorded;
      this.#state = execute(frame.state, operation, unknownRevision(id));
      this.#used = candidate.used;
      return;
    }
    this.#state = execute(frame.state, candidate.recorded.operation, candidate.revision);
    if (candidate.previous === null) {
      this.#first = candidate.next;
    } else {
      candidate.previous.next = candidate.next;
    }
    if (candidate.next !== null) {
      candidate.next.previous = candidate.previous;
    }
    candidate.isExecuted = true;
    this.#plan.place(candidate);
    this.#high = Math.max(this.#high, candidate.position);
    this.#remaining--;
  }

  #takeBack(frame: Frame): void {
    const candidate = frame.chosen as Candidate;
    frame.chosen = null;
    this.#state = frame.state;
    this.#high = frame.high;
    this.#used = frame.used;
    if (!("position" in candidate)) {
      return;
    }
    if (candidate.previous === null) {
      this.#first = candidate;
    } else {
      candidate.previous.next = candidate;
    }
    if (candidate.next !== null) {
      candidate.next.previous = candidate;
    }
    candidate.isExecuted = false;
    this.#plan.displace(candidate);
    this.#remaining++;
  }

  /** What may come next by the times: all that began before the first end of what has no place yet, and that end. */
  #open(): [nodes: Node[], untilMs: number] {
    const nodes: Node[] = [];
    let untilMs = Number.POSITIVE_INFINITY;
    for (let node = this.#first; node !== null && node.recorded.startMs <= untilMs; node = node.next) {
      nodes.push(node);
      untilMs = Math.min(untilMs, node.endMs);
    }
    return [nodes.filter(({ recorded, cause }) => recorded.startMs <= untilMs && cause?.isExecuted !== false), untilMs];
  }

  /** Takes in what was shown of the present state; false if that, or what was shown of the one before, contradicts it. */
  #settle({ state, chosen }: Frame): boolean {
    const shown = chosen !== null && "position" in chosen ? chosen.shown : null;
    const settled = this.#plan.mayGo(state) ? this.#plan.settle(state, this.#state, shown) : undefined;
    this.#state = settled ?? null;
    return settled !== undefined;
  }

  /** Whether no configuration like this one was tried that could do as much; notes that this one is. */
  #isNew(): boolean {
    const configuration = this.#configuration();
    const tried = this.#tried.get(configuration);
    if (tried === undefined) {
      this.#tried.set(configuration, [this.#used]);
      return true;
    }
    if (tried.some((used) => isAtMost(used, this.#used))) {
      return false;
    }
    tried.push(this.#used);
    return true;
  }

  /** What was executed for certain, as the highest position with the gaps below it, and the state that it led to. */
  #configuration(): string {
    let gaps = "";
    for (let node = this.#first; node !== null && node.position < this.#high; node = node.next) {
      gaps += `${node.position},`;
    }
    return `${this.#high} ${gaps} ${this.#plan.essenceOf(this.#state)}`;
  }

  /** Remembers the place where the fewest operations were left: what is wrong is there. */
  #noteDeadEnd({ state }: Frame): void {
    if (this.#remaining >= this.#fewestRemaining) {
      return;
    }
    this.#fewestRemaining = this.#remaining;
    const [nodes] = this.#open();
    const late = this.#plan.mayGo(state) ? null : this.#waitingFor(state, nodes);
    const impossible = nodes.map(({ recorded, answer }): Impossible => {
      const why = contradiction(state, recorded.operation, answer);
      const otherwise = late === null ? "what comes after it does not fit" : `operation ${late.id} must come before`;
      return { operation: recorded, why: why ?? otherwise };
    });
    if (late !== null) {
      impossible.push({ operation: late, why: `the value is ${state?.value}, but it began too late` });
    }
    const before = this.#frames.slice(-SHOWN_BEFORE - 1, -1).map(({ chosen }) => (chosen as Candidate).recorded);
    const rule = "no order of the operations within their times gives these answers";
    this.#deadEnd = { kind: "violation", violation: { rule, key: this.#key, before, state, impossible } };
  }

  /** The first that has seen what is there and cannot come yet; null if there is none. */
  #waitingFor(state: KeyState, open: readonly Node[]): RecordedOperation | null {
    for (let node = this.#first; node !== null; node = node.next) {
      if (node.seen === state?.value && !open.includes(node)) {
        return node.recorded;
      }
    }
    return null;
  }
}

/** Whether it fits and changes nothing, neither now nor at any later time. */
function isIdle(node: Node, state: KeyState): boolean {
  const { recorded, answer, revision, cause } = node;
  if (answer.kind === "done" && cause === null) {
    return false;
  }
  return execute(state, recorded.operation, revision) === state && fits(node, state);
}

function fits({ recorded, answer }: Node, state: KeyState): boolean {
  return contradiction(state, recorded.operation, answer) === null;
}

/** Whoever was told no revision comes last. */
function byRevision(one: Node, other: Node): number {
  return (one.revision || Number.MAX_SAFE_INTEGER) - (other.revision || Number.MAX_SAFE_INTEGER);
}
