/**
 * Shows on a terminal for whom a request waits for a lock, at which place of the queue, and for how long. Everywhere, it
 * says when the cluster does not answer during the wait, and when it answers again.
 */

import type { Client, LockWait } from "../../index.ts";
import { describeFailure, isRefusal } from "../errors/index.ts";
import { ProgressLine, type ProgressPlace, showsProgress } from "../output/index.ts";
import { formatMilliseconds } from "../text/index.ts";
import type { LockKind, LockTarget, ShownLock } from "./lock-kinds.ts";

/** The request that waits. */
export interface WaitingRequest {
  readonly target: LockTarget;
  readonly kind: LockKind;
  /** The label of the holder; undefined = that of the service or of the SDK. */
  readonly owner: string | undefined;
  readonly waitMs: number;
}

/** Pause before the first look at the lock, and between two looks. */
const PAUSE_MS = 1_000;
/** The same without a terminal: many programs may wait, and a look only finds out whether a member answers. */
const UNSEEN_PAUSE_MS = 10_000;
/** How long a look may take. A wait for a cluster that is stopped is then reported after 5 s. */
const LOOK_TIMEOUT_MS = 4_000;

/** How far the end of a wait may be from the expected one, to count as the wait of this process. */
const TOLERANCE_MS = 5_000;

/** A wait that is shown. */
export interface ShownWait {
  /** Ends it: the service has answered the request. */
  answered(): void;
  /** Ends it; only the first end has an effect. */
  end(): void;
}

/**
 * Shows a wait. It never fails: what it cannot find out is left out.
 *
 * @param client closed only after the end.
 */
export function showWait(place: ProgressPlace, client: Client, request: WaitingRequest): ShownWait {
  if (request.waitMs === 0) {
    return { answered: () => undefined, end: () => undefined };
  }
  const { runtime, stderr } = place.terminal;
  const line = new ProgressLine(place);
  const isSeen = showsProgress(place);
  const ended = new AbortController();
  const untilMs = runtime.monotonicMs() + request.waitMs;
  let isSilent = false;
  const note = (isSilentNow: boolean, text: string) => {
    if (isSilent !== isSilentNow && !ended.signal.aborted) {
      line.clear();
      stderr.write(`quoinctl: ${text}\n`);
      isSilent = isSilentNow;
    }
  };
  const look = async () => {
    const leftMs = Math.max(0, untilMs - runtime.monotonicMs());
    const [lock, waits] = await Promise.all([
      request.kind.describe(client, request.target, { timeoutMs: LOOK_TIMEOUT_MS }),
      // Members of an older release do not list waits.
      isSeen ? request.kind.listWaits(client, request.target).catch(() => []) : [],
    ]);
    note(false, "a member answers again");
    if (!ended.signal.aborted) {
      line.show(waitText(request, lock, waits, leftMs));
    }
  };
  const watch = async () => {
    await runtime.sleep(PAUSE_MS, ended.signal);
    while (!ended.signal.aborted) {
      await look().catch((error: unknown) => {
        if (!isRefusal(error, "UNAVAILABLE") && !isRefusal(error, "DEADLINE_EXCEEDED")) {
          throw error;
        }
        const { namespace, name } = request.target;
        note(true, `no answer yet, still waiting for ${namespace}/${name}: ${describeFailure(error).message}`);
      });
      await runtime.sleep(isSeen || isSilent ? PAUSE_MS : UNSEEN_PAUSE_MS, ended.signal);
    }
  };
  // The request itself reports what is wrong.
  watch().catch(() => undefined);
  const end = () => {
    ended.abort();
    line.clear();
  };
  return {
    answered: () => {
      note(false, "a member answers again");
      end();
    },
    end,
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
