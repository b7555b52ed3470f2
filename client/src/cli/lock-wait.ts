/** Shows on a terminal for whom a request waits for a lock, at which place of the queue, and for how long. */

import type { Client, LockWait } from "../index.ts";
import { formatMilliseconds } from "./duration.ts";
import type { LockKind, LockTarget, ShownLock } from "./lock-kinds.ts";
import { ProgressLine, type ProgressPlace, showsProgress } from "./progress-line.ts";

/** The request that waits. */
export interface WaitingRequest {
  readonly target: LockTarget;
  readonly kind: LockKind;
  /** The label of the holder; undefined = that of the service or of the SDK. */
  readonly owner: string | undefined;
  readonly waitMs: number;
}

/** Pause between two looks at the lock. */
const PAUSE_MS = 1_000;

/** How far the end of a wait may be from the expected one, to count as the wait of this process. */
const TOLERANCE_MS = 5_000;

/**
 * Shows the wait until the returned function is called. It never fails: what it cannot find out is left out.
 *
 * @param client closed only after the returned function was called.
 */
export function showWait(place: ProgressPlace, client: Client, request: WaitingRequest): () => void {
  if (!showsProgress(place) || request.waitMs === 0) {
    return () => undefined;
  }
  const { runtime } = place.terminal;
  const line = new ProgressLine(place);
  const ended = new AbortController();
  const untilMs = runtime.monotonicMs() + request.waitMs;
  const watch = async () => {
    while (!ended.signal.aborted) {
      await runtime.sleep(PAUSE_MS, ended.signal);
      const leftMs = Math.max(0, untilMs - runtime.monotonicMs());
      const [lock, waits] = await Promise.all([
        request.kind.describe(client, request.target),
        // Members of an older release do not list waits.
        request.kind.listWaits(client, request.target).catch(() => []),
      ]);
      if (!ended.signal.aborted) {
        line.show(waitText(request, lock, waits, leftMs));
      }
    }
  };
  // The request itself reports what is wrong.
  watch().catch(() => undefined);
  return () => {
    ended.abort();
    line.clear();
  };
}

/** Such as `waiting 28s for default/nightly, place 2 of 3: ada holds it (12.5s unless renewed)`. */
function waitText(
  request: Pick<WaitingRequest, "target" | "owner">,
  { holders, state }: Pick<ShownLock, "holders" | "state">,
  waits: readonly LockWait[],
  leftMs: number,
): string {
  const { target, owner } = request;
  const [first, ...others] = holders;
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  const holder =
    first === undefined
      ? state.toLowerCase()
      : `${first.owner}${more} holds it (${formatMilliseconds(first.expiresInMs)} unless renewed)`;
  const own = ownWait(waits, owner, leftMs);
  const place = own === undefined ? "" : `, place ${own.place} of ${waits.length}`;
  return `waiting ${Math.ceil(leftMs / 1_000)}s for ${target.namespace}/${target.name}${place}: ${holder}`;
}

/** The wait of this process: the one with its label that ends when this process expects it. */
function ownWait(waits: readonly LockWait[], owner: string | undefined, leftMs: number): LockWait | undefined {
  const distance = ({ endsInMs }: LockWait) => Math.abs(endsInMs - leftMs);
  const [nearest] = waits
    .filter((wait) => owner === undefined || wait.owner === owner)
    .sort((one, other) => distance(one) - distance(other));
  return nearest !== undefined && distance(nearest) <= TOLERANCE_MS ? nearest : undefined;
}
