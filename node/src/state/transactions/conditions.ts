/** The conditions of a transaction: what they compare, and how. */

import { beginsWith, compareBytes } from "../../bytes/index.ts";
import {
  type ApplyContext,
  bytes,
  count,
  type Field,
  fixedBytes,
  type KeyChange,
  oneOf,
  recordOf,
  type StateReader,
  type Steps,
  type StoredKey,
  scanHistory,
  type WatchedChange,
} from "../core/index.ts";
import { describeLog, LOG_ID_BYTES, logNotFound } from "../event-logs/index.ts";
import { readKey } from "../keys/index.ts";
import { GUARD, type Guard, isHoldLive } from "../locks/index.ts";
import { readSession } from "../sessions/index.ts";

/** Is true if this is the order of what there is and what the condition has. */
export type Operator = "=" | "!=" | "<" | ">";

/** A number of a key: 0 if it does not exist. `exists` is 0 or 1. */
export type KeyNumber = "exists" | "mod-revision" | "create-revision" | "version" | "session";

export interface KeyNumberCondition {
  readonly about: "key-number";
  readonly key: Uint8Array;
  readonly of: KeyNumber;
  readonly operator: Operator;
  readonly number: number;
}

/** Compares the bytes of the value. For a key that does not exist, only `!=` is true. */
export interface KeyValueCondition {
  readonly about: "key-value";
  readonly key: Uint8Array;
  readonly operator: Operator;
  readonly value: Uint8Array;
}

/**
 * No key with the prefix was changed after the revision by another entry. The history answers this, as far as one look
 * into it reaches; beyond that they count as changed.
 */
export interface PrefixCondition {
  readonly about: "prefix";
  readonly prefix: Uint8Array;
  readonly unchangedSince: number;
}

/** The hold is live; for a read-write lock, a writing hold. */
export interface HoldCondition extends Guard {
  readonly about: "hold";
}

/** Compares the last sequence of a log; 0 = it never had an event. */
export interface LogCondition {
  readonly about: "log";
  readonly logId: Uint8Array;
  readonly operator: Operator;
  readonly lastSequence: number;
}

/** The session is live. It may belong to any user. */
export interface SessionCondition {
  readonly about: "session";
  readonly sessionId: number;
}

export type Condition =
  | KeyNumberCondition
  | KeyValueCondition
  | PrefixCondition
  | HoldCondition
  | LogCondition
  | SessionCondition;

/** Revisions and bytes of the history that the conditions of a transaction read. */
const HISTORY_REVISIONS_MAX = 4_000;
const HISTORY_BYTES_MAX = 1024 * 1024;
/** Revisions read between two pauses: about a millisecond of work. */
const STEP_REVISIONS = 256;

const OPERATORS: readonly Operator[] = ["=", "!=", "<", ">"];
const operator = oneOf(OPERATORS, "conditions have a known operator");
const KEY_NUMBERS: readonly KeyNumber[] = ["exists", "mod-revision", "create-revision", "version", "session"];
const FIELDS = {
  "key-number": recordOf<KeyNumberCondition, Pick<KeyNumberCondition, "about">>(
    { key: bytes, of: oneOf(KEY_NUMBERS, "conditions are about known numbers"), operator, number: count },
    { about: "key-number" },
  ),
  "key-value": recordOf<KeyValueCondition, Pick<KeyValueCondition, "about">>(
    { key: bytes, operator, value: bytes },
    { about: "key-value" },
  ),
  prefix: recordOf<PrefixCondition, Pick<PrefixCondition, "about">>(
    { prefix: bytes, unchangedSince: count },
    { about: "prefix" },
  ),
  hold: recordOf<HoldCondition, Pick<HoldCondition, "about">>(GUARD, { about: "hold" }),
  log: recordOf<LogCondition, Pick<LogCondition, "about">>(
    { logId: fixedBytes(LOG_ID_BYTES), operator, lastSequence: count },
    { about: "log" },
  ),
  session: recordOf<SessionCondition, Pick<SessionCondition, "about">>({ sessionId: count }, { about: "session" }),
} as const satisfies { readonly [About in Condition["about"]]: Field<Extract<Condition, { readonly about: About }>> };
/** The position of each is its number in entries. */
const ABOUTS = Object.keys(FIELDS) as readonly Condition["about"][];
const about = oneOf(ABOUTS, "conditions are about something known");

export const condition: Field<Condition> = {
  write: (writer, value) => {
    about.write(writer, value.about);
    (FIELDS[value.about] as Field<Condition>).write(writer, value);
  },
  read: (reader) => (FIELDS[about.read(reader)] as Field<Condition>).read(reader),
};

/** Decides conditions within one transaction, which together read a bounded part of the history. */
export class Conditions {
  readonly #reader: StateReader;
  readonly #history: ApplyContext["history"];
  readonly #namespace: string;
  #revisionsLeft = HISTORY_REVISIONS_MAX;
  #bytesLeft = HISTORY_BYTES_MAX;

  constructor({ transaction, history }: ApplyContext, namespace: string) {
    this.#reader = transaction;
    this.#history = history;
    this.#namespace = namespace;
  }

  /** Whether the condition is true. `revision` is that of the state. Raises LOG_NOT_FOUND. */
  *isTrue(one: Condition, revision: number): Steps<boolean> {
    switch (one.about) {
      case "key-number":
        return holds(Math.sign(numberOf(this.#readKey(one.key), one.of) - one.number), one.operator);
      case "key-value": {
        const current = this.#readKey(one.key);
        return current === undefined
          ? one.operator === "!="
          : holds(compareBytes(current.value, one.value), one.operator);
      }
      case "prefix":
        return yield* this.#isUnchanged(one, revision);
      case "hold":
        return isHoldLive(this.#reader, this.#namespace, one);
      case "log": {
        const log = describeLog(this.#reader, one.logId);
        if (log.namespace !== this.#namespace) {
          throw logNotFound(one.logId);
        }
        return holds(Math.sign(log.lastSequence - one.lastSequence), one.operator);
      }
      case "session":
        return readSession(this.#reader, this.#namespace, one.sessionId) !== undefined;
    }
  }

  #readKey(key: Uint8Array): StoredKey | undefined {
    return readKey(this.#reader, this.#namespace, key);
  }

  *#isUnchanged({ prefix, unchangedSince }: PrefixCondition, revision: number): Steps<boolean> {
    const concerns = (change: WatchedChange): change is KeyChange =>
      change.about === "key" && change.namespace === this.#namespace && beginsWith(change.current.key, prefix);
    // Not that of the rows, which are written once for each batch.
    if (unchangedSince + 1 < this.#history.compactRevisionOf(this.#namespace)) {
      return false;
    }
    let isUnchanged = true;
    let from = unchangedSince + 1;
    while (isUnchanged && from <= revision) {
      let left = STEP_REVISIONS;
      let next = revision + 1;
      scanHistory(this.#reader, from, revision, (read) => {
        left--;
        this.#revisionsLeft--;
        this.#bytesLeft -= read.bytes;
        isUnchanged = this.#revisionsLeft >= 0 && this.#bytesLeft >= 0 && !read.changes.some(concerns);
        if (isUnchanged && left > 0) {
          return true;
        }
        next = read.revision + 1;
        return false;
      });
      from = next;
      yield;
    }
    return isUnchanged;
  }
}

function numberOf(key: StoredKey | undefined, of: KeyNumber): number {
  switch (of) {
    case "exists":
      return key === undefined ? 0 : 1;
    case "mod-revision":
      return key?.modRevision ?? 0;
    case "create-revision":
      return key?.createRevision ?? 0;
    case "version":
      return key?.version ?? 0;
    case "session":
      return key?.sessionId ?? 0;
  }
}

/** @param order below 0 if what there is comes before what the condition has, 0 if they are equal, else above. */
function holds(order: number, operator: Operator): boolean {
  switch (operator) {
    case "=":
      return order === 0;
    case "!=":
      return order !== 0;
    case "<":
      return order < 0;
    case ">":
      return order > 0;
  }
}
