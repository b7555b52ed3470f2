/**
 * When keys with a TTL may expire: a model of deadlines that does not know how the state stores them. It gets every
 * command in the order of the log.
 */

import { type Command, CoordinationError, type Result } from "../../src/state/index.ts";
import { must } from "./rule-violation.ts";
import { type Executed as ExecutedPart, executedIn } from "./transacted.ts";

/** A key has expired. */
export interface Ending {
  readonly key: string;
  /** The entry that has ended it, and the revision of the end. */
  readonly index: number;
  readonly revision: number;
  /** The entry that has set its deadline, and the TTL. */
  readonly setIndex: number;
  readonly ttlMs: number;
}

/** An executed command. */
export interface Executed {
  readonly index: number;
  /** The cluster tick at its entry. */
  readonly tickMs: number;
  /** The revision before it. */
  readonly revision: number;
  readonly operation: Command["operation"];
  readonly answer: Result | CoordinationError | null;
}

interface Lifetime {
  readonly modRevision: number;
  /** Infinity = no TTL. */
  readonly deadlineMs: number;
  readonly setIndex: number;
  readonly ttlMs: number;
}

export class KeyLifetimes {
  readonly #alive = new Map<string, Lifetime>();
  readonly #endings: Ending[] = [];

  /** All expiries so far, in the order of the log. */
  get endings(): readonly Ending[] {
    return this.#endings;
  }

  /** `exists` returns whether the key exists after the command. */
  executed(executed: Executed, isThere: (key: Uint8Array) => boolean): void {
    const { operation, answer } = executed;
    if (operation.kind === "expire-keys") {
      this.#expire(executed, operation.keys, isThere);
      return;
    }
    for (const part of executedIn(operation, answer)) {
      this.#execute(executed, part);
    }
  }

  #execute({ index, tickMs }: Executed, { operation, answer }: ExecutedPart): void {
    if (answer === null || answer instanceof CoordinationError) {
      return;
    }
    if (operation.kind === "delete-keys") {
      const prefix = nameOf(operation.prefix);
      for (const key of [...this.#alive.keys()].filter((one) => one.startsWith(prefix))) {
        this.#alive.delete(key);
      }
    }
    if (operation.kind === "delete-key" || operation.kind === "remove-key") {
      this.#alive.delete(nameOf(operation.key));
    }
    const isSet = answer.kind !== "compare-and-swap" || answer.success;
    if (isSet && "modRevision" in answer && "ttlSeconds" in operation && "key" in operation) {
      const ttlMs = operation.ttlSeconds * 1000;
      const { modRevision } = answer;
      const name = nameOf(operation.key);
      const before = operation.kind === "increment-key" ? this.#alive.get(name) : undefined;
      // An increment of a number that is there keeps its deadline.
      const deadlineMs = ttlMs === 0 ? Number.POSITIVE_INFINITY : tickMs + ttlMs;
      this.#alive.set(name, { deadlineMs, setIndex: index, ttlMs, ...before, modRevision });
    }
  }

  #expire(
    { index, tickMs, revision }: Executed,
    keys: readonly { readonly key: Uint8Array; readonly modRevision: number }[],
    isThere: (key: Uint8Array) => boolean,
  ): void {
    let endings = 0;
    for (const { key, modRevision } of keys) {
      const name = nameOf(key);
      const alive = this.#alive.get(name);
      const isOver = alive !== undefined && alive.modRevision === modRevision && alive.deadlineMs < tickMs;
      must(
        isThere(key) === (alive !== undefined && !isOver),
        "I23 a key ends when its time is up, and not before",
        () => {
          return `${name} at entry ${index}, tick ${tickMs}: ${isThere(key)}, deadline ${alive?.deadlineMs}`;
        },
      );
      if (isOver) {
        endings++;
        const { setIndex, ttlMs } = alive;
        this.#endings.push({ key: name, index, revision: revision + endings, setIndex, ttlMs });
        this.#alive.delete(name);
      }
    }
  }
}

function nameOf(key: Uint8Array): string {
  return Buffer.from(key).toString();
}
