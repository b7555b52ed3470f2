/** For specs: a state machine executes commands one by one, and a witness sees them, truly or with false outcomes. */

import {
  type ClientOperation,
  type ClusterOperation,
  type Command,
  DEFAULT_STATE_LIMITS,
  kindOf,
  type Outcome,
  type Principal,
  type StateLimits,
} from "../../src/state/index.ts";
import { AppliedLog, OWNER, requestOf } from "../../test/index.ts";
import type { ExecutedCommand, ExecutionObserver } from "./live-execution.ts";

/** How a command is sent, and what the witness sees instead of its outcome. */
export interface ExecuteOptions {
  /** Number of its request, a new one by default; and of its attempt. */
  readonly request?: number;
  readonly seq?: number;
  /** The caller, by default the owner. */
  readonly principal?: Principal;
  readonly pretend?: ((executed: ExecutedCommand) => Partial<ExecutedCommand>) | undefined;
}

export class ObservedLog {
  readonly log: AppliedLog;
  readonly #witness: ExecutionObserver;
  #requests = 1_000;

  constructor(witness: ExecutionObserver, limits: StateLimits = DEFAULT_STATE_LIMITS) {
    this.log = new AppliedLog(limits);
    this.#witness = witness;
  }

  /** A client's command. */
  ask(
    operation: ClientOperation,
    { request = this.#requests++, seq = request, principal = OWNER, pretend }: ExecuteOptions = {},
  ): Outcome {
    const identity = kindOf(operation).mayLackId ? null : requestOf(request);
    this.log.origin = { memberId: 1, boot: 1, seq };
    const command = { principal, request: identity, operation };
    const asking = { principal, request: identity };
    return this.#execute(command, () => this.log.execute(operation, asking), pretend) as Outcome;
  }

  /** A command that the cluster proposes itself. */
  lead(operation: ClusterOperation, pretend?: ExecuteOptions["pretend"]): void {
    this.log.origin = { memberId: 1, boot: 1, seq: this.#requests++ };
    this.#execute({ principal: null, request: null, operation }, () => this.log.lead(operation), pretend);
  }

  #execute(command: Command, execute: () => Outcome | null, pretend: ExecuteOptions["pretend"]): Outcome | null {
    const { log } = this;
    this.#witness.before?.(command, log.store);
    const { revision } = log;
    log.settled.splice(0);
    const outcome = execute();
    const { origin, progress, settled } = log;
    const executed = {
      index: log.rows.length,
      origin,
      tickMs: progress.tickMs,
      revision,
      revisionAfter: log.revision,
      command,
      outcome,
      settled: [...settled],
    };
    this.#witness.after({ ...executed, ...pretend?.(executed) }, log.store);
    return outcome;
  }
}
