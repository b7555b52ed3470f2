/**
 * The failing actions of one cluster, from pass to pass: since when they fail, and which of them are worth showing.
 *
 * An action stays in the history while every pass tries it and fails. The history forgets it after a pass in which it
 * succeeds, or in which no plan contains it. Losing a history costs time, never safety.
 */
import { isKubeError, KubeError } from "../kube/index.ts";
import { MemberError } from "../members/index.ts";
import type { Failure } from "../plan/index.ts";
import { isStale } from "./plan-execution.ts";

/** An API server that restarts, or a member that hands over its leadership, answers again within this time. */
const TRANSIENT_MS = 10_000;
/** The next observation resolves most conflicts. A conflict that lasts longer has another cause. */
const STALE_MS = 30_000;

/** An action that failed in this pass. */
export type Attempt = Omit<Failure, "since" | "message">;

interface Entry {
  readonly failure: Failure;
  readonly shownAfterMs: number;
  isReported: boolean;
}

export class FailureHistory {
  #past: ReadonlyMap<string, Entry> = new Map();
  #present = new Map<string, Entry>();

  /** Whether nothing failed in this pass. */
  get isEmpty(): boolean {
    return this.#present.size === 0;
  }

  /** Begins a new pass. */
  begin(): void {
    this.#past = this.#present;
    this.#present = new Map();
  }

  /** @param now milliseconds, on the clock of `since` */
  add(attempt: Attempt, error: unknown, now: number): void {
    const key = `${attempt.action} ${attempt.target}`;
    const before = this.#past.get(key);
    this.#present.set(key, {
      failure: { ...attempt, message: messageOf(attempt, error), since: before?.failure.since ?? now },
      shownAfterMs: shownAfterMs(error),
      isReported: before?.isReported ?? false,
    });
  }

  /** @returns the failures that are not transient, in the order in which they happened in this pass */
  shown(now: number): Failure[] {
    return this.#entriesShown(now).map(({ failure }) => failure);
  }

  /** @returns those of `shown` that this method has not returned before */
  unreported(now: number): Failure[] {
    const entries = this.#entriesShown(now).filter(({ isReported: told }) => !told);
    for (const entry of entries) {
      entry.isReported = true;
    }
    return entries.map(({ failure }) => failure);
  }

  #entriesShown(now: number): Entry[] {
    return [...this.#present.values()].filter(({ failure, shownAfterMs: afterMs }) => now - failure.since >= afterMs);
  }
}

function messageOf({ action, target }: Attempt, error: unknown): string {
  const said = error instanceof KubeError ? error.explanation : "";
  const words = said === "" && error instanceof Error ? error.message : said;
  return `${action} ${target}: ${words}`;
}

function shownAfterMs(error: unknown): number {
  if (isStale(error)) {
    return STALE_MS;
  }
  const isTransient = isKubeError(error, "unavailable", "throttled", "terminating") || error instanceof MemberError;
  return isTransient ? TRANSIENT_MS : 0;
}
