/**
 * The rules of watch streams of keys and of locks. They find the changes that the log has made without the history that
 * members keep, and compare each message with them when a member sends it.
 */

import { type Command, type CoordinationError, compactRevisionOf, type StateReader } from "../../src/state/index.ts";
import type { WatchMessage, WatchRequest } from "../../src/watch/index.ts";
import { ExpectedChanges } from "./expected-changes.ts";
import { KeyChanges, wordsOfKeyChange } from "./key-changes.ts";
import { NAMESPACES } from "./key-namespaces.ts";
import type { ExecutedCommand, ExecutionObserver } from "./live-execution.ts";
import { checkKept, lockChangesOf, wordsOfLockChange } from "./lock-changes.ts";
import type { LockRules } from "./lock-rules.ts";
import { must } from "./rule-violation.ts";

/** A stream, as its member has sent it so far. */
export interface SentStream {
  readonly member: number;
  readonly about: WatchRequest["about"];
  readonly namespace: string;
  readonly prefix: string;
  /** 0 = from its opening. */
  readonly startRevision: number;
  /** The greatest revision in any answer when it was opened. */
  readonly floor: number;
  /** The next revision to send; 0 = nothing was sent. */
  next: number;
}

const FOUNDING_REVISION = 1;

export class WatchRules implements ExecutionObserver {
  readonly #expected = { key: new ExpectedChanges(), lock: new ExpectedChanges() };
  readonly #keys = new KeyChanges();
  readonly #locks: Pick<LockRules, "changed">;
  /** The greatest revision that the log has made. The founding, which is no command, makes the first one. */
  #revision = FOUNDING_REVISION;
  /** By namespace, the first revision that is kept. */
  #compactRevisions = new Map<string, number>();
  readonly #sentCounts = { key: 0, lock: 0 };
  #compacted = 0;

  /** @param locks must see each command first. */
  constructor(locks: Pick<LockRules, "changed">) {
    this.#locks = locks;
  }

  /** The numbers of changes of keys and of locks that streams have sent. */
  get sentCounts(): Readonly<Record<WatchRequest["about"], number>> {
    return this.#sentCounts;
  }

  /** Streams that were refused because their start was compacted. */
  get compacted(): number {
    return this.#compacted;
  }

  /** By key of the namespace, the revision of its last change. */
  changedAt(namespace: string): ReadonlyMap<string, number> {
    return this.#expected.key.lastOf(namespace);
  }

  /** Changes of the namespace below this revision are not kept any more. */
  compactRevisionOf(namespace: string): number {
    return this.#compactRevisions.get(namespace) ?? 0;
  }

  get revision(): number {
    return this.#revision;
  }

  before(command: Command, state: StateReader): void {
    this.#keys.before(command, state);
  }

  after(executed: ExecutedCommand, state: StateReader): void {
    const { kind } = executed.command.operation;
    this.#revision = executed.revisionAfter;
    this.#expected.key.add(this.#keys.after(executed, state));
    const { changed } = this.#locks;
    if (changed.length > 0) {
      const made = lockChangesOf(executed, changed);
      checkKept(executed, state, made);
      this.#expected.lock.add(made);
    }
    if (kind === "trim-history" || kind === "compact-history") {
      this.#compactRevisions = new Map(NAMESPACES.map((name) => [name, compactRevisionOf(state, name)]));
    }
  }

  /** A stream begins. */
  onOpen(stream: SentStream): void {
    stream.next = stream.startRevision;
  }

  /** A member sends a message in a stream. */
  onMessage(stream: SentStream, { kind, revision, changes }: WatchMessage): void {
    const { member, about, namespace, prefix, startRevision, floor, next } = stream;
    const what = (): string =>
      `m${member}: ${kind} up to ${revision} of ${about}s "${prefix}" in ${namespace} from ${next}`;
    if (kind === "created") {
      const isFromNow = startRevision === 0 && revision >= floor && revision <= this.#revision;
      must(isFromNow || revision === startRevision - 1, "a watch begins where it was asked to", what);
      stream.next = revision + 1;
      return;
    }
    must(next !== 0, "a watch is created before it sends anything", what);
    must(revision >= next - 1, "S37 what was sent is not sent again", what);
    const isKnown = revision <= this.#revision || (changes.length === 0 && revision === next - 1);
    must(isKnown, "S37 nothing is sent before it has happened", what);
    const wanted = this.#expected[about].between(namespace, prefix, next, revision);
    const told = changes.map((shared) => {
      must(shared.change.about === about, "a watch of keys gets keys, and a watch of locks gets locks", what);
      return wordsOf(shared);
    });
    must(told.join("\n") === wanted.join("\n"), "S37 each change is sent once, in order, and none is left out", () => {
      return `${what()}: ${told.join("; ")} instead of ${wanted.join("; ")}`;
    });
    this.#sentCounts[about] += changes.length;
    stream.next = revision + 1;
  }

  /** A member ends a stream, or refuses it. */
  onEnd(stream: SentStream, { reason, details }: CoordinationError): void {
    const { member, about, namespace, prefix, startRevision, next } = stream;
    const from = Math.max(startRevision, next);
    const what = (): string =>
      `m${member}: ${reason} ${[...details]} of ${about}s "${prefix}" in ${namespace} from ${from}`;
    if (reason === "COMPACTED") {
      const compactRevision = Number(details.get("compact_revision"));
      const isGone = from < compactRevision && compactRevision <= this.compactRevisionOf(namespace);
      must(isGone, "S37 only what is not kept is refused", what);
      this.#compacted++;
    } else if (details.has("resume_revision")) {
      must(Number(details.get("resume_revision")) === from, "S37 a watch resumes after what was sent", what);
    }
  }
}

function wordsOf({ change, revision }: WatchMessage["changes"][number]): string {
  return change.about === "key" ? wordsOfKeyChange(change) : wordsOfLockChange(change, revision);
}
