/**
 * Runs methods: the part of a call that is the same for every transport and every method.
 *
 * The order is that of the contract, and every method goes through it: authorisation (step 5), then the fields (step 6),
 * then the state (steps 7 and 8), which is looked at in apply or after the read barrier and never before. So whoever may
 * not touch a namespace learns nothing of what is in it (S43).
 */

import { ReadConsistency } from "@quoin/proto";
import type { ReadArea } from "../../access/index.ts";
import { invariant } from "../../raft/index.ts";
import { type Clock, systemClock } from "../../replica/index.ts";
import {
  type AcquireLock,
  type AcquireLockResult,
  type ClientOperation,
  CoordinationError,
  type HttpOperation,
  type Need,
  type Outcome,
  type Principal,
  type Result,
  restoreValues,
  type StateReader,
} from "../../state/index.ts";
import { attempt, toError } from "./attempt.ts";
import type { Call, CancellableCall, Reply } from "./call.ts";
import type { HostReplica } from "./host.ts";

/** The operation and the result of one kind. */
type OperationOf<Kind> = Extract<ClientOperation, { readonly kind: Kind }>;
type HttpOperationOf<Kind> = Extract<HttpOperation, { readonly kind: Kind }>;
type ResultOf<Kind> = Extract<Result, { readonly kind: Kind }>;

/** What a caller asks of the replica. */
type ProposedCommand = Parameters<HostReplica["propose"]>[0];
/** The same of one kind. */
type CommandOf<Kind> = ProposedCommand & { readonly operation: { readonly kind: Kind } };

/**
 * Milliseconds by which a serializable read may be behind, and so for which a revoked caller may still get one. It is the
 * age of the last read barrier, counted from its beginning: nothing else proves how old the applied state is. What the
 * leader was heard to say may have lain in a buffer while this process stood still.
 */
const STALE_MS_MAX = 1_000;

/** What a read asks for, once its fields are checked. */
export interface Query {
  readonly consistency: ReadConsistency;
}

/** The error of every call that needs the replicated state of a member that does not serve it. */
export function noReplica(): CoordinationError {
  return new CoordinationError("NO_LEADER", "this member serves no cluster at the moment");
}

export class Executor {
  readonly #member: { readonly replica: HostReplica | null };
  readonly #onRead: (principal: Principal, area: ReadArea) => void;
  readonly #clock: Pick<Clock, "monotonicMs">;
  /** When the newest read barrier began that has passed here, and at which replica. */
  #provenMs = Number.NEGATIVE_INFINITY;
  #provenReplica: HostReplica | null = null;

  /** @param onRead is told of every read that was answered. */
  constructor(
    member: { readonly replica: HostReplica | null },
    onRead: (principal: Principal, area: ReadArea) => void = () => undefined,
    clock: Pick<Clock, "monotonicMs"> = systemClock,
  ) {
    this.#member = member;
    this.#onRead = onRead;
    this.#clock = clock;
  }

  /**
   * Executes a mutation once, however often it is sent with the same request id.
   *
   * @param operation makes the operation of the request, and raises what its fields break.
   * @param response makes the response of the result; `tickMs` is the cluster tick that remaining times count from, and
   *   `isWhole` is false for a replay whose values of keys are not kept any more.
   * @param onProposed is given what is to be called when the caller is gone.
   */
  mutate<Kind extends ClientOperation["kind"], Response>(
    call: Call,
    need: Need,
    operation: () => OperationOf<Kind>,
    response: (result: ResultOf<Kind>, tickMs: number, isWhole: boolean) => Response,
    reply: Reply<Response>,
    onProposed?: (abandon: () => void) => void,
  ): void {
    const command = () => ({
      principal: call.principal,
      operation: operation(),
      request: { requestId: call.requestId() },
    });
    // Sound because the operation, and nothing else of a command, is of this kind.
    this.#execute(call, need, command as () => CommandOf<Kind>, response, reply, onProposed);
  }

  /**
   * Executes a mutation that came by HTTP and has no request id: whether a retry is recognised is a matter of the
   * operation, and else one of unknown outcome may or may not have been executed.
   *
   * @param operation makes the operation of the request, at once or after a while, and raises what its fields break.
   */
  submit<Kind extends HttpOperation["kind"], Response>(
    call: Call,
    need: Need | null,
    operation: () => HttpOperationOf<Kind> | Promise<HttpOperationOf<Kind>>,
    response: (result: ResultOf<Kind>) => Response,
    reply: Reply<Response>,
  ): void {
    const commandOf = (made: HttpOperationOf<Kind>) => ({ principal: call.principal, operation: made, request: null });
    const command = () => {
      const made = operation();
      return made instanceof Promise ? made.then(commandOf) : commandOf(made);
    };
    this.#execute(call, need, command as () => CommandOf<Kind> | Promise<CommandOf<Kind>>, response, reply);
  }

  #execute<Kind extends Result["kind"], Response>(
    call: Call,
    need: Need | null,
    command: () => CommandOf<Kind> | Promise<CommandOf<Kind>>,
    response: (result: ResultOf<Kind>, tickMs: number, isWhole: boolean) => Response,
    reply: Reply<Response>,
    onProposed?: (abandon: () => void) => void,
  ): void {
    const { replica } = this.#member;
    if (replica === null) {
      reply(noReplica(), "no");
      return;
    }
    const propose = (made: CommandOf<Kind>): void => {
      const kind: Kind = made.operation.kind;
      const abandon = replica.propose(made, call.deadlineMs, (error, outcome) => {
        const whole = outcome === null ? null : restored(replica.state, made, outcome);
        const isWhole = whole?.replayed !== "no-values";
        replyOutcome(error, whole, kind, (result) => response(result, replica.tickMs, isWhole), reply);
      });
      onProposed?.(abandon);
    };
    const make = (): void => {
      const made = attempt(command);
      if (made instanceof Promise) {
        made.then(propose).catch((error: unknown) => reply(toError(error), "no"));
      } else if (made instanceof Error) {
        reply(made, "no");
      } else {
        propose(made);
      }
    };
    authorized(call, need, make, reply);
  }

  /**
   * Acquires a lock: a mutation that may take as long as the lock is held by others, and that is undone when nobody waits
   * for its answer any more (S25).
   */
  acquire<Response>(
    call: CancellableCall,
    need: Need,
    operation: () => AcquireLock,
    response: (result: AcquireLockResult) => Response,
    reply: Reply<Response>,
  ): void {
    this.mutate(call, need, operation, response, reply, (abandon) => call.onGone(abandon));
  }

  /**
   * Does what administrators of the whole cluster may do. Entries of theirs are not checked again in apply, so the
   * caller is, after a read barrier: whose right was revoked before the call gets nothing done.
   *
   * @param prepare checks the fields of the request.
   * @param proceed replies.
   */
  administer<Prepared, Response>(
    call: Call,
    need: Need,
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
   * Answers a read: a linearizable one after a read barrier and a second look at what the caller may do, a serializable
   * one from what this member has applied, if it hears a leader and keeps up with it. All serializable reads together wait
   * for one barrier a second, which bounds how old the state is that answers them and decides about their callers.
   *
   * @param query makes the query of the request, and raises what its fields break.
   * @param response looks it up.
   * @param area what it is a read of, for the usage; null = it is a part of a request that is counted by itself.
   */
  read<Asked extends Query, Response>(
    call: Call,
    need: Need | null,
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
      if (asked.consistency === ReadConsistency.SERIALIZABLE) {
        const stale = attempt(() => requireFresh(replica));
        if (stale instanceof Error || this.#isProven(replica)) {
          reply(stale ?? attempt(() => this.#answered(call, area, response(replica, asked))), "no");
          return;
        }
      }
      const beganMs = this.#clock.monotonicMs();
      replica.readBarrier(call.deadlineMs, (error) => {
        if (error === null) {
          this.#noteBarrier(replica, beganMs);
        }
        const answer =
          error ??
          attempt(() => {
            requireClient(call);
            call.recheck(need);
            return this.#answered(call, area, response(replica, asked));
          });
        reply(answer, "no");
      });
    };
    authorized(call, need, look, reply);
  }

  /** Whether the applied state shows all that was committed until STALE_MS_MAX ago. */
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

/** The outcome with the values that a stored answer was too large for, as far as they are kept. */
function restored(state: StateReader, { request, operation }: ProposedCommand, outcome: Outcome): Outcome {
  // Only answers of requests that have an id are stored.
  return outcome.replayed === "no-values" && request !== null ? restoreValues(state, operation, outcome) : outcome;
}

/** Replies with what became of a proposal; `response` makes the response of its result, which is of this kind. */
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
    invariant(answer.kind === kind, "a result is of its operation's kind", () => `${answer.kind} of ${kind}`);
    return response(answer as ResultOf<Kind>);
  });
  reply(made, replayed);
}

/** Goes on if the caller may do what is needed, at once if that is certain at once; else replies with the refusal. */
export function authorized<Response>(call: Call, need: Need | null, proceed: () => void, reply: Reply<Response>): void {
  const pending = attempt(() => call.authorize(need));
  if (pending === undefined) {
    proceed();
  } else if (pending instanceof Error) {
    reply(pending, "no");
  } else {
    pending.then(proceed).catch((error: unknown) => reply(toError(error), "no"));
  }
}

/** A read of a large value takes time that others wait for, so it is not done for a client that waits no more. */
function requireClient({ isGone }: Call): void {
  if (isGone) {
    throw new CoordinationError("DEADLINE", "the client does not wait for the answer any more");
  }
}

/**
 * Without a leader to be heard, or far behind in applying, what is applied here may be of any age, and with it what the
 * caller may do (S39).
 */
function requireFresh(replica: HostReplica): void {
  const { leaderId, lagMs } = replica.status();
  if (leaderId === 0) {
    throw new CoordinationError("NO_LEADER", "this member hears no leader, so what it has applied may be old");
  }
  if (lagMs > STALE_MS_MAX) {
    throw new CoordinationError("NO_LEADER", `what this member has applied is ${lagMs} ms old; ask another one`);
  }
}
