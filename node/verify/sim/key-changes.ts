/** Changes of keys, found by comparing the keys before and after each command, without the history. */

import {
  type Command,
  CoordinationError,
  DEFAULT_NAMESPACE,
  getKey,
  type KeyChange,
  listKeys,
  type StateReader,
  type StoredKey,
} from "../../src/state/index.ts";
import type { ExpectedChange } from "./expected-changes.ts";
import { textOf } from "./key-history.ts";
import { namespaceOf } from "./key-namespaces.ts";
import type { ExecutedCommand } from "./live-execution.ts";
import { must } from "./rule-violation.ts";
import { type Executed, executedIn, operationsIn } from "./transacted.ts";

export class KeyChanges {
  /** Keys of the present command, as they were before it. */
  #before = new Map<string, StoredKey | undefined>();

  before({ operation }: Command, state: StateReader): void {
    const all = operation.kind === "transact" ? operationsIn(operation) : [operation];
    const keys = all.flatMap((one) => keysOf(one, (prefix) => keysFrom(state, prefix)));
    this.#before = new Map(keys.map((key) => [textOf(key), keyIn(state, key)]));
  }

  /** The changes that the command has made. */
  after({ command: { operation }, outcome, revision }: ExecutedCommand, state: StateReader): readonly ExpectedChange[] {
    const made: ExpectedChange[] = [];
    let ends = 0;
    const isTransaction = operation.kind === "transact";
    const keysBefore = (prefix: Uint8Array) => this.#keysBefore(textOf(prefix));
    const executed = executedIn(operation, outcome?.answer ?? null);
    for (const key of executed.flatMap((one) => keysOf(one.operation, keysBefore))) {
      const before = this.#before.get(textOf(key));
      const now = keyIn(state, key);
      if (operation.kind === "touch-key") {
        must(isSameBesidesDeadline(before, now), "a touch moves a deadline and changes nothing else", () =>
          textOf(key),
        );
      }
      if (now !== undefined && now.modRevision !== before?.modRevision) {
        made.push(madeOf("put", now, before ?? null));
      } else if (now === undefined && before !== undefined) {
        // All changes of a transaction are at one revision.
        ends = isTransaction ? 1 : ends + 1;
        const isDeleted = isTransaction || operation.kind === "delete-key";
        const end = { ...before, modRevision: revision + ends, deadlineMs: 0 };
        made.push(madeOf(isDeleted ? "delete" : "expire", end, before));
        // A key that is named twice ends once.
        this.#before.delete(textOf(key));
      }
    }
    return made;
  }

  /** Keys with the prefix before the command, in the order of their bytes. */
  #keysBefore(prefix: string): readonly Uint8Array[] {
    const there = [...this.#before].flatMap(([key, stored]) => (stored === undefined ? [] : [key]));
    return there
      .filter((key) => key.startsWith(prefix))
      .sort()
      .map((key) => Buffer.from(key));
  }
}

/** The change as text that can be compared. */
export function wordsOfKeyChange({ kind, current, previous }: Pick<KeyChange, "kind" | "current" | "previous">) {
  return `${kind} ${contentOf(current)}, before ${previous === null ? "nothing" : contentOf(previous)}`;
}

function madeOf(kind: KeyChange["kind"], current: StoredKey, previous: StoredKey | null): ExpectedChange {
  const words = wordsOfKeyChange({ kind, current, previous });
  const name = textOf(current.key);
  return { revision: current.modRevision, namespace: namespaceOf(name), name, words };
}

/**
 * The keys that an operation may change.
 *
 * @param from returns the keys with a prefix.
 */
function keysOf(
  operation: Executed["operation"],
  from: (prefix: Uint8Array) => readonly Uint8Array[],
): readonly Uint8Array[] {
  switch (operation.kind) {
    case "remove-key":
    case "increment-key":
    case "put-key":
    case "delete-key":
    case "compare-and-swap":
    case "touch-key":
      return [operation.key];
    case "expire-keys":
      return operation.keys.map(({ key }) => key);
    case "delete-keys":
      return from(operation.prefix);
    default:
      return [];
  }
}

/** Keys of transactions are in the default namespace. */
function keysFrom(state: StateReader, prefix: Uint8Array): readonly Uint8Array[] {
  const bounds = { entriesMax: Number.MAX_SAFE_INTEGER, bytesMax: Number.MAX_SAFE_INTEGER, keysOnly: true };
  return listKeys(state, DEFAULT_NAMESPACE, prefix, undefined, bounds).keys.map(({ key }) => key);
}

function isSameBesidesDeadline(one: StoredKey | undefined, other: StoredKey | undefined): boolean {
  const contents = [one, other].map((stored) => stored && contentOf({ ...stored, deadlineMs: 0 }));
  return contents[0] === contents[1];
}

function keyIn(state: StateReader, key: Uint8Array): StoredKey | undefined {
  try {
    return getKey(state, namespaceOf(textOf(key)), key);
  } catch (error) {
    if (error instanceof CoordinationError) {
      return undefined;
    }
    throw error;
  }
}

function contentOf({ key, value, modRevision, createRevision, version, deadlineMs }: StoredKey): string {
  return `${textOf(key)}=${textOf(value)}@${modRevision} of ${createRevision} v${version} until ${deadlineMs}`;
}
