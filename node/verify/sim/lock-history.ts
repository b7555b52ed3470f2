/**
 * The history of the locks of a run, for the oracle that judges histories. It has every operation of a client with the
 * simulated times of its first call and its last answer.
 */

import {
  type AcquireLockResult,
  type ClientOperation,
  CoordinationError,
  type LockName,
  type Outcome,
} from "../../src/state/index.ts";
import {
  History,
  type LockAnswer,
  type LockOperation,
  type LockRecord,
  type LockView,
  lockCheck,
} from "../history/index.ts";
import { isRevocation } from "./access-rules.ts";
import type { Request } from "./requests.ts";
import { must } from "./rule-violation.ts";

/** An open operation on a lock; the caller must end it once. */
export interface OpenLockOperation {
  /**
   * `outcome` is that of the request's last call; null if unknown. The answer for a revoked caller shows no outcome.
   */
  end(request: Request, outcome: Outcome | null, calls: number): void;
}

const MS_PER_SECOND = 1000;
/** Prefix of exclusive locks' names in a history. */
const EXCLUSIVE = "exclusive ";
const READ_WRITE = "read-write ";

export class LockHistory {
  readonly #history: History<LockOperation, LockAnswer>;
  /** Default TTL of a hold, in seconds. */
  readonly #ttlSeconds: number;

  constructor(nowMs: () => number, ttlSeconds: number) {
    this.#history = new History(nowMs);
    this.#ttlSeconds = ttlSeconds;
  }

  /** A client begins an operation on a lock; `token` is that of the hold that it names, 0 = none or all. */
  begin(client: string, lock: LockName, token: number, operation: ClientOperation): OpenLockOperation {
    const asked = this.#operationOf(lock, token, operation);
    const open = this.#history.begin(client, asked);
    return {
      end: ({ isUncertain }, outcome, calls) => {
        if (outcome !== null && !isRevocation(outcome.answer)) {
          const answer = lockAnswerOf(outcome, calls > 1);
          open.end({ kind: "ok", answer });
          if (asked.kind === "acquire" && answer.kind === "acquired" && calls > 1) {
            // Another call of it may be its newest attempt, and its caller may have left: that ends the hold (S25).
            this.#history.begin(client, { kind: "force-release", lock: asked.lock, token: answer.token });
          }
        } else {
          open.end({ kind: isUncertain ? "unknown" : "not-executed" });
        }
      },
    };
  }

  /** The operations of the clients so far. */
  get records(): readonly LockRecord[] {
    return this.#history.operations;
  }

  /** Throws a RuleViolation if no correct locks could have given these answers. */
  check(driftShare: number): void {
    // How late a hold may expire depends on the leaders: rules about the log check that.
    const limits = {
      clockDrift: driftShare,
      clockResolutionMs: 1,
      lateMsMax: Number.POSITIVE_INFINITY,
      leaderless: [],
    };
    const wrong = lockCheck(this.#history.operations, limits);
    must(wrong.length === 0, "history: locks could have answered so", () => wrong.join("\n"));
  }

  #operationOf(name: LockName, token: number, operation: ClientOperation): LockOperation {
    const lock = nameInHistory(name);
    switch (operation.kind) {
      case "acquire-lock": {
        const { mode, permits = 0, owner, waitMs } = operation;
        const ttlMs = (operation.ttlSeconds || this.#ttlSeconds) * MS_PER_SECOND;
        return token === 0
          ? { kind: "acquire", lock, mode, owner, ttlMs, waitMs, ...(permits > 0 && { permits }) }
          : { kind: "change", lock, token, mode, ttlMs };
      }
      case "release-lock":
        return { kind: "release", lock, token };
      case "force-release-lock":
        return { kind: "force-release", lock, token };
      default:
        return { kind: "guarded-write", lock, token, what: operation.kind };
    }
  }
}

/** Exclusive locks and read-write locks have separate names; in a history they share one space of names. */
export function nameInHistory({ rw, name }: Pick<LockName, "rw" | "name">): string {
  return `${rw ? READ_WRITE : EXCLUSIVE}${name}`;
}

/** The name of the lock with this name in a history. */
export function nameOutOfHistory(name: string): string {
  return name.slice((name.startsWith(READ_WRITE) ? READ_WRITE : EXCLUSIVE).length);
}

function lockAnswerOf({ answer, replayed }: Outcome, isSentAgain: boolean): LockAnswer {
  if (answer instanceof CoordinationError) {
    return { kind: "refused", reason: answer.reason };
  }
  switch (answer.kind) {
    case "acquire-lock": {
      const { hold, waitedMs } = answer;
      const shared = { waitedMs, isRepeated: isSentAgain || replayed !== "no", view: viewOf(answer) };
      return hold === null
        ? { kind: "not-acquired", ...shared }
        : { kind: "acquired", token: hold.token, mode: hold.mode, ...shared };
    }
    case "release-lock":
      return { kind: "released", revision: answer.revision };
    case "force-release-lock":
      return { kind: answer.previous === null ? "nothing-released" : "released", revision: answer.revision };
    case "compare-and-swap":
      return answer.success
        ? { kind: "written", revision: answer.revision }
        : { kind: "refused", reason: "the value is another one" };
    default:
      return { kind: "written", revision: answer.revision };
  }
}

function viewOf({ state, holds, queueLength, revision, permits, heldPermits }: AcquireLockResult): LockView {
  const shown = holds.map((hold) => {
    const { token, owner, mode } = hold;
    return { token, owner, mode, ...(hold.permits !== undefined && { permits: hold.permits }) };
  });
  const counts = permits === undefined || heldPermits === undefined ? {} : { permits, heldPermits };
  return { state, holds: shown, waiters: queueLength, revision, ...counts };
}
