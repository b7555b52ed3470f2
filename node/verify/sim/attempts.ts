/**
 * Compares the answer to each call of a request with the log entries of the process that the call was sent to.
 *
 * A request may be sent several times. Every entry of it names the process that made it, so each call is compared with
 * its own attempt, whatever the other calls did. A call that was certainly not executed never is (P52). A call makes at
 * most one entry, because a new attempt needs proof that the last one can never be executed (P56).
 */

import { EntryType, entryEnvelope, entryPayload, entryType } from "../../src/raft/index.ts";
import { type CoordinationError, decodeCommand } from "../../src/state/index.ts";
import { must } from "./rule-violation.ts";

/** One start of a member, as entries name it. */
export interface Caller {
  readonly memberId: number;
  readonly boot: number;
}

export class Attempts {
  /** Calls that may have been executed, and all calls, by request and process. */
  readonly #calls = new Map<string, { possible: number; all: number }>();

  /** A call of the request has ended at the process: with an error, with null after an execution, or lost. */
  onEnd(requestId: Uint8Array, { memberId, boot }: Caller, error: CoordinationError | null | "lost"): void {
    const key = keyOf(requestId, memberId, boot);
    const calls = this.#calls.get(key) ?? { possible: 0, all: 0 };
    const isRefused = error !== null && error !== "lost" && error.outcome === "not-executed";
    calls.all++;
    calls.possible += isRefused ? 0 : 1;
    this.#calls.set(key, calls);
  }

  /**
   * Compares all calls with the rows of the log, when no call is open any more. An entry that was refused because its
   * caller was revoked has done nothing, and members do not remember it: so the call may make another one.
   */
  check(rows: readonly Uint8Array[], refused: ReadonlySet<number>): void {
    const entries = new Map<string, number[]>();
    for (const [at, row] of rows.entries()) {
      const { memberId, boot, seq } = entryEnvelope(row).origin;
      const isAttempt = entryType(row) === EntryType.Command && seq !== 0 && !refused.has(at + 1);
      const request = isAttempt ? decodeCommand(entryPayload(row)).request : null;
      if (request !== null) {
        const key = keyOf(request.requestId, memberId, boot);
        entries.set(key, [...(entries.get(key) ?? []), at + 1]);
      }
    }
    for (const [key, indexes] of entries) {
      const { possible, all } = this.#calls.get(key) ?? { possible: 0, all: 0 };
      must(all === 0 || possible > 0, "I12 a call that was certainly not executed is not in the log", () => {
        return `request ${key}: entries ${indexes.join()}, ${all} calls`;
      });
      must(indexes.length <= possible, "I14 a call is in the log once", () => {
        return `request ${key}: entries ${indexes.join()}, of ${possible} calls that may have been executed`;
      });
    }
  }
}

function keyOf(requestId: Uint8Array, memberId: number, boot: number): string {
  return `${requestId.toHex()} by m${memberId} boot ${boot}`;
}
