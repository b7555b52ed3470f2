/**
 * Applying what is committed: in slices of their own turns, each one batch, bounded by count, bytes and time (S44).
 *
 * Now and then the state is made durable, while applying rests; what is durable bounds what the log must keep. A store
 * that would block is waited for, so that nothing else waits with it.
 */

import { crc32 } from "node:zlib";
import { entryEnvelope, entryIndex, invariant, mark, type RaftCore } from "../raft/index.ts";
import { type Checkpoints, type Outcome, type Progress, type StateLimits, StateMachine } from "../state/index.ts";
import type { LogStore, MemberStateStore } from "../storage/index.ts";
import type { Clock, Scheduler } from "./clock.ts";
import type { ClusterTick } from "./cluster-tick.ts";
import type { Compaction } from "./compaction.ts";
import type { ReplicaStatistics } from "./replica-statistics.ts";
import { describeDivergence } from "./state-comparison.ts";

export interface ApplyLimits {
  /** Bounds of one apply slice: entries, bytes of rows, milliseconds. */
  readonly sliceEntries: number;
  readonly sliceBytes: number;
  readonly sliceMs: number;
  /** The state is made durable after this many bytes applied, or milliseconds, whichever comes first. */
  readonly syncBytes: number;
  readonly syncMs: number;
}

/** An entry that was applied. */
export interface AppliedEntry {
  readonly row: Uint8Array;
  /** The attempt of this process that it is, 0 if it is none. */
  readonly seq: number;
  readonly outcome: Outcome | null;
  /** Attempts of this process that waited in the state and that this entry has settled, in their order. */
  readonly settled: readonly SettledAttempt[];
}

/** An attempt of this process, and the outcome that another entry has given it. */
export interface SettledAttempt {
  readonly seq: number;
  readonly outcome: Outcome;
}

/** Is told of the entries of a slice, or of null if the state was replaced as a whole. */
export type ApplyObserver = (entries: readonly AppliedEntry[] | null) => void;

export interface ApplyLoopOptions {
  readonly memberId: number;
  readonly boot: number;
  readonly core: RaftCore;
  readonly log: LogStore;
  readonly state: MemberStateStore;
  readonly stateLimits: StateLimits;
  readonly limits: ApplyLimits;
  readonly tick: ClusterTick;
  readonly compaction: Compaction;
  readonly statistics: ReplicaStatistics;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Everything up to this index is in the state already. */
  readonly durableApplied: number;
  /** The first entry that other members still need; infinity if none does. */
  readonly neededFrom: () => number;
  /** A slice is applied and can be read; not called when there was nothing to apply. */
  readonly onApplied: (entries: readonly AppliedEntry[]) => void;
  /** The state is not that of the cluster, for this reason: `stop` must be called. Nothing of the slice is answered. */
  readonly onDiverged: (reason: string) => void;
  /** Everything that is applied is durable, until the next slice. */
  readonly onDurable: () => void;
  /** Applying came to rest after `rest`. */
  readonly onRest: () => void;
}

const NONE_SETTLED: readonly SettledAttempt[] = [];

export class ApplyLoop {
  readonly #options: ApplyLoopOptions;
  #machine: StateMachine;
  #isArmed = false;
  #isResting = false;
  #isStopped = false;
  /** Who is told that the state has gone on. */
  readonly #observers = new Set<ApplyObserver>();
  /** Last index that may be applied. */
  #applyTo: number;
  #isSyncing = false;
  /** The state is to be made durable as soon as possible. */
  #isSyncWanted = false;
  #unsyncedBytes = 0;
  #lastSyncMs: number;
  #durableApplied: number;

  constructor(options: ApplyLoopOptions) {
    this.#options = options;
    this.#machine = this.#newMachine();
    this.#applyTo = this.#machine.progress.appliedIndex;
    this.#durableApplied = options.durableApplied;
    this.#lastSyncMs = options.clock.monotonicMs();
  }

  /** How far the state has come, as of the last slice. */
  get progress(): Progress {
    return this.#machine.progress;
  }

  /** The digests of the state, to be compared with those of others. */
  get checkpoints(): Checkpoints {
    return this.#machine.checkpoints;
  }

  /** Whether the state is not changing and no sync of it is in flight. */
  get isAtRest(): boolean {
    return this.#isResting && !this.#isSyncing;
  }

  /** Calls back after each slice and each replacement of the state, until the returned function is called. */
  observe(listener: ApplyObserver): () => void {
    this.#observers.add(listener);
    return () => this.#observers.delete(listener);
  }

  /** Entries up to the index may be applied. */
  applyUpTo(index: number): void {
    this.#applyTo = index;
    this.arm();
  }

  /** Asks for a slice if there is something to apply. */
  arm(): void {
    const isBehind = this.progress.appliedIndex < this.#applyTo;
    if (isBehind && !this.#isArmed && !this.#isSyncing && !this.#isResting && !this.#isStopped) {
      this.#isArmed = true;
      this.#options.scheduler.immediate(() => this.#slice());
    }
  }

  /** A tick has passed. */
  onTick(nowMs: number): void {
    this.#syncIfDue(nowMs);
    this.arm();
  }

  /** Applies no more until `restart`; `isAtRest` from when no sync is in flight either. */
  rest(): void {
    this.#isResting = true;
  }

  /** Goes on after `rest`, with the state as it was. */
  resume(): void {
    this.#isResting = false;
    this.arm();
  }

  /** Goes on after `rest` from another state, which is durable. */
  restart(): void {
    invariant(this.isAtRest, "the state is replaced while it is at rest");
    this.#machine = this.#newMachine();
    const { appliedIndex, tickMs } = this.progress;
    this.#applyTo = appliedIndex;
    this.#durableApplied = appliedIndex;
    this.#unsyncedBytes = 0;
    this.#options.tick.observe(tickMs);
    this.#options.compaction.reset(appliedIndex);
    this.#isResting = false;
    this.#tellObservers(null);
  }

  /** Makes what is applied durable as soon as possible; `onDurable` tells when it is. */
  makeDurable(): void {
    this.#isSyncWanted = true;
    this.#syncIfDue(this.#options.clock.monotonicMs());
  }

  stop(): void {
    this.#isStopped = true;
  }

  #tellObservers(entries: readonly AppliedEntry[] | null): void {
    for (const listener of this.#observers) {
      listener(entries);
    }
  }

  #newMachine(): StateMachine {
    const { state, stateLimits } = this.#options;
    return new StateMachine(state, (previous, bytes) => crc32(bytes, previous), stateLimits);
  }

  #slice(): void {
    this.#isArmed = false;
    const { state, core, clock, limits, compaction, statistics } = this.#options;
    if (this.#isStopped || this.#isSyncing || this.#isResting || state.isStalled) {
      // A stalled store would block the loop; the next tick looks again.
      return;
    }
    const startedMs = clock.monotonicMs();
    const from = this.progress.appliedIndex + 1;
    const to = Math.min(this.#applyTo, from + limits.sliceEntries - 1);
    const entries: AppliedEntry[] = [];
    let bytes = 0;
    for (const row of core.entries(from, to, limits.sliceBytes)) {
      entries.push(this.#apply(row));
      bytes += row.length;
      const { divergence } = this.#machine;
      if (divergence !== null) {
        this.#options.onDiverged(describeDivergence(divergence));
        return;
      }
      if (clock.monotonicMs() - startedMs > limits.sliceMs) {
        break;
      }
    }
    const appliedMs = clock.monotonicMs();
    this.#machine.commit();
    statistics.stateBatches.addMs(clock.monotonicMs() - appliedMs);
    const applied = from + entries.length - 1;
    core.onApplied(applied, bytes);
    compaction.onApplied(applied, bytes);
    this.#unsyncedBytes += bytes;
    this.#options.onApplied(entries);
    this.#tellObservers(entries);
    this.#syncIfDue(clock.monotonicMs());
    this.arm();
  }

  #apply(row: Uint8Array): AppliedEntry {
    const { memberId, boot, core, tick, statistics } = this.#options;
    const outcome = this.#machine.apply(row, (index, change, expectIndex) => {
      invariant(index === entryIndex(row), "a configuration applies at its own entry");
      return core.applyConfiguration(index, change, expectIndex);
    });
    statistics.onApplied(outcome, this.#machine.watched, this.#machine.settled);
    const { origin, tickMs } = entryEnvelope(row);
    tick.observe(tickMs);
    const isOwn = origin.memberId === memberId && origin.boot === boot;
    return { row, seq: isOwn ? origin.seq : 0, outcome, settled: this.#ownSettled() };
  }

  /** Which attempts of this process the last entry has settled. */
  #ownSettled(): readonly SettledAttempt[] {
    const { memberId, boot } = this.#options;
    const { settled } = this.#machine;
    if (settled.length === 0) {
      return NONE_SETTLED;
    }
    return settled
      .filter(({ attempt }) => attempt.memberId === memberId && attempt.boot === boot)
      .map(({ attempt, outcome }) => ({ seq: attempt.seq, outcome }));
  }

  /** Makes the state durable now and then, so that the log can be shortened. Applying pauses meanwhile. */
  #syncIfDue(nowMs: number): void {
    const { syncBytes, syncMs } = this.#options.limits;
    const isOld = this.#unsyncedBytes > 0 && nowMs - this.#lastSyncMs >= syncMs;
    const isDue = this.#isSyncWanted || this.#unsyncedBytes >= syncBytes || isOld;
    if (!isDue || this.#isSyncing || this.#isResting || this.#isStopped) {
      return;
    }
    const applied = this.progress.appliedIndex;
    this.#isSyncing = true;
    this.#isSyncWanted = false;
    this.#unsyncedBytes = 0;
    this.#options.state.sync(() => {
      this.#options.statistics.stateSyncs.addMs(this.#options.clock.monotonicMs() - nowMs);
      this.#isSyncing = false;
      if (this.#isStopped) {
        return;
      }
      this.#lastSyncMs = this.#options.clock.monotonicMs();
      this.#durableApplied = applied;
      this.#options.onDurable();
      if (this.#isResting) {
        this.#options.onRest();
        return;
      }
      this.#compactIfDue();
      this.arm();
    });
  }

  #compactIfDue(): void {
    const { core, log, compaction, neededFrom } = this.#options;
    const first = compaction.due(this.#durableApplied, neededFrom());
    if (first !== null) {
      const prevTerm = core.entryTerm(first - 1);
      core.onCompacted(first, prevTerm);
      log.compact(first, prevTerm);
      mark("replica.compacted");
    }
  }
}
