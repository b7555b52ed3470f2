/**
 * What watchers of keys must be told: the changes that the log has made, found by looking at the keys before and after
 * each command, apart from the history that members keep. What a member sends in a stream is compared with that at once.
 */

import {
  type Command,
  CoordinationError,
  getKey,
  type KeyChange,
  readHistoryBounds,
  type StateReader,
  type StoredKey,
} from "../src/state/index.ts";
import type { WatchMessage } from "../src/watch/index.ts";
import type { ExecutedCommand, Witness } from "./live-replay.ts";
import { must } from "./rule-violation.ts";

/** A stream, as the member that serves it has sent it so far. */
export interface SentStream {
  readonly member: number;
  readonly prefix: string;
  /** 0 = from when it was opened. */
  readonly startRevision: number;
  /** The greatest revision that anybody had been told of when it was opened. */
  readonly floor: number;
  /** Everything below was sent; 0 = nothing was. */
  next: number;
}

/** A change of a key, in words that compare. */
interface Change {
  readonly revision: number;
  readonly key: string;
  readonly words: string;
}

export class WatchRules implements Witness {
  readonly #changes: Change[] = [];
  /** Keys of the command that is being executed, as they were before it. */
  #before = new Map<string, StoredKey | undefined>();
  /** The greatest revision that the log has made. */
  #revision = 0;
  #compactRevision = 0;
  #told = 0;
  #compacted = 0;

  /** Changes that streams have told. */
  get told(): number {
    return this.#told;
  }

  /** Streams that were told that what they ask for is not kept. */
  get compacted(): number {
    return this.#compacted;
  }

  /** Before this revision nothing is kept any more. */
  get compactRevision(): number {
    return this.#compactRevision;
  }

  get revision(): number {
    return this.#revision;
  }

  before({ operation }: Command, state: StateReader): void {
    this.#before = new Map(keysOf(operation).map((key) => [textOf(key), keyIn(state, key)]));
  }

  after(executed: ExecutedCommand, state: StateReader): void {
    const { command, revision, revisionAfter } = executed;
    this.#revision = revisionAfter;
    let ends = 0;
    for (const key of keysOf(command.operation)) {
      const before = this.#before.get(textOf(key));
      const now = keyIn(state, key);
      if (now !== undefined && now.modRevision !== before?.modRevision) {
        this.#add("put", now.modRevision, now, before ?? null);
      } else if (now === undefined && before !== undefined) {
        ends++;
        const isDeleted = command.operation.kind === "delete-key";
        const end = { ...before, modRevision: revision + ends, deadlineMs: 0 };
        this.#add(isDeleted ? "delete" : "expire", end.modRevision, end, before);
        // A key that is named twice ends once.
        this.#before.delete(textOf(key));
      }
    }
    if (command.operation.kind === "trim-history" || command.operation.kind === "compact-history") {
      this.#compactRevision = readHistoryBounds(state).compactRevision;
    }
  }

  #add(kind: KeyChange["kind"], revision: number, current: StoredKey, previous: StoredKey | null): void {
    const key = textOf(current.key);
    this.#changes.push({ revision, key, words: wordsOf(kind, current, previous) });
  }

  /** A stream was begun. */
  onOpen(stream: SentStream): void {
    stream.next = stream.startRevision;
  }

  /** A member sends a message in a stream. */
  onMessage(stream: SentStream, { kind, revision, changes }: WatchMessage): void {
    const { member, prefix, startRevision, floor, next } = stream;
    const what = (): string => `m${member}: ${kind} up to ${revision} of "${prefix}" from ${next}`;
    if (kind === "created") {
      const isFromNow = startRevision === 0 && revision >= floor && revision <= this.#revision;
      must(isFromNow || revision === startRevision - 1, "a watch begins where it was asked to", what);
      stream.next = revision + 1;
      return;
    }
    must(next !== 0, "a watch is created before anything is told", what);
    must(revision >= next - 1, "S37 what has been told is not told again", what);
    const isKnown = revision <= this.#revision || (changes.length === 0 && revision === next - 1);
    must(isKnown, "S37 nothing is told before it has happened", what);
    const wanted = this.#between(prefix, next, revision);
    const told = changes.map(({ change }) => {
      must(change.about === "key", "who watches keys is told of keys", what);
      return wordsOf(change.kind, change.current, change.previous);
    });
    must(told.join("\n") === wanted.join("\n"), "S37 each change is told once, in order, and none is left out", () => {
      return `${what()}: ${told.join("; ")} instead of ${wanted.join("; ")}`;
    });
    this.#told += changes.length;
    stream.next = revision + 1;
  }

  /** A member ends a stream, or does not begin it. */
  onEnd({ member, prefix, startRevision, next }: SentStream, { reason, details }: CoordinationError): void {
    const from = Math.max(startRevision, next);
    const what = (): string => `m${member}: ${reason} ${[...details]} of "${prefix}" from ${from}`;
    if (reason === "COMPACTED") {
      const compactRevision = Number(details.get("compact_revision"));
      const isGone = from < compactRevision && compactRevision <= this.#compactRevision;
      must(isGone, "S37 only what is not kept is refused", what);
      this.#compacted++;
    } else if (details.has("resume_revision")) {
      must(Number(details.get("resume_revision")) === from, "S37 a watch goes on behind what was told", what);
    }
  }

  /** In words, what changed keys with the prefix from the one revision to the other, both included. */
  #between(prefix: string, from: number, to: number): string[] {
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle] as Change).revision < from) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const words: string[] = [];
    for (let at = low; at < this.#changes.length; at++) {
      const change = this.#changes[at] as Change;
      if (change.revision > to) {
        break;
      }
      if (change.key.startsWith(prefix)) {
        words.push(change.words);
      }
    }
    return words;
  }
}

/** The keys that a command names, all of one namespace in every run. */
function keysOf(operation: Command["operation"]): readonly Uint8Array[] {
  switch (operation.kind) {
    case "put-key":
    case "delete-key":
    case "compare-and-swap":
      return [operation.key];
    case "expire-keys":
      return operation.keys.map(({ key }) => key);
    default:
      return [];
  }
}

function keyIn(state: StateReader, key: Uint8Array): StoredKey | undefined {
  try {
    return getKey(state, "default", key);
  } catch (error) {
    if (error instanceof CoordinationError) {
      return undefined;
    }
    throw error;
  }
}

function wordsOf(kind: KeyChange["kind"], current: StoredKey, previous: StoredKey | null): string {
  return `${kind} ${contentOf(current)}, before ${previous === null ? "nothing" : contentOf(previous)}`;
}

function contentOf({ key, value, modRevision, createRevision, version, deadlineMs }: StoredKey): string {
  return `${textOf(key)}=${textOf(value)}@${modRevision} of ${createRevision} v${version} until ${deadlineMs}`;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
