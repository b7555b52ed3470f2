/**
 * Runs the operations of one key through the model, in the order of their revisions.
 *
 * A write of unknown outcome is hidden if no answer shows its revision. One hidden write may explain an answer that
 * does not fit otherwise, and is then used up. Which one is used does not matter, because each of them may also happen
 * later. The expiry of a value is hidden too, but it removes only that value, and it has happened when its own span of
 * time is over. With expiries, several ways may explain an answer, so hidden writes are not counted.
 */

import type { KeyAnswer, KeyContent, RecordedOperation } from "./history.ts";
import { contradiction, execute, type KeyState, unknownRevision } from "./key-model.ts";
import {
  contentShownBy,
  isWrite,
  revisionAnsweredBy,
  type ShownRevisions,
  shownBy,
  valueWrittenBy,
} from "./shown-revisions.ts";
import type { Violation } from "./verdict.ts";

/** An operation, with the greatest revision that had been answered when it began. */
interface Placed {
  readonly recorded: RecordedOperation;
  readonly floor: number;
}

/** An operation of known revision. */
interface Step extends Placed {
  readonly revision: number;
  /** Its answer, known or deduced; null = a put of unknown outcome that was executed. */
  readonly answer: KeyAnswer | null;
}

/** An answer without a revision. */
interface Absence extends Placed {
  /** The greatest revision at which it can stand. */
  readonly ceiling: number;
}

/** The state of the key from this revision on. */
interface Period {
  readonly revision: number;
  readonly state: KeyState;
  /** No operation that ended before this time can have seen the state: a hidden delete made it, and began later. */
  readonly fromMs: number;
}

/** The hidden operation that would explain an answer. */
interface Explanation {
  readonly by: "a delete" | "a write";
  /** The value that it must have written or removed; null = any. */
  readonly value: string | null;
  /** The state after it. */
  readonly state: KeyState;
}

const ALWAYS = Number.NEGATIVE_INFINITY;
/** Operations shown before the one that does not fit. */
const SHOWN_BEFORE = 5;

export class KeyRun {
  readonly #key: string;
  readonly #steps: Step[] = [];
  readonly #absences: Absence[] = [];
  /** Hidden operations that explain nothing yet. */
  readonly #hidden: Placed[] = [];
  /** Expiries of values with a TTL, by value. */
  readonly #expiries = new Map<string, Placed>();
  /** Whether values may expire. Then the choice of the hidden operation does matter, so none is used up. */
  #mayExpire = false;
  /** When the first hidden delete began. */
  #hiddenFromMs = Number.POSITIVE_INFINITY;
  readonly #periods: Period[] = [{ revision: 0, state: null, fromMs: ALWAYS }];
  readonly #done: RecordedOperation[] = [];

  constructor(key: string) {
    this.#key = key;
  }

  /**
   * Adds an operation. The caller must add all operations before the run.
   *
   * @param floor the greatest revision that had been answered when it began.
   * @param ceiling the greatest revision at which it can stand, given all that began after its end.
   */
  add(recorded: RecordedOperation, floor: number, ceiling: number, shownRevisions: ShownRevisions): void {
    const { operation, outcome } = recorded;
    if (outcome.kind === "ok") {
      const { answer } = outcome;
      const told = revisionAnsweredBy(answer);
      if (told !== undefined) {
        this.#steps.push({ recorded, floor, revision: told, answer });
      } else if (answer.kind === "done") {
        this.#hide({ recorded, floor });
      } else {
        this.#absences.push({ recorded, floor, ceiling });
      }
      return;
    }
    const revision = shownRevisions.revisionOf(recorded);
    if (operation.kind === "get") {
      return;
    }
    if (revision !== undefined) {
      const answer: KeyAnswer | null = operation.kind === "compare-and-swap" ? { kind: "swapped", revision } : null;
      this.#steps.push({ recorded, floor, revision, answer });
    } else {
      this.#hide({ recorded, floor });
    }
  }

  #hide(placed: Placed): void {
    const { operation, startMs } = placed.recorded;
    if (operation.kind === "delete" && operation.expectedValue !== undefined) {
      this.#mayExpire = true;
      this.#expiries.set(operation.expectedValue, placed);
      return;
    }
    this.#hidden.push(placed);
    if (operation.kind === "delete") {
      this.#hiddenFromMs = Math.min(this.#hiddenFromMs, startMs);
    }
  }

  /** Returns the first operation that does not fit; null if all fit. */
  run(): Violation | null {
    // At one revision the write comes first: an answer with that revision shows its effect.
    this.#steps.sort((a, b) => a.revision - b.revision || Number(writes(b)) - Number(writes(a)));
    for (const step of this.#steps) {
      const violation = this.#take(step);
      if (violation !== null) {
        return violation;
      }
    }
    // A hidden delete at the latest possible time explains as many absences as any other.
    this.#absences.sort((a, b) => a.ceiling - b.ceiling);
    for (const absence of this.#absences) {
      const violation = this.#checkAbsence(absence);
      if (violation !== null) {
        return violation;
      }
    }
    return null;
  }

  #take(step: Step): Violation | null {
    const { recorded, floor, revision, answer } = step;
    if (writes(step) && revision <= floor) {
      const why = `its value was written at revision ${revision}; when it began, ${floor} had been answered`;
      return this.#violation("a value is written after its write began", recorded, why);
    }
    this.#expireBefore(recorded);
    const why = answer === null ? null : contradiction(this.#state, recorded.operation, answer);
    if (answer !== null && why !== null) {
      const content = contentShownBy(answer);
      const explanation = this.#explanationOf(recorded, answer, content);
      const resumed = content === null ? null : this.#resumedLife(content);
      const version = resumed?.version ?? this.#state?.version ?? 0;
      const versionMax = version + this.#hiddenBefore(recorded, revision).length;
      const isCounted = content === null || content.version <= versionMax;
      const taken = explanation === null || !isCounted ? null : this.#takeHidden(explanation, recorded, revision);
      if (explanation === null || taken === null) {
        return this.#violation("every answer follows from the writes before it", recorded, why);
      }
      if (explanation.by === "a delete" && content !== null) {
        this.#insertAbsenceBefore(content.createRevision, taken.fromMs);
      }
      if (resumed !== null) {
        this.#removeAbsencesSince(resumed.since);
      }
      // The key may have had this state since the write before.
      this.#periods.push({ revision: this.#last.revision, state: explanation.state, fromMs: taken.fromMs });
    }
    if (why === null && answer?.kind === "found") {
      this.#nameLife(answer.createRevision);
    }
    if (writes(step)) {
      this.#periods.push({ revision, state: execute(this.#state, recorded.operation, revision), fromMs: ALWAYS });
    }
    this.#done.push(recorded);
    return null;
  }

  /**
   * A value whose TTL is certainly over may have been overwritten unseen before its end. Then the key did not get a new
   * life by a hidden write: it still has the life before. Returns the last period of that life, and the version after
   * all later writes of known revision.
   */
  #resumedLife({ createRevision }: KeyContent): { readonly since: number; readonly version: number } | null {
    if (!this.#mayExpire || this.#state === null || this.#state.createRevision >= 0) {
      return null;
    }
    const since = this.#periods.findLastIndex(({ state }) => state?.createRevision === createRevision);
    const state = this.#periods[since]?.state ?? null;
    if (state === null) {
      return null;
    }
    const written = new Set(this.#periods.slice(since + 1).map((period) => period.state?.modRevision ?? -1));
    const known = [...written].filter((modRevision) => modRevision > state.modRevision);
    return { since, version: state.version + known.length };
  }

  /** An answer shows the revision that created the key, which may have been unknown until now. */
  #nameLife(createRevision: number): void {
    const { state } = this.#last;
    if (state !== null && state.createRevision < 0) {
      this.#periods.push({ ...this.#last, state: { ...state, createRevision } });
    }
  }

  #removeAbsencesSince(since: number): void {
    const kept = this.#periods.filter(({ state }, at) => at <= since || state !== null);
    this.#periods.splice(0, this.#periods.length, ...kept);
  }

  #explanationOf(recorded: RecordedOperation, answer: KeyAnswer, content: KeyContent | null): Explanation | null {
    const explanation = explanationOf(this.#state, recorded, answer);
    if (explanation?.by !== "a delete" || content === null) {
      return explanation;
    }
    // The deleted value is the last one before the key was created again.
    const before = this.#periods.findLast(({ revision }) => revision < content.createRevision);
    return { ...explanation, value: before?.state?.value ?? null };
  }

  /** Removes a value whose TTL was certainly over when the operation began. */
  #expireBefore({ startMs }: RecordedOperation): void {
    const value = this.#state?.value;
    const expiry = value === undefined ? undefined : this.#expiries.get(value);
    if (value !== undefined && expiry !== undefined && expiry.recorded.endMs < startMs) {
      this.#expiries.delete(value);
      this.#periods.push({ revision: this.#last.revision, state: null, fromMs: expiry.recorded.startMs });
    }
  }

  #checkAbsence({ recorded, floor, ceiling }: Absence): Violation | null {
    const last = this.#lastPeriodAt(ceiling);
    for (let at = last; at >= 0; at--) {
      const { state, fromMs } = this.#periods[at] as Period;
      if (state === null && fromMs <= recorded.endMs) {
        return null;
      }
      const expired = state === null ? null : this.#takeExpiry(state.value, recorded, ceiling);
      if (expired !== null) {
        this.#insertAbsenceAfter(at, expired.fromMs);
        return null;
      }
      if (this.#isBefore(at, floor)) {
        break;
      }
    }
    const taken = this.#takeHidden({ by: "a delete", value: null, state: null }, recorded, ceiling);
    if (taken !== null) {
      this.#insertAbsenceAfter(last, taken.fromMs);
      return null;
    }
    const why = `the key exists at all revisions from ${floor} to ${ceiling}`;
    const state = this.#periods[last]?.state ?? null;
    const rule = "a key that an answer shows absent is absent at some time between start and end";
    return { rule, key: this.#key, before: [], state, impossible: [{ operation: recorded, why }] };
  }

  /** Position of the last period that begins at or before the revision. */
  #lastPeriodAt(revision: number): number {
    let low = 0;
    let high = this.#periods.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#periods[middle]?.revision ?? 0) <= revision) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /** Whether all earlier periods were over at the revision. */
  #isBefore(at: number, revision: number): boolean {
    const begin = this.#periods[at]?.revision ?? 0;
    // Revisions do not distinguish periods that begin together.
    return begin <= revision && (this.#periods[at - 1]?.revision ?? -1) !== begin;
  }

  /**
   * Uses up one hidden operation that may have happened before the end of the observer. Returns the time before which
   * no operation can have seen its effect; null if there is none.
   */
  #takeHidden(explanation: Explanation, observer: RecordedOperation, revision: number): Pick<Period, "fromMs"> | null {
    const { by, value } = explanation;
    const expired = by === "a delete" && value !== null ? this.#takeExpiry(value, observer, revision) : null;
    if (expired !== null) {
      return expired;
    }
    // Takes the one that began last, because it explains the fewest earlier answers.
    const [latest] = this.#hiddenBefore(observer, revision)
      .filter(({ recorded }) => explains(recorded, explanation))
      .sort((a, b) => b.floor - a.floor);
    if (latest === undefined) {
      return by === "a delete" ? this.#takeShortLived(observer, revision) : null;
    }
    this.#useUp(latest);
    return { fromMs: by === "a delete" ? this.#hiddenFromMs : ALWAYS };
  }

  /** A hidden write may have replaced the value, and may then have expired itself. */
  #takeShortLived(observer: RecordedOperation, revision: number): Pick<Period, "fromMs"> | null {
    for (const placed of this.#hiddenBefore(observer, revision)) {
      const value = valueWrittenBy(placed.recorded.operation);
      const expired = value === null ? null : this.#takeExpiry(value, observer, revision);
      if (expired !== null) {
        return expired;
      }
    }
    return null;
  }

  #useUp(placed: Placed): void {
    if (!this.#mayExpire) {
      this.#hidden.splice(this.#hidden.indexOf(placed), 1);
    }
  }

  /** Like it, for the expiry of this value. */
  #takeExpiry(value: string, observer: RecordedOperation, revision: number): Pick<Period, "fromMs"> | null {
    const expiry = this.#expiries.get(value);
    if (expiry === undefined || expiry.floor >= revision || expiry.recorded.startMs > observer.endMs) {
      return null;
    }
    this.#expiries.delete(value);
    return { fromMs: expiry.recorded.startMs };
  }

  #insertAbsenceAfter(at: number, fromMs: number): void {
    const { revision } = this.#periods[at] as Period;
    this.#periods.splice(at + 1, 0, { revision, state: null, fromMs });
  }

  #hiddenBefore(observer: RecordedOperation, revision: number): Placed[] {
    return this.#hidden.filter(({ recorded, floor }) => floor < revision && recorded.startMs <= observer.endMs);
  }

  /** If the key was created again at this revision, it was absent since the write before. */
  #insertAbsenceBefore(createRevision: number, fromMs: number): void {
    const at = this.#periods.findIndex(({ revision }) => revision >= createRevision);
    const { revision } = this.#periods[Math.max(0, at - 1)] as Period;
    this.#periods.splice(Math.max(1, at), 0, { revision, state: null, fromMs });
  }

  get #last(): Period {
    return this.#periods.at(-1) as Period;
  }

  get #state(): KeyState {
    return this.#last.state;
  }

  #violation(rule: string, operation: RecordedOperation, why: string): Violation {
    const before = this.#done.slice(-SHOWN_BEFORE);
    return { rule, key: this.#key, before, state: this.#state, impossible: [{ operation, why }] };
  }
}

function writes({ answer }: Step): boolean {
  return answer === null || isWrite(answer);
}

function explains({ operation }: RecordedOperation, { by, value }: Explanation): boolean {
  const isDelete = operation.kind === "delete";
  return isDelete ? by === "a delete" : by === "a write" && (value === null || valueWrittenBy(operation) === value);
}

/** The hidden operation that would make the answer true although it contradicts the state; null if there is none. */
function explanationOf(state: KeyState, { id, operation }: RecordedOperation, answer: KeyAnswer): Explanation | null {
  const removed: Explanation = { by: "a delete", value: state?.value ?? null, state: null };
  const content = contentShownBy(answer);
  if (content !== null) {
    return state === null ? null : explanationOfContent(state, content);
  }
  switch (answer.kind) {
    case "not-swapped":
      return shownBy(answer) === null && state !== null ? removed : null;
    case "put":
      return answer.created ? removed : { by: "a write", value: null, state: unseen("", id) };
    case "deleted":
      return { by: "a write", value: null, state: unseen("", id) };
    case "swapped":
      return operation.kind === "compare-and-swap" ? explanationOfSwap(state, operation, id) : null;
    case "absent":
      return removed;
    case "found":
    case "done":
      return null;
  }
}

function explanationOfSwap(
  state: KeyState,
  { expectedValue, expectedModRevision }: RecordedOperation["operation"] & { readonly kind: "compare-and-swap" },
  id: number,
): Explanation | null {
  if (expectedValue === undefined) {
    const expectsAbsence = expectedModRevision === undefined || expectedModRevision === 0;
    return expectsAbsence ? { by: "a delete", value: state?.value ?? null, state: null } : null;
  }
  // A client can know a revision only from an answer, so the write was not hidden.
  return expectedModRevision === undefined
    ? { by: "a write", value: expectedValue, state: unseen(expectedValue, id) }
    : null;
}

/** The writer of the found value is known, so no hidden write came after it, but one may have come before. */
function explanationOfContent(
  state: NonNullable<KeyState>,
  { value, createRevision, modRevision, version }: KeyContent,
): Explanation | null {
  if (value !== state.value || modRevision !== state.modRevision) {
    return null;
  }
  const isNewer = version < state.version || (state.createRevision >= 0 && createRevision > state.createRevision);
  const content = { value, createRevision, modRevision, version };
  return { by: isNewer ? "a delete" : "a write", value: null, state: content };
}

/** A key as a hidden write made it. */
function unseen(value: string, id: number): KeyState {
  return { value, createRevision: unknownRevision(id), modRevision: unknownRevision(id), version: 1 };
}
