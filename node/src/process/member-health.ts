/**
 * Whether a member can serve requests, and why not: the checks of /readyz, /startupz and /livez, by name.
 *
 * Ready is a voter that can serve linearizable reads. It hears a leader, or leads with a majority. It has applied all
 * required entries, its disk is fit, its event loop runs in time, and it is not about to stop. Live is a process whose
 * event loop runs at all, which any answer proves. Started is a process that reports its state on the admin port, in
 * any state: a restart does not help a member whose data is lost or whose cluster has no leader.
 */

import type { Readiness } from "../replica/index.ts";
import { Health, type Test } from "../telemetry/index.ts";

/** A member whose event loop is this late, in milliseconds, is not ready. */
const LOOP_LAG_MS_MAX = 100;

interface CheckedMember {
  readonly state: string;
  /** Null while there is no data to serve. */
  readonly replica: {
    status(): { readonly loopLagMs: number };
    readonly report: { readiness(): Readiness };
  } | null;
}

/** The state of the process around the member. */
interface CheckedProcess {
  /** Whether it has opened its data directory and listens on all its ports. */
  readonly isListening: () => boolean;
  readonly isStopping: () => boolean;
}

export function memberHealth(member: CheckedMember, { isListening, isStopping }: CheckedProcess): Health {
  const ofReplica = (problem: (readiness: Readiness) => string | null): Test => {
    return () =>
      member.replica === null ? `the member is ${member.state}` : problem(member.replica.report.readiness());
  };
  const loop = (): string | null => {
    const lagMs = member.replica?.status().loopLagMs ?? 0;
    return lagMs > LOOP_LAG_MS_MAX ? `the event loop was ${Math.round(lagMs)} ms late` : null;
  };
  return new Health({
    started: new Map([["listening", () => (isListening() ? null : "the member does not listen on all its ports yet")]]),
    live: new Map([["event-loop", () => null]]),
    ready: new Map([
      ["voter", ofReplica(({ voter }) => voter)],
      ["leader", ofReplica(({ leader }) => leader)],
      ["applied", ofReplica(({ applied }) => applied)],
      ["disk", ofReplica(({ disk }) => disk)],
      ["event-loop", loop],
      ["draining", () => (isStopping() ? "the member is stopping" : null)],
    ]),
  });
}
