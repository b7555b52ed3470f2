/**
 * Applying what is committed: in slices of their own turns, each one batch, bounded by count, bytes and time (S44).
 *
 * An entry of very many events takes longer than a slice may. It is a batch of its own, and is applied over several turns,
 * each as long as a slice. Until it is complete, the state is what it was before.
 *
 * Now and then the state is made durable, while applying rests; what is durable bounds what the log must keep. A store
 * that would block is waited for, so that nothing else waits with it.
 */

import { randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import { entryIndex, entryOrigin, entryTickMs, invariant, mark, type RaftCore } from "../raft/index.ts";
import { stamp } from "../stamps/index.ts";
import {
  type Checkpoints,
  type FilterSeed,
  isLongEntry,
  type Outcome,
  type Progress,
  type Reconfigure,
  type StateLimits,
  StateMachine,
  type Steps,
} from "../state/index.ts";
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
  /** An append in an entry of at least this many bytes takes several turns; each turn takes about `longEntryMs`. */
  readonly longEntryBytes: number;
  readonly longEntryMs: number;
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
  /** Whether somebody at this member waits for what others do. */
  readonly isWaiting: () => boolean;
}

/** An entry that is applied over several turns. */
interface LongEntry {
  readonly row: Uint8Array;
  readonly steps: Steps<Outcome>;
}

/** Rows of stored answers that a tick reads for filters after a start: some milliseconds (S44). */
const FILTER_ROWS_PER_TICK = 1_000;
/** Of this process: clients do not know it. */
const FILTER_SEED: FilterSeed = [randomInt(2 ** 32) | 0, randomInt(2 ** 32) | 0];
/** Once it is watched, a member stays so for this long: readers that poll come back. */
const WATCHED_MS = 1_000;
const NONE_SETTLED: readonly SettledAttempt[] = [];

export class ApplyLoop {
  readonly #options: ApplyLoopOptions;
  #machine: StateMachine;
  #isArmed = false;
  #isResting = false;
  #isStopped = false;
  /** The entry that is not complete, null without one. */
  #long: LongEntry | null = null;
  /** Who is told that the state has gone on. */
  readonly #observers = new Set<ApplyObserver>();
  #watchedUntilMs = 0;
  /** Last index that may be applied. */
  #applyTo: number;
  /** Nothing was written since the state was last flushed. */
  #isFlushed = true;
  #isSyncing = false;
  /** The state is to be made durable as soon as possible. */
  #isSyncWanted = false;
  #unsyncedBytes = 0;
  #lastSyncMs: number;
  #durableApplied: number;

  /** The row that is applied, or was applied last. */
  #applying: Uint8Array | null = null;
  /** Made once: few entries change the configuration, and all are applied with it. */
  readonly #reconfigure: Reconfigure = (index, change, expectIndex) => {
    const isOwnEntry = this.#applying !== null && index === entryIndex(this.#applying);
    invariant(isOwnEntry, "a configuration applies at its own entry");
    return this.#options.core.applyConfiguration(index, change, expectIndex);
  };

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
    return this.#isResting && !this.#isSyncing && this.#long === null;
  }

  /** Calls back after each slice and each replacement of the state, until the returned function is called. */
  observe(listener: ApplyObserver): () => void {
    this.#observers.add(listener);
    this.#watch(this.#options.clock.monotonicMs());
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
    // What has been begun is completed before it rests.
    const isHeld = this.#isSyncing || (this.#isResting && this.#long === null) || this.#isStopped;
    if (isBehind && !this.#isArmed && !isHeld) {
      this.#isArmed = true;
      this.#options.scheduler.immediate(() => this.#slice());
    }
  }

  /** A tick has passed. */
  onTick(nowMs: number): void {
    this.#watch(nowMs);
    this.#syncIfDue(nowMs);
    this.#flush();
    if (this.#long === null && !this.#isStopped) {
      this.#machine.readForReplayFilters(FILTER_ROWS_PER_TICK);
    }
    this.arm();
  }

  /** Applies no more until `restart`; `isAtRest` from when no sync is in flight and no entry is incomplete. */
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

  /** Lets the leader know whether what is committed is to be told at once. */
  #watch(nowMs: number): void {
    const { core, isWaiting } = this.#options;
    if (this.#observers.size > 0 || isWaiting()) {
      this.#watchedUntilMs = nowMs + WATCHED_MS;
    }
    core.setWatched(nowMs < this.#watchedUntilMs);
  }

  #tellObservers(entries: readonly AppliedEntry[] | null): void {
    for (const listener of this.#observers) {
      listener(entries);
    }
  }

  #newMachine(): StateMachine {
    const { state, stateLimits } = this.#options;
    return new StateMachine(state, (previous, bytes) => crc32(bytes, previous), stateLimits, FILTER_SEED);
  }

  #slice(): void {
    this.#isArmed = false;
    const { state, core, clock, limits } = this.#options;
    const isResting = this.#isResting && this.#long === null;
    if (this.#isStopped || this.#isSyncing || isResting || state.isStalled) {
      // A stalled store would block the loop; the next tick looks again.
      return;
    }
    stamp("apply.begun");
    const startedMs = clock.monotonicMs();
    if (this.#long !== null) {
      this.#goOn(this.#long, startedMs);
      return;
    }
    const from = this.progress.appliedIndex + 1;
    const to = Math.min(this.#applyTo, from + limits.sliceEntries - 1);
    const entries: AppliedEntry[] = [];
    let bytes = 0;
    for (const row of core.entries(from, to, limits.sliceBytes)) {
      if (isLongEntry(row, limits.longEntryBytes)) {
        if (entries.length > 0) {
          break;
        }
        this.#long = { row, steps: this.#machine.applyInSteps(row) };
        this.#goOn(this.#long, startedMs);
        return;
      }
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
    this.#commit(entries, bytes);
  }

  /** Goes on with an entry for as long as a turn of it may take. */
  #goOn({ row, steps }: LongEntry, startedMs: number): void {
    const { clock, limits } = this.#options;
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) {
        this.#long = null;
        this.#commit([this.#applied(row, value)], row.length);
        return;
      }
      if (clock.monotonicMs() - startedMs > limits.longEntryMs) {
        mark("replica.long-entry-paused");
        this.arm();
        return;
      }
    }
  }

  /** Hands to the disk what the state keeps in memory, unless that would block. */
  #flush(): void {
    const { state, clock, statistics } = this.#options;
    if (this.#isFlushed || this.#isSyncing || this.#isResting || this.#isStopped) {
      return;
    }
    const beganMs = clock.monotonicMs();
    if (state.flush()) {
      this.#isFlushed = true;
      statistics.stateBatches.addMs(clock.monotonicMs() - beganMs);
    }
  }

  /** Writes what was applied, and tells of it. */
  #commit(entries: readonly AppliedEntry[], bytes: number): void {
    const { core, clock, compaction, statistics } = this.#options;
    // Only an entry over several turns is still completed then.
    const wasResting = this.#isResting;
    const appliedMs = clock.monotonicMs();
    this.#isFlushed = false;
    this.#machine.commit();
    statistics.stateBatches.addMs(clock.monotonicMs() - appliedMs);
    const applied = this.progress.appliedIndex;
    stamp("apply.done", applied);
    core.onApplied(applied, bytes);
    compaction.onApplied(applied, bytes);
    this.#unsyncedBytes += bytes;
    this.#options.onApplied(entries);
    this.#tellObservers(entries);
    if (wasResting) {
      this.#options.onRest();
    }
    this.#syncIfDue(clock.monotonicMs());
    this.arm();
  }

  #apply(row: Uint8Array): AppliedEntry {
    this.#applying = row;
    return this.#applied(row, this.#machine.apply(row, this.#reconfigure));
  }

  /** Counts the entry that the state machine has just applied. */
  #applied(row: Uint8Array, outcome: Outcome | null): AppliedEntry {
    const { memberId, boot, tick, statistics } = this.#options;
    statistics.onApplied(outcome, this.#machine.watched, this.#machine.settled);
    tick.observe(entryTickMs(row));
    const origin = entryOrigin(row);
    const isOwn = origin.memberId === memberId && origin.boot === boot;
    return { row, seq: isOwn ? origin.seq : 0, outcome, settled: this.#ownSettled(row) };
  }

  /** Which attempts of this process the entry, the last one, has settled; lets other members know soon of theirs. */
  #ownSettled(row: Uint8Array): readonly SettledAttempt[] {
    const { memberId, boot, core } = this.#options;
    const { settled } = this.#machine;
    if (settled.length === 0) {
      return NONE_SETTLED;
    }
    for (const { attempt } of settled) {
      core.awaitAt(attempt.memberId, entryIndex(row));
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
    const isHeld = this.#isSyncing || this.#isResting || this.#isStopped || this.#long !== null;
    if (!isDue || isHeld || !this.#options.state.flush()) {
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
