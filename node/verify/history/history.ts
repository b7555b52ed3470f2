/**
 * What clients requested and which answers they got: the evidence that an oracle judges.
 *
 * An operation spans the time from before its first attempt to after its last answer. A request that was certainly
 * refused has no effect. A request of unknown outcome may take effect at any time after its start, without limit.
 */

/** A client's request. Values are distinct over a whole history, so that a value identifies its write. */
export type KeyOperation =
  | { readonly kind: "get"; readonly key: string }
  | { readonly kind: "put"; readonly key: string; readonly value: string; readonly ttlMs?: number }
  | {
      readonly kind: "delete";
      readonly key: string;
      /** Without it the delete removes any value; with it, it removes only this one. */
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

/** The service's answer. `revision` is the revision of the cluster at which the answer is true. */
export type KeyAnswer =
  /** A get found the key. */
  | ({ readonly kind: "found"; readonly revision: number } & KeyContent)
  /** A get or delete found no key. Only a page of keys returns a revision with that. */
  | { readonly kind: "absent"; readonly revision?: number }
  /** A put was executed at the revision. `previous`, if returned, is the key before it; null = no key. */
  | {
      readonly kind: "put";
      readonly created: boolean;
      readonly revision: number;
      readonly previous?: KeyContent | null;
    }
  /** A delete was executed at the revision. `previous`, if returned, is what it removed. */
  | { readonly kind: "deleted"; readonly revision: number; readonly previous?: KeyContent }
  /** A compare-and-swap wrote at the revision. */
  | { readonly kind: "swapped"; readonly revision: number }
  /** A compare-and-swap changed nothing. */
  | {
      readonly kind: "not-swapped";
      /** What it found instead; null = no key. */
      readonly current: { readonly value: string; readonly modRevision: number } | null;
      readonly revision: number;
    }
  /** It was executed, and no client got its result. */
  | { readonly kind: "done" };

/** The outcome of an operation; of an operation on keys by default. */
export type OperationOutcome<Answer = KeyAnswer> =
  | { readonly kind: "ok"; readonly answer: Answer }
  /** It certainly had no effect. */
  | { readonly kind: "not-executed" }
  /** It may take effect or not, now or later. */
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
  /** Id of the operation that causes this one: this one comes later, even if their times overlap. */
  readonly consequenceOf?: number;
  /**
   * Operations with the same number are one step: all of them take effect at once, or none does. They are about
   * different keys, and have the same times. Absent = this one is a step by itself.
   */
  readonly step?: number;
}

/** An open operation; the caller must end it exactly once. */
export interface OpenOperation<Answer = KeyAnswer> {
  end(outcome: OperationOutcome<Answer>): void;
}

/** An operation of a step, as it was executed, and its outcome. */
export interface EndedOperation<Operation = KeyOperation, Answer = KeyAnswer> {
  readonly operation: Operation;
  readonly outcome: OperationOutcome<Answer>;
}

/** An open step of several operations; the caller must end it exactly once, with as many operations. */
export interface OpenStep<Operation = KeyOperation, Answer = KeyAnswer> {
  end(ended: readonly EndedOperation<Operation, Answer>[]): void;
}

/** Records operations as they start and end; operations on keys by default. */
export class History<Operation = KeyOperation, Answer = KeyAnswer> {
  readonly #nowMs: () => number;
  readonly #operations: (RecordedOperation<Operation, Answer> | null)[] = [];
  readonly #open = new Map<number, Omit<RecordedOperation<Operation, Answer>, "endMs" | "outcome">>();

  /** @param nowMs a monotonic clock in milliseconds. The finer it is, the more operations it orders. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Records that a client starts an operation. Call it before anything of the operation is sent. */
  begin(client: string, operation: Operation): OpenOperation<Answer> {
    const step = this.beginStep(client, [operation]);
    return { end: (outcome) => step.end([{ operation, outcome }]) };
  }

  /** The same for operations that are one step. */
  beginStep(client: string, operations: readonly Operation[]): OpenStep<Operation, Answer> {
    const step = this.#operations.length;
    const together = operations.length === 1 ? {} : { step };
    const startMs = this.#nowMs();
    const all = operations.map((operation, at) => {
      const started = { id: step + at, client, operation, startMs, ...together };
      this.#operations.push(null);
      this.#open.set(started.id, started);
      return started;
    });
    return {
      end: (ended) => {
        const nowMs = this.#nowMs();
        for (const [at, started] of all.entries()) {
          if (!this.#open.delete(started.id)) {
            throw new Error(`operation ${started.id} has ended before`);
          }
          const { operation, outcome } = ended[at] as EndedOperation<Operation, Answer>;
          const endMs = outcome.kind === "unknown" ? Number.POSITIVE_INFINITY : nowMs;
          this.#operations[started.id] = { ...started, operation, endMs, outcome };
        }
      },
    };
  }

  /** All operations in the order of their starts. Open operations have an unknown outcome. */
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
