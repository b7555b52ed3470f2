/** Those who wait for a lock, in the order in which they get it. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { ApiError, type Lock, type LockWait, listLockWaits } from "../../api/index.ts";
import { Owner, Subject } from "../../people/index.ts";
import { countdownText, countText, durationText, remainingMs } from "../../text/index.ts";
import { Button, Chip, Problem } from "../../ui/index.ts";
import { permitCount, waiting } from "./lock-text.ts";

export interface LockQueueProps {
  readonly namespace: string;
  readonly lock: Lock;
  /** When the lock was reported, Unix time in milliseconds. */
  readonly atMs: number;
  readonly nowMs: number;
}

/** A whole queue, as it was at a time. */
interface WholeQueue {
  readonly waits: readonly LockWait[];
  readonly atMs: number;
}

export function LockQueue({ namespace, lock, atMs, nowMs }: LockQueueProps): JSX.Element {
  const whole = useSignal<WholeQueue | null>(null);
  const problem = useSignal<string | undefined>(undefined);
  const count = waiting(lock);
  const isShort = count <= lock.waits.length;
  const shown = isShort || whole.value === null ? { waits: lock.waits, atMs } : whole.value;
  const loadAll = async (): Promise<void> => {
    problem.value = undefined;
    try {
      const { name, rw } = lock;
      whole.value = { waits: await listLockWaits({ namespace, name, rw }, {}), atMs: Date.now() };
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
      problem.value = error.message;
    }
  };
  return (
    <>
      <h3>Queue ({countText(count)})</h3>
      {count === 0 && <p class="muted">No one waits.</p>}
      <ol class="queue">
        {shown.waits.map((wait) => (
          <li key={`${wait.place} ${wait.owner}`}>
            <span class="place" aria-hidden="true">
              {wait.place}
            </span>
            <span class="queue-text">
              <span>
                <strong>
                  <Owner {...wait} />
                </strong>{" "}
                {lock.rw && <Chip>{wait.mode === "READ" ? "to read" : "to write"}</Chip>}
                {lock.permits > 0 && <Chip>{permitCount(wait)}</Chip>}
              </span>
              <span class="muted queue-times">
                waits {durationText(Number(wait.waitedMs) + Math.max(0, nowMs - shown.atMs))}, gives up in{" "}
                {countdownText(remainingMs(wait.endsInMs, shown.atMs, nowMs))}
              </span>
              <Subject {...wait} />
            </span>
          </li>
        ))}
      </ol>
      <Problem message={problem.value} />
      {!isShort && <Button onClick={() => void loadAll()}>Show all {countText(count)}</Button>}
    </>
  );
}
