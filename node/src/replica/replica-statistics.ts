/**
 * What a driver has done since it started, in numbers that only grow. They are counted where it happens and read when
 * somebody collects metrics; nothing that the driver does depends on them.
 */

import type { Role } from "../raft/index.ts";
import {
  CoordinationError,
  type HoldReason,
  type KeyChange,
  type Outcome,
  type SettledWait,
  type WatchedChange,
} from "../state/index.ts";
import { Durations, LONG_BOUNDS, SHORT_BOUNDS } from "../telemetry/index.ts";
import type { ProposalDone } from "./waiters.ts";

/** Whole states that were copied to or from another member. */
export class CopyStatistics {
  readonly durations = new Durations(LONG_BOUNDS);
  completed = 0;
  failed = 0;

  /** One has ended; only those that were whole count for how long it takes. */
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
  /** What became of calls that were to be logged: `refused` ones were executed, and the state did not allow them. */
  readonly proposals = zeros("applied", "refused", "not_executed", "unknown");
  /** Calls of this member's clients that were handed to a leader elsewhere. */
  forwarded = 0;
  elections = 0;
  leaderChanges = 0;
  /** From handing entries to the log until it is known here that they are durable. */
  readonly appends = new Durations(SHORT_BOUNDS);
  /** What the log needed of that for writing and syncing. */
  readonly logWrites = new Durations(SHORT_BOUNDS);
  logEntries = 0;
  logBytes = 0;
  /** Writing a slice of applied entries, and making the state durable. */
  readonly stateBatches = new Durations(SHORT_BOUNDS);
  readonly stateSyncs = new Durations(SHORT_BOUNDS);
  appliedEntries = 0;
  readonly snapshotsSent = new CopyStatistics();
  readonly snapshotsReceived = new CopyStatistics();
  /** Changes of keys by kind, and beginnings and ends of holds by reason, as this member has applied them. */
  readonly keyChanges = zeros<KeyChange["kind"]>("put", "delete", "expire");
  readonly lockGrants = zeros<HoldReason>("normal", "downgraded", "upgraded");
  readonly lockReleases = zeros<HoldReason>("normal", "expired", "forced", "upgraded");
  /** Events that were appended to event logs, and bytes of them; those that were there already are not counted again. */
  appendedEvents = 0;
  appendedEventBytes = 0;
  /** How long those waited that were granted a lock which they could not have at once, in cluster ticks. */
  readonly lockWaits = new Durations(LONG_BOUNDS);
  #leader = 0;

  /** Role or leader of this member have changed; 0 = no leader is known. */
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

  /** An entry was applied, with what it has come to, changed and ended. */
  onApplied(outcome: Outcome | null, watched: readonly WatchedChange[], settled: readonly SettledWait[]): void {
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
    for (const { outcome: told } of settled) {
      const waitedMs = grantedAfterMs(told);
      if (waitedMs !== null) {
        this.lockWaits.addMs(waitedMs);
      }
    }
  }

  /** The same `done`, with what it is told counted. */
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

/** How long whoever is answered so has waited for the lock; null unless it was granted. */
function grantedAfterMs({ answer }: Outcome): number | null {
  const isGrant = "kind" in answer && answer.kind === "acquire-lock" && answer.hold !== null;
  return isGrant ? answer.waitedMs : null;
}

/** Counts that are told before there is anything to count, so that the first one is seen as an increase. */
function zeros<Name extends string>(...names: readonly Name[]): Map<Name, number> {
  return new Map(names.map((name) => [name, 0]));
}

function increment<Name>(counts: Map<Name, number>, name: Name): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
