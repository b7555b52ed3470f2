/**
 * Whom the clients of a simulated cluster ask as: its owner or, some of them, a guest, who asks by an API key or by a
 * login. An administrator may revoke the key, or disable the guest. Members decide by their own access control, which
 * takes tokens as read here: signatures are not simulated.
 */

import type { Caller } from "../src/access/index.ts";
import {
  type ClusterOperation,
  CoordinationError,
  type HttpCommand,
  type Outcome,
  type Principal,
} from "../src/state/index.ts";
import { createApiKey, createUser, OWNER, TOKEN_SHA256, updateUser } from "../test/index.ts";
import { type AccessRules, isRevocation, type Revocable } from "./access-rules.ts";
import type { Calls } from "./calls.ts";
import type { EventHeap } from "./event-heap.ts";
import type { AccountPlan, RevocationKind } from "./plan.ts";
import type { Process } from "./process.ts";
import { type RandomStream, streamOf } from "./random.ts";
import type { Trace } from "./trace.ts";

export interface AccountsOptions {
  readonly heap: EventHeap;
  /** For which member is asked. */
  readonly random: RandomStream;
  readonly trace: Trace;
  readonly calls: Calls;
  readonly rules: AccessRules;
  /** Null if everybody asks as the owner. */
  readonly plan: AccountPlan | null;
  /** Processes that are up. */
  readonly processes: () => readonly Process[];
}

/** Of a read that has begun: why the process refuses it, asked behind the read barrier; null if it does not. */
export type Admission = (process: Process) => CoordinationError | null;

/** What is asked about accounts; verifying is asked by nobody in particular. */
type AccountCommand = HttpCommand | { readonly principal: null; readonly operation: ClusterOperation };

const GUEST = "user-guest";
const GUEST_KEY = "api-key-guest";
const BY_LOGIN: Principal = { subject: GUEST, apiKeyId: "" };
const BY_KEY: Principal = { subject: GUEST, apiKeyId: GUEST_KEY };
/** What no clock of a run comes near to. */
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

  /** Whether everybody is there as whom clients ask. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Calls that were not answered with a result. */
  get failures(): number {
    return this.#failures;
  }

  /** As whom a client asks who has this number among those of its kind. */
  principalOf(client: number): Principal {
    const { plan } = this.#options;
    if (plan === null || client <= 0 || client % plan.guestOneIn !== 0) {
      return OWNER;
    }
    return client % (2 * plan.guestOneIn) === 0 ? BY_LOGIN : BY_KEY;
  }

  /** The guest comes, is verified, and gets an API key, however often each is asked for. */
  begin(): void {
    if (this.#isReady) {
      return;
    }
    const guest = createUser(GUEST, { role: "admin", tokenLifetimeMs: LONG_MS });
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
        // Whoever asks again is told that it is there.
        this.#insist(this.#options.random, command, next);
      }
    };
    next();
  }

  /** An administrator takes something away from the guest, however often that is asked for. */
  revoke(kind: RevocationKind, draw: number): void {
    const { rules, trace } = this.#options;
    const revoked: Revocable = { kind, id: kind === "user" ? GUEST : GUEST_KEY };
    const operation =
      kind === "user"
        ? updateUser(GUEST, { status: "disabled" })
        : ({ kind: "revoke-api-key", apiKeyId: GUEST_KEY } as const);
    this.#insist(streamOf(draw), { principal: OWNER, request: null, operation }, ({ answer }) => {
      if (!(answer instanceof CoordinationError)) {
        trace.say(0, "is told that", [], () => `the guest has no ${kind} any more`);
        rules.onAcknowledged(revoked);
      }
    });
  }

  /** Whoever has not got an answer asks no more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** A client begins a call that changes something; what is returned is to be told of its answer, unless it has failed. */
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
    trace.say(process.memberId, "is asked to", [], () => name);
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
        trace.say(process.memberId, "has answered", [Number(isDone)], () => `${name}: ${isDone ? "done" : "not done"}`);
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

/** Raises a refusal unless the process lets the principal read, by what it has applied. */
export function recheck({ access }: Process, principal: Principal): void {
  access.recheck(callerOf(principal), { access: "read", namespace: "default" });
}

/** By a token that says nothing against anybody: what counts is what members know. */
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
