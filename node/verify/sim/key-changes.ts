/** Changes of keys, found by comparing the keys before and after each command, without the history. */

import {
  type Command,
  CoordinationError,
  DEFAULT_NAMESPACE,
  describeSession,
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
  /** Live sessions that the present command names, each once, with the keys that they had before it. */
  #sessions: readonly OwnedKeys[] = [];

  before({ operation }: Command, state: StateReader): void {
    this.#sessions = sessionsIn(operation).flatMap(({ sessionId }) => keysOfSession(state, sessionId));
    const all = operation.kind === "transact" ? operationsIn(operation) : [operation];
    const keys = all.flatMap((one) => keysOf(one, (prefix) => keysFrom(state, prefix)));
    this.#before = new Map(keys.map((key) => [textOf(key), keyIn(state, key)]));
  }

  /** The changes that the command has made. */
  after({ command: { operation }, outcome, revision }: ExecutedCommand, state: StateReader): readonly ExpectedChange[] {
    if (operation.kind === "end-session" || operation.kind === "expire-sessions") {
      return this.#ended(operation.kind === "end-session" ? "delete" : "expire", revision, state);
    }
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

  /** Each session that has ended takes one revision, and all of its keys end there. */
  #ended(kind: "delete" | "expire", revision: number, state: StateReader): readonly ExpectedChange[] {
    const ended = this.#sessions.filter(({ sessionId }) => keysOfSession(state, sessionId).length === 0);
    return ended.flatMap(({ keys }, at) =>
      keys.map((before) => madeOf(kind, { ...before, modRevision: revision + at + 1, deadlineMs: 0 }, before)),
    );
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

interface OwnedKeys {
  readonly sessionId: number;
  readonly keys: readonly StoredKey[];
}

/** The sessions that the operation may end, each once. */
function sessionsIn(operation: Command["operation"]): readonly { readonly sessionId: number }[] {
  const named = operation.kind === "expire-sessions" ? operation.sessions : [];
  const ids = operation.kind === "end-session" ? [operation.sessionId] : named.map(({ sessionId }) => sessionId);
  return [...new Set(ids)].map((sessionId) => ({ sessionId }));
}

/** The session with its keys in the order of their bytes; none if it does not live. Sessions are in the default namespace. */
function keysOfSession(state: StateReader, sessionId: number): readonly OwnedKeys[] {
  try {
    const { keys } = describeSession(state, DEFAULT_NAMESPACE, sessionId);
    return [{ sessionId, keys: keys.map((key) => keyIn(state, key) as StoredKey) }];
  } catch (error) {
    if (error instanceof CoordinationError) {
      return [];
    }
    throw error;
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
