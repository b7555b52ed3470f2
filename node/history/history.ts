/**
 * What clients did and what they were told: the evidence that an oracle judges.
 *
 * An operation spans the time from before its first attempt to after its last answer. What was refused for certain has
 * no effect; what nobody knows the outcome of may take effect at any time after its start, for ever.
 */

/** What a client asked for. Values are distinct over a whole history, so that a value names its write. */
export type KeyOperation =
  | { readonly kind: "get"; readonly key: string }
  | { readonly kind: "put"; readonly key: string; readonly value: string; readonly ttlMs?: number }
  | {
      readonly kind: "delete";
      readonly key: string;
      /** Without it the key goes whatever its value; with it, nothing happens to another value. */
      readonly expectedValue?: string;
    }
  | {
      readonly kind: "compare-and-swap";
      readonly key: string;
      readonly newValue: string;
      /** The key must exist with this value. With neither expectation it must not exist, with both, both must hold. */
      readonly expectedValue?: string;
      /** The revision that the key must have; 0 = it must not exist. */
      readonly expectedModRevision?: number;
      readonly ttlMs?: number;
    };

/** A key that exists. */
export interface KeyContent {
  readonly value: string;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly version: number;
}

/** What the service answered. `revision` is the revision of the cluster at which the answer is true. */
export type KeyAnswer =
  /** A get found the key. */
  | ({ readonly kind: "found"; readonly revision: number } & KeyContent)
  /** A get or delete found no key. Only a page of keys tells the revision of that. */
  | { readonly kind: "absent"; readonly revision?: number }
  /** A put was executed at the revision. `previous`, if it was told, is what the key was before; null = no key. */
  | {
      readonly kind: "put";
      readonly created: boolean;
      readonly revision: number;
      readonly previous?: KeyContent | null;
    }
  /** A delete was executed at the revision. `previous`, if it was told, is what it removed. */
  | { readonly kind: "deleted"; readonly revision: number; readonly previous?: KeyContent }
  /** A compare-and-swap wrote at the revision. */
  | { readonly kind: "swapped"; readonly revision: number }
  /** A compare-and-swap changed nothing. */
  | {
      readonly kind: "not-swapped";
      /** What was there instead; null = no key. */
      readonly current: { readonly value: string; readonly modRevision: number } | null;
      readonly revision: number;
    }
  /** It was executed, and nobody was told what came of it. */
  | { readonly kind: "done" };

/** What became of an operation; of one on keys if nothing else is said. */
export type OperationOutcome<Answer = KeyAnswer> =
  | { readonly kind: "ok"; readonly answer: Answer }
  /** Certainly without effect. */
  | { readonly kind: "not-executed" }
  /** With or without effect, now or later. */
  | { readonly kind: "unknown" };

export interface RecordedOperation<Operation = KeyOperation, Answer = KeyAnswer> {
  /** Position in the order of the starts, from 0. */
  readonly id: number;
  readonly client: string;
  readonly operation: Operation;
  /** A time of the recorder's clock, in milliseconds. */
  readonly startMs: number;
  /** Infinity if the outcome is unknown. */
  readonly endMs: number;
  readonly outcome: OperationOutcome<Answer>;
  /** Id of the operation that this one follows from: it comes later, however their times overlap. */
  readonly consequenceOf?: number;
}

/** An operation under way; to be ended once. */
export interface OpenOperation<Answer = KeyAnswer> {
  end(outcome: OperationOutcome<Answer>): void;
}

/** Records operations as they start and end; those on keys if nothing else is said. */
export class History<Operation = KeyOperation, Answer = KeyAnswer> {
  readonly #nowMs: () => number;
  readonly #operations: (RecordedOperation<Operation, Answer> | null)[] = [];
  readonly #open = new Map<number, Omit<RecordedOperation<Operation, Answer>, "endMs" | "outcome">>();

  /** @param nowMs a monotonic clock in milliseconds, the finer the better: it orders what did not overlap. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Notes that a client starts an operation; to be called before anything of it is sent. */
  begin(client: string, operation: Operation): OpenOperation<Answer> {
    const id = this.#operations.length;
    this.#operations.push(null);
    const started = { id, client, operation, startMs: this.#nowMs() };
    this.#open.set(id, started);
    return {
      end: (outcome) => {
        if (!this.#open.delete(id)) {
          throw new Error(`operation ${id} has ended before`);
        }
        const endMs = outcome.kind === "unknown" ? Number.POSITIVE_INFINITY : this.#nowMs();
        this.#operations[id] = { ...started, endMs, outcome };
      },
    };
  }

  /** All operations in the order of their starts; those that have not ended are of unknown outcome. */
  get operations(): RecordedOperation<Operation, Answer>[] {
    return this.#operations.map((ended, id) => {
      if (ended !== null) {
        return ended;
      }
      const started = this.#open.get(id);
      if (started === undefined) {
        throw new Error(`operation ${id} has neither ended nor is it open`);
      }
      return { ...started, endMs: Number.POSITIVE_INFINITY, outcome: { kind: "unknown" } };
    });
  }
}
