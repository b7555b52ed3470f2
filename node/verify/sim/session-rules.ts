/**
 * The rules of sessions: a naive model of which sessions live, until when, and which keys belong to them. After each
 * command the state must be as the model. So no key of a session is there after its end, and no session ends before its
 * deadline.
 */

import {
  CoordinationError,
  DEFAULT_NAMESPACE,
  decodeText,
  describeSession,
  listKeys,
  listSessions,
  type Result,
  type StateReader,
} from "../../src/state/index.ts";
import type { ExecutedCommand, ExecutionObserver } from "./live-execution.ts";
import { must } from "./rule-violation.ts";
import { firstAnswerOf } from "./transacted.ts";

/** All keys of sessions have it, in the default namespace, and no other key. */
export const SESSION_PREFIX = "session-";

const ALL = { entriesMax: Number.MAX_SAFE_INTEGER, bytesMax: Number.MAX_SAFE_INTEGER, keysOnly: true };
const MS_PER_SECOND = 1_000;

interface Living {
  readonly subject: string;
  readonly ttlMs: number;
  deadlineMs: number;
}

export class SessionRules implements ExecutionObserver {
  readonly #living = new Map<number, Living>();
  /** By key, its session; null = none. */
  readonly #keys = new Map<string, number | null>();
  /** By session that has expired, the entry. */
  readonly #expiries = new Map<number, number>();
  #renewals = 0;
  #ended = 0;

  /** Entries by which sessions have expired. */
  get expiries(): ReadonlyMap<number, number> {
    return this.#expiries;
  }

  /** Numbers of renewed sessions, and of sessions that their clients have ended. */
  get renewals(): number {
    return this.#renewals;
  }

  get ended(): number {
    return this.#ended;
  }

  after(executed: ExecutedCommand, state: StateReader): void {
    const { index, tickMs, command, outcome } = executed;
    const { operation, principal } = command;
    const subject = principal?.subject ?? "";
    const answer = firstAnswerOf(outcome);
    switch (operation.kind) {
      case "create-session":
        this.#create(executed, subject, operation.ttlSeconds * MS_PER_SECOND, answer);
        break;
      case "renew-sessions":
        this.#renew(executed, operation.renewals);
        break;
      case "end-session":
        if (isDone(answer)) {
          this.#end(operation.sessionId);
          this.#ended++;
        }
        break;
      case "expire-sessions":
        for (const { sessionId } of operation.sessions) {
          const living = this.#living.get(sessionId);
          if (living !== undefined && living.deadlineMs < tickMs) {
            this.#end(sessionId);
            this.#expiries.set(sessionId, index);
          }
        }
        break;
      case "put-key":
        this.#put(index, subject, operation, answer);
        break;
      case "delete-key":
        if (isDone(answer)) {
          this.#keys.delete(decodeText(operation.key));
        }
        break;
      default:
        return;
    }
    this.#compare(index, state);
  }

  #create({ index, tickMs }: ExecutedCommand, subject: string, ttlMs: number, answer: Given): void {
    if (isDone(answer) && answer.kind === "create-session") {
      const { sessionId, deadlineMs } = answer;
      must(!this.#living.has(sessionId), "no two sessions have one id", () => `entry ${index}: ${sessionId}`);
      must(deadlineMs === tickMs + ttlMs, "S21 a session lives for its time", () => `entry ${index}: ${sessionId}`);
      this.#living.set(sessionId, { subject, ttlMs, deadlineMs });
    }
  }

  #renew(
    { index, tickMs, outcome }: ExecutedCommand,
    renewals: readonly { readonly principal: { readonly subject: string }; readonly sessionIds: readonly number[] }[],
  ): void {
    const answer = outcome?.answer;
    if (answer === undefined || answer instanceof CoordinationError || answer.kind !== "renew-sessions") {
      return;
    }
    for (const [at, { principal, sessionIds }] of renewals.entries()) {
      const told = answer.renewed[at] ?? null;
      for (const [position, sessionId] of told === null ? [] : sessionIds.entries()) {
        const living = this.#living.get(sessionId);
        const isOwn = living?.subject === principal.subject;
        if (living !== undefined && isOwn) {
          living.deadlineMs = tickMs + living.ttlMs;
          this.#renewals++;
        }
        const wanted = living !== undefined && isOwn ? living.deadlineMs : 0;
        must(told?.[position]?.deadlineMs === wanted, "a renewal says what became of each session", () => {
          return `entry ${index}: ${told?.[position]?.deadlineMs} of ${sessionId} instead of ${wanted}`;
        });
      }
    }
  }

  #put(
    index: number,
    subject: string,
    { key, sessionId = null }: { readonly key: Uint8Array; readonly sessionId?: number | null },
    answer: Given,
  ): void {
    const name = decodeText(key);
    if (isDone(answer) && name.startsWith(SESSION_PREFIX)) {
      const living = sessionId === null ? undefined : this.#living.get(sessionId);
      must(sessionId === null || living?.subject === subject, "only a live session of the caller gets keys", () => {
        return `entry ${index}: ${name} of ${sessionId}`;
      });
      this.#keys.set(name, sessionId);
    }
  }

  #end(sessionId: number): void {
    this.#living.delete(sessionId);
    for (const [key, owner] of this.#keys) {
      if (owner === sessionId) {
        this.#keys.delete(key);
      }
    }
  }

  #compare(index: number, state: StateReader): void {
    const prefix = Buffer.from(SESSION_PREFIX);
    const keys = listKeys(state, DEFAULT_NAMESPACE, prefix, undefined, ALL).keys.map(({ key, sessionId }) => {
      return `${decodeText(key)} of ${sessionId ?? null}`;
    });
    const wanted = [...this.#keys].map(([key, sessionId]) => `${key} of ${sessionId}`).sort();
    must(keys.sort().join("; ") === wanted.join("; "), "a key of a session is there until its end, not longer", () => {
      return `entry ${index}: ${keys.join("; ")} instead of ${wanted.join("; ")}`;
    });
    const { sessions } = listSessions(state, DEFAULT_NAMESPACE, 0, ALL);
    const found = sessions.map(({ sessionId, deadlineMs, objects }) => {
      const owned = describeSession(state, DEFAULT_NAMESPACE, sessionId).keys.length;
      return `${sessionId} until ${deadlineMs} with ${objects} and ${owned}`;
    });
    const living = [...this.#living].map(([sessionId, { deadlineMs }]) => {
      const objects = [...this.#keys.values()].filter((owner) => owner === sessionId).length;
      return `${sessionId} until ${deadlineMs} with ${objects} and ${objects}`;
    });
    must(found.join("; ") === living.join("; "), "S21, S22 a session lives until its deadline", () => {
      return `entry ${index}: ${found.join("; ")} instead of ${living.join("; ")}`;
    });
  }
}

type Given = Result | CoordinationError | null;

function isDone(answer: Given): answer is Result {
  return answer !== null && !(answer instanceof CoordinationError);
}
