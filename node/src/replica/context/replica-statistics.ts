/**
 * Counters of a driver since its start. They only grow. The driver increments them, and the metrics read them. They do
 * not affect what the driver does.
 */

import type { Role } from "../../raft/index.ts";
import {
  CoordinationError,
  type EndedWait,
  type HoldReason,
  type KeyChange,
  type Outcome,
  type WatchedChange,
} from "../../state/index.ts";
import { DurationHistogram, LONG_BOUNDS, SHORT_BOUNDS } from "../../telemetry/index.ts";
import type { ProposalDone } from "./proposal.ts";
import { RefusedGuards } from "./refused-guards.ts";

/** Counts snapshots that were sent to, or received from, other members. */
export class CopyStatistics {
  readonly durations = new DurationHistogram(LONG_BOUNDS);
  completed = 0;
  failed = 0;

  /** A snapshot has ended; only completed ones count into the durations. */
  onEnded(ok: boolean, durationMs: number): void {
    if (ok) {
      this.completed++;
      this.durations.addMs(durationMs);
    } else {
      this.failed++;
    }
  }
}

export class ReplicaStatistics {
  /** Outcomes of calls that had to be logged. `refused` = executed, and the state did not allow it. */
  readonly proposals = zeros("applied", "refused", "not_executed", "unknown");
  /** Attempts of this member's callers that were forwarded to a leader elsewhere. */
  forwarded = 0;
  elections = 0;
  leaderChanges = 0;
  /** From handing entries to the log until this member knows that they are durable. */
  readonly appends = new DurationHistogram(SHORT_BOUNDS);
  /** The part of that for writing and syncing in the log. */
  readonly logWrites = new DurationHistogram(SHORT_BOUNDS);
  logEntries = 0;
  logBytes = 0;
  /** Writing a slice of applied entries, and making the state durable. */
  readonly stateBatches = new DurationHistogram(SHORT_BOUNDS);
  readonly stateSyncs = new DurationHistogram(SHORT_BOUNDS);
  appliedEntries = 0;
  readonly snapshotsSent = new CopyStatistics();
  readonly snapshotsReceived = new CopyStatistics();
  /** Changes of keys by kind, and beginnings and ends of holds by reason, as this member has applied them. */
  readonly keyChanges = zeros<KeyChange["kind"]>("put", "delete", "expire");
  readonly lockGrants = zeros<HoldReason>("normal", "downgraded", "upgraded");
  readonly lockReleases = zeros<HoldReason>("normal", "expired", "forced", "upgraded");
  /** Events that were appended to event logs, and their bytes. Duplicates are not counted. */
  appendedEvents = 0;
  appendedEventBytes = 0;
  /** Writes that were refused because their guard was not live. */
  readonly refusedGuards = new RefusedGuards();
  /** Waiting times of requests that got a lock after waiting, in cluster ticks. */
  readonly lockWaits = new DurationHistogram(LONG_BOUNDS);
  #leader = 0;

  /** The role or the leader of this member has changed; 0 = no leader is known. */
  onRole(role: Role, leader: number): void {
    if (role === "candidate") {
      this.elections++;
    }
    if (leader !== 0 && leader !== this.#leader) {
      this.#leader = leader;
      this.leaderChanges++;
    }
  }

  /** Entries are durable. */
  onAppended(entries: readonly Uint8Array[], appendMs: number, writeMs: number): void {
    this.appends.addMs(appendMs);
    this.logWrites.addMs(writeMs);
    this.logEntries += entries.length;
    for (const { length } of entries) {
      this.logBytes += length;
    }
  }

  /** An entry was applied, with its outcome, its visible changes, and the waits that it ended. */
  onApplied(outcome: Outcome | null, watched: readonly WatchedChange[], endedWaits: readonly EndedWait[]): void {
    this.appliedEntries++;
    if (outcome !== null && "kind" in outcome.answer && outcome.answer.kind === "append-events") {
      this.appendedEvents += outcome.answer.appendedEvents;
      this.appendedEventBytes += outcome.answer.appendedBytes;
    }
    for (const change of watched) {
      if (change.about === "key") {
        increment(this.keyChanges, change.kind);
      } else {
        increment(change.kind === "acquired" ? this.lockGrants : this.lockReleases, change.reason);
      }
    }
    for (const { outcome: wait } of endedWaits) {
      const waitedMs = grantedAfterMs(wait);
      if (waitedMs !== null) {
        this.lockWaits.addMs(waitedMs);
      }
    }
  }

  /** Wraps `done` so that its outcome is counted. */
  counted(done: ProposalDone): ProposalDone {
    return (error, outcome) => {
      if (outcome === null) {
        increment(this.proposals, error?.outcome === "unknown" ? "unknown" : "not_executed");
      } else {
        increment(this.proposals, outcome.answer instanceof CoordinationError ? "refused" : "applied");
      }
      done(error, outcome);
    };
  }
}

/** How long the request waited for the lock, in cluster milliseconds; null if it did not get the lock. */
function grantedAfterMs({ answer }: Outcome): number | null {
  const isGrant = "kind" in answer && answer.kind === "acquire-lock" && answer.hold !== null;
  return isGrant ? answer.waitedMs : null;
}

/** Counts that are reported as 0 from the start, so that the first event shows as an increase. */
function zeros<Name extends string>(...names: readonly Name[]): Map<Name, number> {
  return new Map(names.map((name) => [name, 0]));
}

function increment<Name>(counts: Map<Name, number>, name: Name): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
