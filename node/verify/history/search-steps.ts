/**
 * The steps of keys that are searched together: single operations, and operations that take effect at once. They are a
 * list in the order of their starts, from which the search takes those that have got a place.
 */

import type { RecordedOperation } from "./history.ts";
import { execute, type KeyState, matches, unknownRevision } from "./key-model.ts";
import { isAtMost, NOTHING_USED, type Node, type SearchPlan, type Used } from "./search-plan.ts";

/** The state of each key, in the order of their plans. */
export type States = readonly KeyState[];

/** An operation of a step, and the position of its key. */
export interface Part<Of> {
  readonly at: number;
  readonly of: Of;
}

/** An executed step, in the list of the steps without a place in the order. */
export interface Step {
  readonly parts: readonly Part<Node>[];
  /** In the order of the starts, from 0. */
  readonly position: number;
  readonly startMs: number;
  readonly endMs: number;
  /** The revision in its answers; 0 if there is none. */
  readonly revision: number;
  previous: Step | null;
  next: Step | null;
}

/** How many of the hidden operations of each key were executed, and which hidden steps of several; immutable. */
export interface AllUsed {
  readonly keys: readonly Used[];
  /** In rising order. */
  readonly steps: readonly number[];
}

/** Hidden operations that could be executed at once, and what is used up after them. */
export interface HiddenStep {
  readonly parts: readonly Part<RecordedOperation>[];
  readonly used: AllUsed;
}

export function nothingUsed(keys: number): AllUsed {
  return { keys: Array.from({ length: keys }, () => NOTHING_USED), steps: [] };
}

/** Whether `one` leaves at least as many hidden operations as `other`. */
export function isAllAtMost(one: AllUsed, other: AllUsed): boolean {
  const isLess = one.keys.every((used, at) => isAtMost(used, other.keys[at] as Used));
  return isLess && one.steps.every((step) => other.steps.includes(step));
}

/** The executed steps of all keys, linked. */
export function stepsOf(plans: readonly SearchPlan[]): readonly Step[] {
  const parts = plans.flatMap(({ nodes }, at) => nodes.map((of) => ({ at, of })));
  const together = Map.groupBy(parts, ({ of: { recorded } }) => recorded.step ?? recorded);
  const steps: Step[] = [];
  for (const ofStep of [...together.values()].sort(byStart)) {
    const previous = steps.at(-1) ?? null;
    const step: Step = {
      parts: ofStep,
      position: steps.length,
      startMs: Math.max(...ofStep.map(({ of }) => of.recorded.startMs)),
      endMs: Math.min(...ofStep.map(({ of }) => of.endMs)),
      revision: Math.max(...ofStep.map(({ of }) => of.revision)),
      previous,
      next: null,
    };
    if (previous !== null) {
      previous.next = step;
    }
    steps.push(step);
  }
  return steps;
}

/** The states after the step; the same array if it changed nothing. */
export function executeStep(states: States, parts: readonly Part<Node>[]): States {
  return changed(states, parts, (state, { recorded, revision }) => execute(state, recorded.operation, revision));
}

/** The same for hidden operations. */
export function executeHidden(states: States, parts: readonly Part<RecordedOperation>[]): States {
  return changed(states, parts, (state, { id, operation }) => execute(state, operation, unknownRevision(id)));
}

function changed<Of>(
  states: States,
  parts: readonly Part<Of>[],
  change: (state: KeyState, of: Of) => KeyState,
): States {
  let after: KeyState[] | null = null;
  for (const { at, of } of parts) {
    const state = states[at] as KeyState;
    const next = change(state, of);
    if (next !== state) {
      after ??= [...states];
      after[at] = next;
    }
  }
  return after ?? states;
}

/** Steps of several operations of unknown outcome, of which no answer shows a value. */
export class HiddenSteps {
  readonly #steps: readonly { readonly id: number; readonly parts: readonly Part<RecordedOperation>[] }[];

  /**
   * @param operations of all keys, whose positions are those of their names.
   * @param seen the steps that answers show.
   */
  constructor(operations: readonly RecordedOperation[], keys: readonly string[], seen: ReadonlyMap<number, number>) {
    const hidden = operations.filter(({ step, outcome }) => {
      return step !== undefined && outcome.kind === "unknown" && !seen.has(step);
    });
    this.#steps = [...Map.groupBy(hidden, ({ step }) => step as number)].map(([id, ofStep]) => {
      return { id, parts: ofStep.map((of) => ({ at: keys.indexOf(of.operation.key), of })) };
    });
  }

  /** The hidden steps that began by `untilMs`, could be executed in these states, and would change one of the keys. */
  choices(states: States, used: AllUsed, untilMs: number): HiddenStep[] {
    return this.#steps.flatMap(({ id, parts }) => {
      const isLate = parts.some(({ of }) => of.startMs > untilMs);
      const isPossible = parts.every(({ at, of: { operation } }) => {
        return operation.kind !== "compare-and-swap" || matches(states[at] as KeyState, operation);
      });
      return isLate || !isPossible || used.steps.includes(id)
        ? []
        : [{ parts, used: { ...used, steps: [...used.steps, id].sort((a, b) => a - b) } }];
    });
  }
}

function byStart(one: readonly Part<Node>[], other: readonly Part<Node>[]): number {
  const [a, b] = [one, other].map((parts) => (parts[0] as Part<Node>).of.recorded) as [
    RecordedOperation,
    RecordedOperation,
  ];
  return a.startMs - b.startMs || a.id - b.id;
}
