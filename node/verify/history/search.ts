/**
 * The search check: is there an order of the operations, within their times, in which a single copy of the keys would
 * give these answers? It trusts no revision: it uses them as names of writes, never as an order.
 *
 * The method is that of Wing and Gong, with Lowe's memory of tried configurations. It treats keys separately, because
 * an order of the whole exists if one exists for each key (Herlihy and Wing, theorem 1). Only keys that a step has
 * joined have one order together. Five rules keep the search short, and none of them makes it miss an order:
 *
 * - A step that fits and changes nothing is executed at once, because waiting gains nothing.
 * - Of the steps that may come next, the one with the lowest revision is tried first. In a correct history that is the
 *   right one.
 * - A write of unknown outcome that no answer shows is tried last, because it was mostly not executed. It need not come
 *   before a step about its key may come: first those for keys whose steps do not fit.
 * - A configuration is not tried if an earlier one failed that had executed the same, led to the same state, and used
 *   up at most as many unknown writes. The earlier one could do everything that this one can.
 * - An overwritten value never comes back: it stays while an operation that has seen it has no place.
 */

import type { RecordedOperation } from "./history.ts";
import { contradiction, execute, type KeyState } from "./key-model.ts";
import { joinedKeys, type Node, SearchPlan } from "./search-plan.ts";
import {
  type AllUsed,
  executeHidden,
  executeStep,
  type HiddenStep,
  HiddenSteps,
  isAllAtMost,
  nothingUsed,
  type States,
  type Step,
  stepsOf,
} from "./search-steps.ts";
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

/** A candidate for a place: a step that was certainly executed, or a hidden one. */
type Candidate = Step | HiddenStep;

/** A place in the order that is being tried, and the step in it. */
interface Frame {
  /** The states before it. */
  readonly states: States;
  /** The highest position executed before it. */
  readonly high: number;
  /** The hidden operations executed before it. */
  readonly used: AllUsed;
  /** The earliest end of the steps that must come here or later. */
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
  for (const ofKeys of componentsOf(operations)) {
    const verdict = new Search(ofKeys, () => options.nowMs() > deadlineMs).run();
    if (verdict.kind !== "correct") {
      return verdict;
    }
  }
  return CORRECT;
}

/** The operations of each key, and those of keys that steps have joined together. */
export function componentsOf(operations: readonly RecordedOperation[]): readonly (readonly RecordedOperation[])[] {
  const joined = new Map<string, string>();
  const rootOf = (key: string): string => {
    const next = joined.get(key) ?? key;
    return next === key ? key : rootOf(next);
  };
  const firsts = new Map<number, string>();
  for (const { operation, step } of operations) {
    if (step !== undefined) {
      const first = firsts.get(step) ?? operation.key;
      firsts.set(step, first);
      joined.set(rootOf(operation.key), rootOf(first));
    }
  }
  return [...Map.groupBy(operations, ({ operation }) => rootOf(operation.key)).values()];
}

class Search {
  readonly #keys: readonly string[];
  readonly #isTimeUp: () => boolean;
  readonly #plans: readonly SearchPlan[];
  readonly #hiddenSteps: HiddenSteps;
  /** The first step without a place. */
  #first: Step | null;
  /** For certainly executed operations and their state: the hidden operations that were used up. */
  readonly #tried = new Map<string, AllUsed[]>();
  readonly #frames: Frame[] = [];
  #states: States;
  #used: AllUsed;
  #high = -1;
  #remaining: number;
  #fewestRemaining = Number.POSITIVE_INFINITY;
  #deadEnd: Verdict | null = null;

  constructor(operations: readonly RecordedOperation[], isOver: () => boolean) {
    const byKey = Map.groupBy(operations, ({ operation }) => operation.key);
    const joined = joinedKeys(operations);
    this.#keys = [...byKey.keys()];
    this.#isTimeUp = isOver;
    this.#plans = [...byKey.values()].map((ofKey) => new SearchPlan(ofKey, joined));
    this.#hiddenSteps = new HiddenSteps(operations, this.#keys, joined.seenSteps);
    const steps = stepsOf(this.#plans);
    this.#first = steps[0] ?? null;
    this.#remaining = steps.length;
    this.#states = this.#keys.map(() => null);
    this.#used = nothingUsed(this.#keys.length);
  }

  run(): Verdict {
    const key = this.#keys.join(", ");
    const orphan = this.#plans.find((plan) => plan.orphan !== null)?.orphan ?? null;
    if (orphan !== null) {
      const rule = "a value is seen after its write began";
      const impossible = [{ operation: orphan, why: "no operation had begun to write the value that it saw" }];
      const violation = { rule, key: orphan.operation.key, before: [], state: null, impossible };
      return { kind: "violation", violation };
    }
    this.#push();
    for (let steps = 1; this.#remaining > 0; steps++) {
      if (steps % STEPS_PER_CLOCK_READ === 0 && this.#isTimeUp()) {
        return { kind: "undecided", key, operations: this.#remaining };
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
    const [steps, untilMs] = this.#open();
    const states = this.#states;
    const idle = steps.find((step) => isIdle(step, states));
    this.#frames.push({
      states,
      high: this.#high,
      used: this.#used,
      untilMs,
      at: 0,
      chosen: null,
      // Any other candidate can also come after an idle one.
      candidates: idle === undefined ? steps.filter((step) => fits(step, states)).sort(byRevision) : [idle],
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
        frame.candidates = this.#hiddenChoices(frame);
        frame.at = 0;
        frame.isWhole = true;
        continue;
      }
      frame.at++;
      this.#choose(frame, candidate);
      if (this.#states === frame.states || (this.#settle(frame) && this.#isNew())) {
        return true;
      }
      this.#takeBack(frame);
    }
    this.#noteDeadEnd(frame);
    return false;
  }

  /** Leaves the last frame, in which no step fits, for the one before; false if there is none. */
  #goBack(): boolean {
    this.#frames.pop();
    const frame = this.#frames.at(-1);
    if (frame === undefined) {
      return false;
    }
    this.#takeBack(frame);
    return true;
  }

  /** Hidden operations on the keys of the steps that may come next: any others can wait. */
  #hiddenChoices({ states, used, untilMs }: Frame): readonly HiddenStep[] {
    const [open] = this.#open();
    const parts = open.flatMap((step) => step.parts);
    const wrong = parts.filter(({ at, of }) => !partFits(of, states[at] as KeyState));
    const keys = new Set([...wrong, ...parts].map(({ at }) => at));
    const single = [...keys].flatMap((at) => {
      const plan = this.#plans[at] as SearchPlan;
      const state = states[at] as KeyState;
      const usedOfKey = used.keys[at];
      if (usedOfKey === undefined || !plan.mayGo(state)) {
        return [];
      }
      return plan.hidden.choices(state, usedOfKey, untilMs).map(({ recorded, used: after }): HiddenStep => {
        return { parts: [{ at, of: recorded }], used: { ...used, keys: used.keys.with(at, after) } };
      });
    });
    const several = this.#hiddenSteps.choices(states, used, untilMs);
    return [...single, ...several.filter((step) => step.parts.some(({ at }) => keys.has(at)))];
  }

  #choose(frame: Frame, candidate: Candidate): void {
    frame.chosen = candidate;
    if (!("position" in candidate)) {
      this.#states = executeHidden(frame.states, candidate.parts);
      this.#used = candidate.used;
      return;
    }
    this.#states = executeStep(frame.states, candidate.parts);
    if (candidate.previous === null) {
      this.#first = candidate.next;
    } else {
      candidate.previous.next = candidate.next;
    }
    if (candidate.next !== null) {
      candidate.next.previous = candidate.previous;
    }
    for (const { at, of } of candidate.parts) {
      of.isExecuted = true;
      this.#plans[at]?.place(of);
    }
    this.#high = Math.max(this.#high, candidate.position);
    this.#remaining--;
  }

  #takeBack(frame: Frame): void {
    const candidate = frame.chosen as Candidate;
    frame.chosen = null;
    this.#states = frame.states;
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
    for (const { at, of } of candidate.parts) {
      of.isExecuted = false;
      this.#plans[at]?.displace(of);
    }
    this.#remaining++;
  }

  /**
   * The steps that may come next by their times: those that began before the earliest end of all without a place.
   * Returns that end too.
   */
  #open(): [steps: Step[], untilMs: number] {
    const steps: Step[] = [];
    let untilMs = Number.POSITIVE_INFINITY;
    for (let step = this.#first; step !== null && step.startMs <= untilMs; step = step.next) {
      steps.push(step);
      untilMs = Math.min(untilMs, step.endMs);
    }
    const isOpen = ({ startMs, parts }: Step): boolean => {
      return startMs <= untilMs && parts.every(({ of }) => of.cause?.isExecuted !== false);
    };
    return [steps.filter(isOpen), untilMs];
  }

  /**
   * Adds what answers show of the present states; false if that contradicts one of them, or if an answer shows that a
   * state before must last.
   */
  #settle({ states, chosen }: Frame): boolean {
    const settled = [...this.#states];
    for (const [at, before] of states.entries()) {
      const after = this.#states[at] as KeyState;
      if (after === before) {
        continue;
      }
      const part = chosen?.parts.find((one) => one.at === at)?.of;
      const shown = part !== undefined && "shown" in part ? part.shown : null;
      const plan = this.#plans[at] as SearchPlan;
      const state = plan.mayGo(before) ? plan.deduceState(before, after, shown) : undefined;
      if (state === undefined) {
        return false;
      }
      settled[at] = state;
    }
    this.#states = settled;
    return true;
  }

  /** Whether no tried configuration could do at least as much. Records this one as tried. */
  #isNew(): boolean {
    const configuration = this.#configuration();
    const tried = this.#tried.get(configuration);
    if (tried === undefined) {
      this.#tried.set(configuration, [this.#used]);
      return true;
    }
    if (tried.some((used) => isAllAtMost(used, this.#used))) {
      return false;
    }
    tried.push(this.#used);
    return true;
  }

  /** The certainly executed steps, as the highest position and the gaps below it, with the states after them. */
  #configuration(): string {
    let gaps = "";
    for (let step = this.#first; step !== null && step.position < this.#high; step = step.next) {
      gaps += `${step.position},`;
    }
    const essences = this.#plans.map((plan, at) => plan.essenceOf(this.#states[at] as KeyState));
    return `${this.#high} ${gaps} ${essences.join("|")}`;
  }

  /** Remembers the place with the fewest steps left: the contradiction is there. */
  #noteDeadEnd({ states }: Frame): void {
    if (this.#remaining >= this.#fewestRemaining) {
      return;
    }
    this.#fewestRemaining = this.#remaining;
    const [steps] = this.#open();
    const held = states.findIndex((state, at) => !(this.#plans[at] as SearchPlan).mayGo(state));
    const late = held === -1 ? null : this.#waitingFor(held, steps);
    const impossible = steps.map(({ parts }): Impossible => {
      const wrong = parts.map(({ at, of: { recorded, answer } }) => {
        return { operation: recorded, why: contradiction(states[at] as KeyState, recorded.operation, answer) };
      });
      const { operation, why } = wrong.find((one) => one.why !== null) ?? (wrong[0] as (typeof wrong)[number]);
      const otherwise = late === null ? "what comes after it does not fit" : `operation ${late.id} must come before`;
      return { operation, why: why ?? otherwise };
    });
    if (late !== null) {
      impossible.push({ operation: late, why: `the value is ${states[held]?.value}, but it began too late` });
    }
    const before = this.#frames.slice(-SHOWN_BEFORE - 1, -1).flatMap(({ chosen }) => {
      return (chosen as Candidate).parts.map(({ of }) => ("recorded" in of ? of.recorded : of));
    });
    const rule = "no order of the operations within their times gives these answers";
    const [first = null] = states;
    const state = states.length === 1 ? first : new Map(this.#keys.map((key, at) => [key, states[at] ?? null]));
    const key = this.#keys.join(", ");
    this.#deadEnd = { kind: "violation", violation: { rule, key, before, state, impossible } };
  }

  /** The first operation that has seen the present value of the key and cannot come yet; null if there is none. */
  #waitingFor(at: number, open: readonly Step[]): RecordedOperation | null {
    const value = this.#states[at]?.value;
    for (let step = this.#first; step !== null; step = step.next) {
      const part = step.parts.find((one) => one.at === at && one.of.seen === value);
      if (part !== undefined && !open.includes(step)) {
        return part.of.recorded;
      }
    }
    return null;
  }
}

/** Whether it fits and changes nothing, now and at any later time. */
function isIdle(step: Step, states: States): boolean {
  return step.parts.every(({ at, of }) => {
    const { recorded, answer, revision, cause } = of;
    if (answer.kind === "done" && cause === null) {
      return false;
    }
    const state = states[at] as KeyState;
    return execute(state, recorded.operation, revision) === state && partFits(of, state);
  });
}

function fits({ parts }: Step, states: States): boolean {
  return parts.every(({ at, of }) => partFits(of, states[at] as KeyState));
}

function partFits({ recorded, answer }: Node, state: KeyState): boolean {
  return contradiction(state, recorded.operation, answer) === null;
}

/** A step whose answers have no revision comes last. */
function byRevision(one: Step, other: Step): number {
  return (one.revision || Number.MAX_SAFE_INTEGER) - (other.revision || Number.MAX_SAFE_INTEGER);
}
