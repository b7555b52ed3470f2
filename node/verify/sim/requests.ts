/**
 * The requests and answers of clients, and the rules between them.
 *
 * During a run, the rules check that no client sees time run backwards: an operation sees everything that ended before
 * it began. At the end, they compare everything with the one log, replayed by a state machine of its own.
 */

import { isDeepStrictEqual } from "node:util";
import {
  type ClientOperation,
  CoordinationError,
  type Outcome,
  type Principal,
  type Result,
} from "../../src/state/index.ts";
import { Attempts, type Caller } from "./attempts.ts";
import { must } from "./rule-violation.ts";

/** A request with all of its attempts. */
export interface Request {
  readonly requestId: Uint8Array;
  readonly principal: Principal;
  readonly operation: ClientOperation;
  /** When it was first sent. */
  readonly startMs: number;
  /** The greatest revision in any answer when it began. */
  readonly floor: number;
  /** Its answer; null = none yet. */
  answer: Result | CoordinationError | null;
  /** Whether a call of it may have been executed, as far as its client knows. */
  isUncertain: boolean;
  /** Calls of it that were certainly not executed. */
  refusals: number;
}

/** The first execution of a request, as an entry of the log. */
export interface Execution {
  readonly index: number;
  readonly answer: Result | CoordinationError;
}

/** A process that has answered a call. */
export interface AnsweringProcess extends Caller {
  /** It may report that there is too little space for a write that makes the state larger. */
  readonly mayLackSpace: boolean;
}

export class Requests {
  readonly #attempts = new Attempts();
  readonly #all: Request[] = [];
  #floor = 0;
  #reads = 0;

  /** The greatest revision in any answer. */
  get floor(): number {
    return this.#floor;
  }

  get count(): number {
    return this.#all.length;
  }

  get reads(): number {
    return this.#reads;
  }

  get answered(): number {
    return this.#all.filter(({ answer }) => answer !== null).length;
  }

  begin(request: Pick<Request, "requestId" | "principal" | "operation" | "startMs">): Request {
    const begun: Request = { ...request, floor: this.#floor, answer: null, isUncertain: false, refusals: 0 };
    this.#all.push(begun);
    return begun;
  }

  /** A call of the request has ended at the process: with an error, with null after an execution, or lost. */
  onEnd(request: Request, caller: AnsweringProcess, error: CoordinationError | null | "lost"): void {
    const { requestId, operation } = request;
    if (error instanceof CoordinationError && error.reason === "STORAGE_FULL") {
      const what = (): string => `m${caller.memberId}: ${nameOf(request)}`;
      must(operation.kind !== "delete-key", "P45 deleting needs no room", what);
      must(operation.kind !== "touch-key", "P45 a touch needs no room", what);
      must(caller.mayLackSpace, "P45 one full member stops no caller", what);
    }
    this.#attempts.onEnd(requestId, caller, error);
  }

  /** Compares the outcome of every call with the rows of the log, when no call is open any more; see `Attempts`. */
  checkAttempts(rows: readonly Uint8Array[], refused: ReadonlySet<number>): void {
    this.#attempts.check(rows, refused);
  }

  /** A call of the request got its result. The answer for a revoked caller shows no result. */
  onAnswer(request: Request, { answer }: Outcome): void {
    const before = isAcquisition(request) ? null : request.answer;
    must(before === null || isSameAnswer(before, answer), "I12 a request has one answer", () => {
      return `${nameOf(request)}: ${describe(answer)}, not ${describe(before)}`;
    });
    request.answer = answer;
    if (answer instanceof CoordinationError) {
      return;
    }
    // A compare-and-swap that changed nothing returns the revision that it saw.
    must(answer.revision >= request.floor, "I13 an operation comes after all that ended before it began", () => {
      return `${nameOf(request)} at revision ${answer.revision}, after ${request.floor}`;
    });
    this.#floor = Math.max(this.#floor, answer.revision);
  }

  /** A read that began at this floor has seen the state at the revision. */
  onRead(what: string, floor: number, revision: number): void {
    this.#reads++;
    must(revision >= floor, "I13 a read shows all that ended before it began", () => {
      return `${what} at revision ${revision}, after ${floor}`;
    });
    this.#floor = Math.max(this.#floor, revision);
  }

  /** When the request was first sent, by its id in hexadecimal digits; undefined if there is no such request. */
  startOf(requestId: string): number | undefined {
    return this.#all.find((request) => request.requestId.toHex() === requestId)?.startMs;
  }

  /** Compares everything with the executions of the log, by request ids in hexadecimal digits. */
  check(executions: ReadonlyMap<string, Execution>): void {
    for (const request of this.#all) {
      const execution = executions.get(request.requestId.toHex());
      if (request.answer !== null) {
        must(execution !== undefined, "I22 what was acknowledged is in the log", () => nameOf(request));
        const isSame = isAcquisition(request) || isSameAnswer(execution.answer, request.answer);
        must(isSame, "I12 answers are those of the log", () => {
          return `${nameOf(request)}: ${describe(request.answer)}, not ${describe(execution.answer)}`;
        });
      } else if (request.refusals > 0 && !request.isUncertain) {
        must(execution === undefined, "I12 what was certainly not executed is not in the log", () => {
          return `${nameOf(request)} at ${execution?.index}`;
        });
      }
    }
  }
}

/** A repeated request for a lock is answered with the present state; rules of its own apply to that. */
function isAcquisition({ operation }: Request): boolean {
  return operation.kind === "acquire-lock";
}

function nameOf({ requestId, operation }: Request): string {
  return `${operation.kind} ${requestId.toHex().slice(0, 8)}`;
}

export function describe(answer: Result | CoordinationError | null): string {
  if (answer instanceof CoordinationError) {
    return `${answer.reason} ${answer.outcome}`;
  }
  return JSON.stringify(answer, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : exact(value),
  );
}

function isSameAnswer(one: Result | CoordinationError, other: Result | CoordinationError): boolean {
  if (one instanceof CoordinationError || other instanceof CoordinationError) {
    return one instanceof CoordinationError && other instanceof CoordinationError && one.reason === other.reason;
  }
  return isDeepStrictEqual(plain(one), plain(other));
}

/** Buffers and other byte arrays count as equal. */
function plain(answer: Result): unknown {
  return JSON.parse(JSON.stringify(answer, (_, value) => (value instanceof Uint8Array ? value.toHex() : exact(value))));
}

/** JSON has no numbers above 2^53. */
function exact(value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
