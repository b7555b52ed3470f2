/**
 * What the clients of a run did with locks, for the oracle that judges histories: every operation with the simulated
 * times of its first call and its last answer.
 */

import {
  History,
  type LockAnswer,
  type LockOperation,
  type LockRecord,
  type LockView,
  lockCheck,
} from "../history/index.ts";
import {
  type AcquireLockResult,
  type ClientOperation,
  CoordinationError,
  type LockName,
  type Outcome,
} from "../src/state/index.ts";
import { isRevocation } from "./access-rules.ts";
import type { Request } from "./requests.ts";
import { must } from "./rule-violation.ts";

/** Something that a client does with a lock; to be ended once. */
export interface OpenLockOperation {
  /** `outcome` is what the last call of the request came to, null if that is not known; who was revoked is told nothing. */
  end(request: Request, outcome: Outcome | null, calls: number): void;
}

const MS_PER_SECOND = 1000;
/** How names of locks begin in a history. */
const EXCLUSIVE = "exclusive ";
const READ_WRITE = "read-write ";

export class LockHistory {
  readonly #history: History<LockOperation, LockAnswer>;
  /** Life of a hold that asks for none, in seconds. */
  readonly #ttlSeconds: number;

  constructor(nowMs: () => number, ttlSeconds: number) {
    this.#history = new History(nowMs);
    this.#ttlSeconds = ttlSeconds;
  }

  /** A client begins something about a lock; `token` is that of the hold that it means, 0 = none or all. */
  begin(client: string, lock: LockName, token: number, operation: ClientOperation): OpenLockOperation {
    const asked = this.#operationOf(lock, token, operation);
    const open = this.#history.begin(client, asked);
    return {
      end: ({ isUncertain }, outcome, calls) => {
        if (outcome !== null && !isRevocation(outcome.answer)) {
          const answer = lockAnswerOf(outcome, calls > 1);
          open.end({ kind: "ok", answer });
          if (asked.kind === "acquire" && answer.kind === "acquired" && calls > 1) {
            // Another call of it may be its newest attempt, whose caller is gone: that ends the hold (S25).
            this.#history.begin(client, { kind: "force-release", lock: asked.lock, token: answer.token });
          }
        } else {
          open.end({ kind: isUncertain ? "unknown" : "not-executed" });
        }
      },
    };
  }

  /** What the clients have done so far. */
  get records(): readonly LockRecord[] {
    return this.#history.operations;
  }

  /** Raises a RuleViolation if the clients were told what no locks could have told them. */
  check(driftShare: number): void {
    // How late a hold may expire is a matter of who leads when: rules about the log look at that.
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
        const { mode, owner, waitMs } = operation;
        const ttlMs = (operation.ttlSeconds || this.#ttlSeconds) * MS_PER_SECOND;
        return token === 0
          ? { kind: "acquire", lock, mode, owner, ttlMs, waitMs }
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

/** Exclusive locks and read-write locks have names of their own, in a history they share them. */
export function nameInHistory({ rw, name }: Pick<LockName, "rw" | "name">): string {
  return `${rw ? READ_WRITE : EXCLUSIVE}${name}`;
}

/** What the lock is called that has this name in a history. */
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

function viewOf({ state, holds, queueLength, revision }: AcquireLockResult): LockView {
  const shown = holds.map(({ token, owner, mode }) => ({ token, owner, mode }));
  return { state, holds: shown, waiters: queueLength, revision };
}
