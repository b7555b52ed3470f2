/**
 * The search check: is there an order of the operations, within their times, in which a single copy of the key would
 * give these answers? It trusts no revision: it uses them as names of writes, never as an order.
 *
 * The method is that of Wing and Gong, with Lowe's memory of tried configurations. It treats keys separately, because
 * an order of the whole exists if one exists for each key (Herlihy and Wing, theorem 1). Four rules keep the search
 * short, and none of them makes it miss an order:
 *
 * - An operation that fits and changes nothing is executed at once, because waiting gains nothing.
 * - Of the operations that may come next, the one with the lowest revision is tried first. In a correct history that is
 *   the right one.
 * - A write of unknown outcome that no answer shows is tried last, because it was mostly not executed.
 * - A configuration is not tried if an earlier one failed that had executed the same, led to the same state, and used
 *   up at most as many unknown writes. The earlier one could do everything that this one can.
 */

import type { RecordedOperation } from "./history.ts";
import { contradiction, execute, type KeyState, unknownRevision } from "./key-model.ts";
import { type HiddenChoice, isAtMost, NOTHING_USED, type Node, SearchPlan, type Used } from "./search-plan.ts";
import { requireDistinctValues } from "./shown-revisions.ts";
import { CORRECT, type Impossible, type Verdict } from "./verdict.ts";

export interface SearchOptions {
  /** A monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  /** Limit for the search over all keys. */
  readonly limitMs: number;
}

/** Default limit of a search. A history that takes longer is too large to prove anything. */
export const SEARCH_LIMIT_MS = 10_000;

const STEPS_PER_CLOCK_READ = 256;
/** Operations shown before the point where no operation fits. */
const SHOWN_BEFORE = 5;

/** A candidate for a place: an operation that was certainly executed, or a hidden one. */
type Candidate = Node | HiddenChoice;

/** A place in the order that is being tried, and the operation in it. */
interface Frame {
  /** The state before it. */
  readonly state: KeyState;
  /** The highest position executed before it. */
  readonly high: number;
  /** The hidden operations executed before it. */
  readonly used: Used;
  /** The earliest end of the operations that must come here or later. */
  readonly untilMs: number;
  /** Candidates for this place; those before `at` were tried. */
  candidates: readonly Candidate[];
  at: number;
  /** Whether the candidates include the hidden operations, or do not need to. */
  isWhole: boolean;
  chosen: Candidate | null;
}

/** Looks for an order of all operations, key by key. Throws an Error if a value is written twice. */
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
  readonly #isTimeUp: () => boolean;
  readonly #plan: SearchPlan;
  /** The first operation without a place. */
  #first: Node | null;
  /** For certainly executed operations and their state: the hidden operations that were used up. */
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
    this.#isTimeUp = isOver;
    this.#plan = new SearchPlan(operations);
    this.#first = this.#plan.first;
    this.#remaining = this.#plan.count;
  }

  run(): Verdict {
    const orphan = this.#plan.orphan;
    if (orphan !== null) {
      const rule = "a value is seen after its write began";
      const impossible = [{ operation: orphan, why: "no operation had begun to write the value that it saw" }];
      return { kind: "violation", violation: { rule, key: this.#key, before: [], state: null, impossible } };
    }
    this.#push();
    for (let steps = 1; this.#remaining > 0; steps++) {
      if (steps % STEPS_PER_CLOCK_READ === 0 && this.#isTimeUp()) {
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
      state,
      high: this.#high,
      used: this.#used,
      untilMs,
      at: 0,
      chosen: null,
      // Any other candidate can also come after an idle one.
      candidates: idle === undefined ? nodes.filter((node) => fits(node, state)).sort(byRevision) : [idle],
      isWhole: idle !== undefined,
    });
  }

  /** Executes the next candidate of the last frame that leads to a new configuration; false if there is none. */
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

  /** Leaves the last frame, in which no operation fits, for the one before; false if there is none. */
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

  /**
   * The operations that may come next by their times: those that began before the earliest end of all without a place.
   * Returns that end too.
   */
  #open(): [nodes: Node[], untilMs: number] {
    const nodes: Node[] = [];
    let untilMs = Number.POSITIVE_INFINITY;
    for (let node = this.#first; node !== null && node.recorded.startMs <= untilMs; node = node.next) {
      nodes.push(node);
      untilMs = Math.min(untilMs, node.endMs);
    }
    return [nodes.filter(({ recorded, cause }) => recorded.startMs <= untilMs && cause?.isExecuted !== false), untilMs];
  }

  /**
   * Adds what answers show of the present state; false if that contradicts it, or if an answer shows that the state
   * before must last.
   */
  #settle({ state, chosen }: Frame): boolean {
    const shown = chosen !== null && "position" in chosen ? chosen.shown : null;
    const settled = this.#plan.mayGo(state) ? this.#plan.deduceState(state, this.#state, shown) : undefined;
    this.#state = settled ?? null;
    return settled !== undefined;
  }

  /** Whether no tried configuration could do at least as much. Records this one as tried. */
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

  /** The certainly executed operations, as the highest position and the gaps below it, with the state after them. */
  #configuration(): string {
    let gaps = "";
    for (let node = this.#first; node !== null && node.position < this.#high; node = node.next) {
      gaps += `${node.position},`;
    }
    return `${this.#high} ${gaps} ${this.#plan.essenceOf(this.#state)}`;
  }

  /** Remembers the place with the fewest operations left: the contradiction is there. */
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

  /** The first operation that has seen the present value and cannot come yet; null if there is none. */
  #waitingFor(state: KeyState, open: readonly Node[]): RecordedOperation | null {
    for (let node = this.#first; node !== null; node = node.next) {
      if (node.seen === state?.value && !open.includes(node)) {
        return node.recorded;
      }
    }
    return null;
  }
}

/** Whether it fits and changes nothing, now and at any later time. */
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

/** An operation whose answer has no revision comes last. */
function byRevision(one: Node, other: Node): number {
  return (one.revision || Number.MAX_SAFE_INTEGER) - (other.revision || Number.MAX_SAFE_INTEGER);
}
