/**
 * The accounts of the clients of a simulated cluster: its owner or, for some clients, a guest with an API key or a
 * login. An administrator may revoke the key, or disable the guest. Members decide by their real access control. It
 * gets tokens as already verified: signatures are not simulated.
 */

import type { Caller } from "../../src/access/index.ts";
import {
  type ClientCommand,
  type ClusterOperation,
  CoordinationError,
  type Outcome,
  type Principal,
} from "../../src/state/index.ts";
import { createApiKey, createUser, OWNER, TOKEN_SHA256, updateUser } from "../../test/index.ts";
import { type AccessRules, isRevocation, type Revocable } from "./access-rules.ts";
import type { Calls } from "./calls.ts";
import type { EventHeap } from "./event-heap.ts";
import type { AccountPlan, RevocationKind } from "./plan.ts";
import type { Process } from "./process.ts";
import { type RandomStream, streamOf } from "./random.ts";
import type { Trace } from "./trace.ts";

export interface AccountsOptions {
  readonly heap: EventHeap;
  /** Chooses the member for a request. */
  readonly random: RandomStream;
  readonly trace: Trace;
  readonly calls: Calls;
  readonly rules: AccessRules;
  /** Null if all clients act as the owner. */
  readonly plan: AccountPlan | null;
  /** Running processes. */
  readonly processes: () => readonly Process[];
}

/** For an open read: why the process refuses it behind the read barrier; null if it does not. */
export type Admission = (process: Process) => CoordinationError | null;

/** A command about accounts; verifying has no principal. */
type AccountCommand = ClientCommand | { readonly principal: null; readonly operation: ClusterOperation };

const GUEST = "user-guest";
const GUEST_KEY = "api-key-guest";
const BY_LOGIN: Principal = { subject: GUEST, apiKeyId: "" };
const BY_KEY: Principal = { subject: GUEST, apiKeyId: GUEST_KEY };
/** Longer than the clock of any run. */
const LONG_MS = 1_000_000_000_000;
const CALL_MS = 3_000;
const AGAIN_MS = 100;

export class Accounts {
  readonly #options: AccountsOptions;
  #isReady: boolean;
  #isStopped = false;
  #failures = 0;

  constructor(options: AccountsOptions) {
    this.#options = options;
    this.#isReady = options.plan === null;
  }

  /** Whether all accounts of the clients exist. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Calls that did not end with a result. */
  get failures(): number {
    return this.#failures;
  }

  /** The account of the client with this number among those of its kind. */
  principalOf(client: number): Principal {
    const { plan } = this.#options;
    if (plan === null || client <= 0 || client % plan.guestOneIn !== 0) {
      return OWNER;
    }
    return client % (2 * plan.guestOneIn) === 0 ? BY_LOGIN : BY_KEY;
  }

  /** Creates the guest, verifies it, and gives it an API key; each request is repeated until it succeeds. */
  begin(): void {
    if (this.#isReady) {
      return;
    }
    const guest = createUser(GUEST, { role: "admin", namespaces: ["*"], tokenLifetimeMs: LONG_MS });
    const verification = { userId: GUEST, tokenSha256: TOKEN_SHA256, passwordHash: "" };
    const commands: AccountCommand[] = [
      { principal: OWNER, request: null, operation: guest },
      { principal: null, operation: { kind: "verify-user", ...verification } },
      { principal: BY_LOGIN, request: null, operation: createApiKey(GUEST_KEY) },
    ];
    const next = (): void => {
      const command = commands.shift();
      if (command === undefined) {
        this.#isReady = true;
      } else {
        // A repeated request gets the answer that the guest exists.
        this.#insist(this.#options.random, command, next);
      }
    };
    next();
  }

  /** An administrator takes a credential from the guest; the request is repeated until it succeeds. */
  revoke(kind: RevocationKind, draw: number): void {
    const { rules, trace } = this.#options;
    const revoked: Revocable = { kind, id: kind === "user" ? GUEST : GUEST_KEY };
    const operation =
      kind === "user"
        ? updateUser(GUEST, { status: "disabled" })
        : ({ kind: "revoke-api-key", apiKeyId: GUEST_KEY } as const);
    this.#insist(streamOf(draw), { principal: OWNER, request: null, operation }, ({ answer }) => {
      if (!(answer instanceof CoordinationError)) {
        trace.record(0, "is told that", [], () => `the guest has no ${kind} any more`);
        rules.onAcknowledged(revoked);
      }
    });
  }

  /** Requests without an answer are not repeated any more. */
  stop(): void {
    this.#isStopped = true;
  }

  /**
   * A client begins a call that changes something. The caller must pass the answer to the returned function, unless the
   * call has failed.
   */
  beginChange(principal: Principal, what: string): (answer: Outcome["answer"]) => void {
    const onEnd = this.#options.rules.begin(principal, what);
    return (answer) => onEnd(isRevocation(answer));
  }

  /** A client begins to read. */
  beginRead(principal: Principal, what: string): Admission {
    const onEnd = this.#options.rules.begin(principal, what);
    return (process) => {
      const refusal = refusalOf(() => recheck(process, principal));
      onEnd(refusal !== null);
      return refusal;
    };
  }

  #insist(random: RandomStream, command: AccountCommand, onEnd: (outcome: Outcome) => void): void {
    const { heap, trace, calls, processes } = this.#options;
    const again = (): void => heap.after(AGAIN_MS, () => this.#insist(random, command, onEnd));
    const process = random.pick(processes());
    if (this.#isStopped) {
      return;
    }
    if (process === undefined) {
      again();
      return;
    }
    const name = `${command.operation.kind} of the administrator`;
    trace.record(process.memberId, "is asked to", [], () => name);
    calls.call<Outcome | CoordinationError | null>(
      process,
      name,
      CALL_MS,
      (deadlineMs, done) => {
        const onDone = (error: CoordinationError | null, outcome: Outcome | null): void => done(error ?? outcome);
        if (command.principal === null) {
          process.replica.proposeClusterOperation(command.operation, deadlineMs, onDone);
        } else {
          process.replica.propose(command, deadlineMs, onDone);
        }
      },
      (answer) => {
        const isDone = answer !== null && !(answer instanceof CoordinationError);
        trace.record(
          process.memberId,
          "has answered",
          [Number(isDone)],
          () => `${name}: ${isDone ? "done" : "not done"}`,
        );
        if (isDone) {
          onEnd(answer);
        } else {
          this.#failures++;
          again();
        }
      },
    );
  }
}

/** Throws a refusal unless the process lets the principal read, by what it has applied. */
export function recheck({ access }: Process, principal: Principal): void {
  access.recheck(callerOf(principal), { access: "read", namespace: "default" });
}

/** The caller with an unrestricted token: only what members know decides. */
function callerOf(principal: Principal): Caller {
  const times = { issuedAtSecs: 0, expiresAtSecs: Number.MAX_SAFE_INTEGER };
  const claims = {
    ...principal,
    ...times,
    namespaces: ["*"],
    access: ["admin"],
    role: "owner",
    tokenId: "",
    passwordVersion: 0,
  } as const;
  return { principal, claims };
}

function refusalOf(check: () => void): CoordinationError | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof CoordinationError) {
      return error;
    }
    throw error;
  }
}
