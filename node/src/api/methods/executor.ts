/**
 * Runs methods: the part of a call that is the same for every transport and every method.
 *
 * Every method follows the order of the contract: authorisation (step 5), then the fields (step 6), then the state
 * (steps 7 and 8). The state is read in apply or after the read barrier, never before. So a caller without access to a
 * namespace learns nothing about its contents (S43).
 */

import { ReadConsistency } from "@quoin/proto";
import { type ReadArea, readBarrier } from "../../access/index.ts";
import { type Turns, turnsOfThisThread } from "../../collections/index.ts";
import { invariant } from "../../primitives/index.ts";
import { type Clock, requestIdentityOf, systemClock } from "../../replica/index.ts";
import {
  type AcquireLock,
  type AcquireLockResult,
  CLUSTER_VERSIONS,
  type ClientOperation,
  type ClientOperationKind,
  CoordinationError,
  DEFAULT_STATE_LIMITS,
  hasRulesOf,
  type NamespacedOperationKind,
  type Outcome,
  type Principal,
  type RequestIdentity,
  type RequiredAccess,
  type Result,
  restoreValues,
  type StateReader,
  type Steps,
  storedOutcome,
  VERSION_WITH_REQUEST_IDS,
  VERSION_WITH_SESSIONS,
} from "../../state/index.ts";
import { attempt, toError } from "./attempt.ts";
import type { Call, CancellableCall, Reply } from "./call.ts";
import type { HostReplica } from "./host.ts";

/** The result of one kind. */
type ResultOf<Kind> = Extract<Result, { readonly kind: Kind }>;

/** A command that a caller proposes to the replica. */
type ProposedCommand = Parameters<HostReplica["propose"]>[0];
type ProposalDone = Parameters<HostReplica["propose"]>[2];
type ReadDone = Parameters<HostReplica["readBarrier"]>[1];
/** A proposed command of one kind. */
type CommandOf<Kind> = ProposedCommand & { readonly operation: { readonly kind: Kind } };
/** Makes a response. `tickMs` is the cluster tick from which remaining times count; `isWhole`: see `mutate`. */
export type Responding<Kind, Response> = (result: ResultOf<Kind>, tickMs: number, isWhole: boolean) => Response;

/**
 * Maximum age of a serializable read in milliseconds. For this time a revoked caller may still get one. The age is the
 * time since the last read barrier began: nothing else proves how old the applied state is. A message from the leader
 * proves nothing, because it may have waited in a buffer while this process was stopped.
 */
const STALE_MS_MAX = 1_000;

/** A call that examines more rows than this counts as several requests. Rows count as the store counts them. */
const ROWS_PER_REQUEST = 100;

const OLDER_RULES =
  "the cluster is being upgraded: this method is served a minute after the last member has started the new release";

/** The query of a read, after the check of its fields. */
export interface Query {
  readonly consistency: ReadConsistency;
}

/** The error of every call that needs the replicated state at a member that does not serve it. */
export function noReplica(): CoordinationError {
  return new CoordinationError("NO_LEADER", "this member serves no cluster at the moment");
}

export class Executor {
  readonly #member: { readonly replica: HostReplica | null };
  readonly #onRead: (principal: Principal, area: ReadArea) => void;
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #turns: Turns;
  /** When the newest successful read barrier began, and its replica. */
  #provenMs = Number.NEGATIVE_INFINITY;
  #provenReplica: HostReplica | null = null;

  /**
   * @param onRead called for every read that was answered.
   * @param turns all executors of a thread share them, because they share its event loop.
   */
  constructor(
    member: { readonly replica: HostReplica | null },
    onRead: (principal: Principal, area: ReadArea) => void = () => undefined,
    clock: Pick<Clock, "monotonicMs"> = systemClock,
    turns: Turns = turnsOfThisThread,
  ) {
    this.#member = member;
    this.#onRead = onRead;
    this.#clock = clock;
    this.#turns = turns;
  }

  /**
   * Executes a mutation once, even if the client sends it several times with the same request id.
   *
   * @param kind of the operation, which says what access it needs in its namespace.
   * @param operation makes the operation from the request; throws if a field is bad.
   * @param response makes the response from the result. `tickMs` is the cluster tick from which remaining times count.
   *   `isWhole` is false for a replay whose values of keys are no longer stored.
   * @param onProposed gets the function to call when the client no longer waits.
   */
  mutate<Asked extends ClientOperation, Response>(
    call: Call,
    kind: NamespacedOperationKind<Asked>,
    namespace: string,
    operation: () => Asked,
    response: Responding<Asked["kind"], Response>,
    reply: Reply<Response>,
    onProposed?: (abandon: () => void) => void,
  ): void {
    this.submit(call, kind, { access: kind.access, namespace }, operation, response, reply, onProposed);
  }

  /**
   * The same for an operation that needs something else. If it may lack a request id, and does, only some operations
   * recognise a retry; any other with an unknown outcome may or may not have been executed.
   *
   * @param operation may also reject. It gets the state that this member has applied.
   */
  submit<Asked extends ClientOperation, Response>(
    call: Call,
    kind: ClientOperationKind<Asked>,
    need: RequiredAccess | null,
    operation: (state: StateReader) => Asked | Promise<Asked>,
    response: Responding<Asked["kind"], Response>,
    reply: Reply<Response>,
    onProposed?: (abandon: () => void) => void,
  ): void {
    const proceed = () => this.submitAuthorized(call, kind, operation, response, reply, onProposed);
    if (this.#member.replica === null) {
      reply(noReplica(), "no");
    } else {
      authorized(call, need, proceed, reply);
    }
  }

  /** The same for a caller whose access to what the operation concerns was checked in this turn. */
  submitAuthorized<Asked extends ClientOperation, Response>(
    call: Call,
    kind: ClientOperationKind<Asked>,
    operation: (state: StateReader) => Asked | Promise<Asked>,
    response: Responding<Asked["kind"], Response>,
    reply: Reply<Response>,
    onProposed?: (abandon: () => void) => void,
  ): void {
    const { replica } = this.#member;
    if (replica === null) {
      reply(noReplica(), "no");
      return;
    }
    const propose = (made: CommandOf<Asked["kind"]>): void => {
      const done: ProposalDone = (error, outcome) => replyMade(replica, made, error, outcome, response, reply);
      const abandon = replica.propose(made, call.deadlineMs, done, call.trace);
      onProposed?.(abandon);
    };
    const made = attempt(() => commandOf(call, kind, operation, replica.state));
    if (made instanceof Promise) {
      made.then(propose).catch((error: unknown) => reply(toError(error), "no"));
    } else if (made instanceof Error) {
      reply(made, "no");
    } else {
      propose(made);
    }
  }

  /**
   * Replies with the answer that an earlier attempt of the request got, and proposes nothing. Without such an answer it
   * replies with `refusal`, as for a call without a request id. To be called after a read barrier: this member then has
   * the answer of every attempt that was answered.
   */
  replay<Asked extends ClientOperation, Response>(
    call: Call,
    kind: ClientOperationKind<Asked>,
    operation: () => Asked,
    refusal: CoordinationError,
    response: Responding<Asked["kind"], Response>,
    reply: Reply<Response>,
  ): void {
    const { replica } = this.#member;
    if (replica === null || !call.hasRequestId) {
      reply(replica === null ? noReplica() : refusal, "no");
      return;
    }
    const made = attempt(() => commandOf(call, kind, operation, replica.state) as CommandOf<Asked["kind"]>);
    if (made instanceof Error) {
      reply(made, "no");
      return;
    }
    const outcome = storedAnswer(replica, call.principal.subject, requestIdentityOf(made));
    replyMade(replica, made, outcome === null ? refusal : null, outcome, response, reply);
  }

  /** Resolves to the value of the work after a read barrier. Rejects with its error, or with that of the barrier. */
  async afterBarrier<Value>(call: Call, work: (state: StateReader) => Value): Promise<Value> {
    const { replica } = this.#member;
    if (replica === null) {
      throw noReplica();
    }
    await readBarrier(replica, call.deadlineMs);
    return work(replica.state);
  }

  /**
   * Acquires a lock. This mutation may wait as long as other clients hold the lock. It is undone when the client no
   * longer waits for the answer (S25).
   */
  acquire<Response>(
    call: CancellableCall,
    kind: NamespacedOperationKind<AcquireLock>,
    namespace: string,
    operation: () => AcquireLock,
    response: (result: AcquireLockResult) => Response,
    reply: Reply<Response>,
  ): void {
    this.mutate(call, kind, namespace, operation, response, reply, (abandon) => call.onGone(abandon));
  }

  /**
   * Executes a call of an administrator of the whole cluster. Apply does not check the caller of such an entry again.
   * So this method checks the caller after a read barrier: a right that was revoked before the call has no effect.
   *
   * @param prepare checks the fields of the request.
   * @param proceed executes the call and replies.
   */
  administer<Prepared, Response>(
    call: Call,
    need: RequiredAccess,
    prepare: () => Prepared,
    proceed: (replica: HostReplica, prepared: Prepared) => void,
    reply: Reply<Response>,
  ): void {
    const { replica } = this.#member;
    if (replica === null) {
      reply(noReplica(), "no");
      return;
    }
    const check = (): void => {
      const prepared = attempt(prepare);
      if (prepared instanceof Error) {
        reply(prepared, "no");
        return;
      }
      replica.readBarrier(call.deadlineMs, (error) => {
        const failed =
          error ??
          attempt(() => {
            call.recheck(need);
            proceed(replica, prepared);
          });
        if (failed !== undefined) {
          reply(failed, "no");
        }
      });
    };
    authorized(call, need, check, reply);
  }

  /**
   * Answers a read. A linearizable read waits for a read barrier and a second check of the caller's rights. A
   * serializable read uses the state that this member has applied, if the member has a leader and keeps up with it. All
   * serializable reads together wait for one barrier per second. This bounds the age of the state that answers them and
   * decides about their callers.
   *
   * @param query makes the query from the request; throws if a field is bad.
   * @param response looks up the answer.
   * @param area the kind of data, for the usage counts; null = the read is a part of a request that is counted
   *   separately.
   */
  read<Asked extends Query, Response>(
    call: Call,
    need: RequiredAccess | null,
    query: (state: StateReader) => Asked,
    response: (replica: HostReplica, query: Asked) => Response,
    reply: Reply<Response>,
    area: ReadArea | null = "other",
  ): void {
    const { replica } = this.#member;
    if (replica === null) {
      reply(noReplica(), "no");
      return;
    }
    const look = (): void => {
      const asked = attempt(() => query(replica.state));
      if (asked instanceof Error) {
        reply(asked, "no");
        return;
      }
      const answer = (mustRecheck: boolean): Response | Error => {
        const respond = () => this.#answered(call, area, response(replica, asked));
        return this.#looked(call, mustRecheck ? need : undefined, replica, respond);
      };
      if (asked.consistency === ReadConsistency.SERIALIZABLE) {
        const stale = attempt(() => requireFresh(replica));
        if (stale instanceof Error) {
          reply(stale, "no");
          return;
        }
        if (this.#isProven(replica)) {
          // The caller's rights are those of this moment.
          this.#inTurn(call, false, answer, reply);
          return;
        }
      }
      const beganMs = this.#clock.monotonicMs();
      const done: ReadDone = (error) => {
        if (error !== null) {
          reply(error, "no");
          return;
        }
        this.#noteBarrier(replica, beganMs);
        this.#inTurn(call, true, answer, reply);
      };
      replica.readBarrier(call.deadlineMs, done, call.trace);
    };
    authorized(call, need, look, reply);
  }

  /**
   * Answers a read that may take longer than one turn of the event loop should (S44). Between its steps others have
   * their turns, and the caller's rights are checked again after each.
   *
   * @param begin makes the steps of the answer. Each of them must end soon after `mayGoOn` has become false.
   */
  readInSteps<Asked extends Query, Response>(
    call: Call,
    need: RequiredAccess,
    query: (state: StateReader) => Asked,
    begin: (replica: HostReplica, query: Asked, mayGoOn: () => boolean) => Steps<Response>,
    reply: Reply<Response>,
    area: ReadArea,
  ): void {
    const turns = this.#turns;
    let endMs = 0;
    const mayGoOn = (): boolean => turns.nowMs < endMs;
    const advance = (replica: HostReplica, steps: Steps<Response>) => {
      endMs = turns.endMs(turns.nowMs);
      return { replica, steps, made: steps.next() };
    };
    const goOn: Reply<ReturnType<typeof advance>> = (answer, replayed) => {
      if (answer instanceof Error) {
        reply(answer, replayed);
      } else if (answer.made.done === true) {
        reply(answer.made.value, replayed);
      } else {
        const { replica, steps } = answer;
        turns.wait(call.principal.subject, () => {
          goOn(
            this.#looked(call, need, replica, () => advance(replica, steps)),
            "no",
          );
        });
      }
    };
    this.read(call, need, query, (replica, asked) => advance(replica, begin(replica, asked, mayGoOn)), goOn, area);
  }

  /**
   * What the caller sees in the state, or the refusal. The caller is charged for the rows.
   *
   * @param need checked again; undefined = nothing has changed since the check.
   */
  #looked<Value>(
    call: Call,
    need: RequiredAccess | null | undefined,
    replica: HostReplica,
    look: () => Value,
  ): Value | Error {
    const { rowsRead } = replica.state;
    try {
      if (need !== undefined) {
        requireServed(this.#member, replica);
        requireClient(call);
        call.recheck(need);
      }
      return look();
    } catch (error) {
      return toError(error);
    } finally {
      chargeRows(call, replica.state.rowsRead - rowsRead);
    }
  }

  /** Answers when it is the turn of the caller, whose rights are checked again if they may have changed since then. */
  #inTurn<Response>(
    call: Call,
    mustRecheck: boolean,
    answer: (mustRecheck: boolean) => Response | Error,
    reply: Reply<Response>,
  ): void {
    if (this.#turns.isFree) {
      reply(answer(mustRecheck), "no");
    } else {
      this.#turns.wait(call.principal.subject, () => reply(answer(true), "no"));
    }
  }

  /** Whether the applied state contains everything that was committed more than STALE_MS_MAX ago. */
  #isProven(replica: HostReplica): boolean {
    return this.#provenReplica === replica && this.#clock.monotonicMs() - this.#provenMs <= STALE_MS_MAX;
  }

  #noteBarrier(replica: HostReplica, beganMs: number): void {
    this.#provenMs = this.#provenReplica === replica ? Math.max(this.#provenMs, beganMs) : beganMs;
    this.#provenReplica = replica;
  }

  #answered<Response>(call: Call, area: ReadArea | null, response: Response): Response {
    if (area !== null) {
      this.#onRead(call.principal, area);
    }
    return response;
  }
}

/**
 * Replies with the stored answer to a retry only if the caller may see now what it shows. Apply replays before it looks at
 * that, and knows no limits of tokens (S13).
 *
 * @param requireVisible throws the refusal of what the caller may not see.
 */
export function withVisibleReplay<Answer extends object>(
  reply: Reply<Answer>,
  requireVisible: (answer: Answer) => void,
): Reply<Answer> {
  return (answer, replayed) => {
    const hidden = answer instanceof Error || replayed === "no" ? undefined : attempt(() => requireVisible(answer));
    if (hidden instanceof Error) {
      reply(ofUnknownOutcome(hidden), "no");
    } else {
      reply(answer, replayed);
    }
  };
}

/** The same refusal of a call whose earlier attempt may have been executed. */
function ofUnknownOutcome(refusal: Error): Error {
  return refusal instanceof CoordinationError
    ? new CoordinationError(refusal.reason, refusal.message, { details: refusal.details, outcome: "unknown" })
    : refusal;
}

/**
 * The outcome of an earlier attempt; null if there was none, or if it cannot be recognised. After a read barrier, this
 * member has the outcome of every attempt that was answered.
 */
export function storedAnswer(
  { state, tickMs, revision }: HostReplica,
  subject: string,
  request: RequestIdentity | null,
): Outcome | null {
  const sinceMs = tickMs - DEFAULT_STATE_LIMITS.replayWindowMs;
  return request === null ? null : storedOutcome(state, subject, request, { tickMs, sinceMs, revision });
}

/** Charges the caller for the rows, or sessions, beyond those of a usual call. */
export function chargeRows(call: Call, rows: number): void {
  const requests = Math.floor(rows / ROWS_PER_REQUEST);
  if (requests > 0) {
    call.charge(requests);
  }
}

/** Makes the command of an operation; throws or rejects if a field is bad. */
function commandOf<Asked extends ClientOperation>(
  call: Call,
  { since, mayLackId }: ClientOperationKind<Asked>,
  operation: (state: StateReader) => Asked | Promise<Asked>,
  state: StateReader,
): CommandOf<Asked["kind"]> | Promise<CommandOf<Asked["kind"]>> {
  const hasId = !mayLackId || call.hasRequestId;
  requireVersion(mayLackId && hasId ? VERSION_WITH_REQUEST_IDS : since, state);
  // The cast is sound: in a command only the operation has a kind.
  const withCaller = (made: Asked) => {
    if ("sessionId" in made || ("guard" in made && made.guard?.lockName === "")) {
      requireSessions(state);
    }
    const request = hasId ? { requestId: call.requestId() } : null;
    return { principal: call.principal, operation: made, request } as unknown as CommandOf<Asked["kind"]>;
  };
  const made = operation(state);
  return made instanceof Promise ? made.then(withCaller) : withCaller(made);
}

/** Refuses what has to do with sessions while some member may not know them. */
export function requireSessions(state: StateReader): void {
  requireVersion(VERSION_WITH_SESSIONS, state);
}

/** Refuses what some member may not be able to apply yet. */
function requireVersion(since: number, state: StateReader): void {
  if (since > CLUSTER_VERSIONS.min && !hasRulesOf(since, state)) {
    throw new CoordinationError("NOT_SERVED", OLDER_RULES);
  }
}

/** Replies with the outcome of a command. */
function replyMade<Kind extends Result["kind"], Response>(
  replica: HostReplica,
  made: CommandOf<Kind>,
  error: CoordinationError | null,
  outcome: Outcome | null,
  response: Responding<Kind, Response>,
  reply: Reply<Response>,
): void {
  const kind: Kind = made.operation.kind;
  const whole = outcome === null ? null : restored(replica.state, made, outcome);
  const isWhole = whole?.replayed !== "no-values";
  replyOutcome(error, whole, kind, (result) => response(result, replica.tickMs, isWhole), reply);
}

/** The outcome, completed with the values that were too large for the stored answer, as far as they still exist. */
function restored(state: StateReader, { request, operation }: ProposedCommand, outcome: Outcome): Outcome {
  // Only answers to requests with an id are stored.
  return outcome.replayed === "no-values" && request !== null ? restoreValues(state, operation, outcome) : outcome;
}

/** Replies with the outcome of a proposal. `response` makes the response from its result, which must have this kind. */
export function replyOutcome<Kind extends Result["kind"], Response>(
  error: CoordinationError | null,
  outcome: Outcome | null,
  kind: Kind,
  response: (result: ResultOf<Kind>) => Response,
  reply: Reply<Response>,
): void {
  if (outcome === null) {
    invariant(error !== null, "a proposal ends with an outcome or an error");
    reply(error, "no");
    return;
  }
  const { answer, replayed } = outcome;
  if (answer instanceof CoordinationError) {
    reply(answer, replayed);
    return;
  }
  const made = attempt(() => {
    invariant(answer.kind === kind, "a result has its operation's kind", () => `${answer.kind} of ${kind}`);
    return response(answer as ResultOf<Kind>);
  });
  reply(made, replayed);
}

/**
 * Proceeds if the caller has the access that is needed, at once if no barrier is needed; else replies with the refusal.
 */
export function authorized<Response>(
  call: Call,
  required: RequiredAccess | null,
  proceed: () => void,
  reply: Reply<Response>,
): void {
  const pending = attempt(() => call.authorize(required));
  if (pending === undefined) {
    proceed();
  } else if (pending instanceof Error) {
    reply(pending, "no");
  } else {
    pending.then(proceed).catch((error: unknown) => reply(toError(error), "no"));
  }
}

/** A read may have waited for its turn while the member stopped to serve: its stores are closed then. */
function requireServed(member: { readonly replica: HostReplica | null }, replica: HostReplica): void {
  if (member.replica !== replica) {
    throw noReplica();
  }
}

/** A read of a large value delays other calls, so it is skipped for a client that no longer waits. */
function requireClient({ isGone }: Call): void {
  if (isGone) {
    throw new CoordinationError("DEADLINE", "the client no longer waits for the answer");
  }
}

/**
 * Without a leader, or far behind in applying, this member's applied state may have any age. So may the rights of the
 * caller in it (S39).
 */
function requireFresh(replica: HostReplica): void {
  const { leaderId, lagMs } = replica.status();
  if (leaderId === 0) {
    throw new CoordinationError("NO_LEADER", "this member has no leader, so its applied state may be old");
  }
  if (lagMs > STALE_MS_MAX) {
    throw new CoordinationError("NO_LEADER", `the applied state of this member is ${lagMs} ms old; use another member`);
  }
}
