/**
 * Counts the writes that this member refused while it applied entries, because their guard named a lock without a live
 * hold: in all, and for each lock.
 *
 * All members refuse the same writes, but the counts are in memory only. So they begin at 0 with this process, and
 * entries that came within a snapshot are missing. Nothing is done for an entry that is not refused.
 */

import { entryPayload } from "../../raft/index.ts";
import { CoordinationError, decodeCommand, type Guard, type LockName, type Outcome } from "../../state/index.ts";

/** Locks that are counted one by one. Above it, the lock whose last refusal is the oldest is forgotten. */
const LOCKS_MAX = 10_000;

export class RefusedGuards {
  /** Refused writes of all locks. */
  total = 0;
  readonly #locksMax: number;
  /** By lock, the one with the oldest last refusal first. */
  readonly #counts = new Map<string, number>();

  constructor(locksMax = LOCKS_MAX) {
    this.#locksMax = locksMax;
  }

  /** An entry was applied. */
  onApplied(row: Uint8Array, outcome: Outcome | null): void {
    if (outcome !== null && outcome.answer instanceof CoordinationError) {
      this.#onRefused(row, outcome.answer, outcome.replayed === "no");
    }
  }

  /** Refused writes whose guard named the lock. */
  of(lockName: LockName): number {
    return this.#counts.get(nameOf(lockName)) ?? 0;
  }

  #onRefused(row: Uint8Array, { reason }: CoordinationError, isFirst: boolean): void {
    if (reason !== "FENCED" || !isFirst) {
      return;
    }
    this.total++;
    const lock = guardingLock(row);
    if (lock === null) {
      return;
    }
    const name = nameOf(lock);
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.delete(name);
    this.#counts.set(name, count);
    if (this.#counts.size > this.#locksMax) {
      const [oldest = ""] = this.#counts.keys();
      this.#counts.delete(oldest);
    }
  }
}

/** The lock that the guard of the command in the entry names; null if the command has no guard. */
function guardingLock(row: Uint8Array): LockName | null {
  const { operation } = decodeCommand(entryPayload(row));
  if (!("guard" in operation) || operation.guard === undefined) {
    return null;
  }
  const { guard } = operation;
  return operation.kind === "append-events"
    ? lockOf(operation.guard?.namespace ?? "", guard)
    : lockOf(operation.namespace, guard);
}

function lockOf(namespace: string, { lockName, rw }: Guard): LockName {
  return { namespace, rw, name: lockName };
}

/** Names of namespaces contain no NUL, so no two locks have the same text. */
function nameOf({ namespace, rw, name }: LockName): string {
  return `${namespace}\0${rw ? "rw" : ""}\0${name}`;
}
