/**
 * Applies committed entries in slices. Each slice is one batch in a turn of its own, bounded by count, bytes and time
 * (S44).
 *
 * An entry with very many events or operations takes longer than one slice. It is applied over several turns, each as
 * long as a slice, and ends its batch. Until the entry is complete, the state does not change.
 *
 * From time to time the loop syncs the state to disk, and applying pauses meanwhile. Compaction may drop only entries
 * whose effects are durable. While the store would block, the loop skips slices, so that nothing else waits.
 */

import { randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import type { HashSeed } from "../../bytes/index.ts";
import { invariant, mark } from "../../primitives/index.ts";
import { entryIndex, entryOrigin, entryTickMs } from "../../raft/index.ts";
import {
  type Checkpoints,
  mayBeLong,
  type Outcome,
  type Progress,
  type Reconfigure,
  StateMachine,
  type Steps,
} from "../../state/index.ts";
import type { ApplyLimits, Compaction, ReplicaContext, ReplicaLimits } from "../context/index.ts";
import { describeDivergence } from "./divergence.ts";

/** An entry that was applied. */
export interface AppliedEntry {
  readonly row: Uint8Array;
  /** Sequence number of the attempt of this process that became this entry; 0 = the entry is not from this process. */
  readonly seq: number;
  readonly outcome: Outcome | null;
  /** Attempts of this process that waited in the state and got their outcome from this entry, in order. */
  readonly endedWaits: readonly AnsweredAttempt[];
}

/** An attempt of this process, and the outcome that another entry gave it. */
export interface AnsweredAttempt {
  readonly seq: number;
  readonly outcome: Outcome;
}

/** Receives the entries of each slice, or null if the whole state was replaced. */
export type ApplyObserver = (entries: readonly AppliedEntry[] | null) => void;

/** What this part shares with others. */
export type ApplyLoopContext = Pick<
  ReplicaContext,
  "memberId" | "boot" | "core" | "log" | "state" | "tick" | "statistics" | "clock" | "scheduler" | "onDiverged"
> & { readonly limits: ApplyLimits & Pick<ReplicaLimits, "state"> };

export interface ApplyLoopOptions {
  readonly compaction: Compaction;
  /** Everything up to this index is in the state already. */
  readonly durableApplied: number;
  /** The first entry that other members still need; infinity if none does. */
  readonly neededFrom: () => number;
  /** Called when a slice is applied and readable; not called when there was nothing to apply. */
  readonly onApplied: (entries: readonly AppliedEntry[]) => void;
  /** Called when everything that is applied so far is durable. */
  readonly onDurable: () => void;
  /** Called when applying has stopped after `rest`. */
  readonly onRest: () => void;
  /** Whether a caller at this member waits for changes by others. */
  readonly isWaiting: () => boolean;
}

/** An entry that is applied over several turns. */
interface LongEntry {
  readonly row: Uint8Array;
  readonly steps: Steps<Outcome | null>;
  /** Entries before it, which are in the same batch, and their bytes. */
  readonly entries: readonly AppliedEntry[];
  readonly bytes: number;
}

/** Rows of stored answers that each tick after a start reads into the filters; takes a few milliseconds (S44). */
const FILTER_ROWS_PER_TICK = 1_000;
/** Random for each process, so that clients cannot know it. */
const FILTER_SEED: HashSeed = [randomInt(2 ** 32) | 0, randomInt(2 ** 32) | 0];
/** A member still counts as watched for this long after the last reader: readers that poll come back. */
const WATCHED_MS = 1_000;
const NO_ENDED_WAITS: readonly AnsweredAttempt[] = [];

export class ApplyLoop {
  readonly #context: ApplyLoopContext;
  readonly #options: ApplyLoopOptions;
  #machine: StateMachine;
  #isArmed = false;
  #isResting = false;
  #isStopped = false;
  /** The entry that is not complete; null if there is none. */
  #long: LongEntry | null = null;
  /** Called after each slice. */
  readonly #observers = new Set<ApplyObserver>();
  #watchedUntilMs = 0;
  /** Last index that may be applied. */
  #applyTo: number;
  /** Nothing was written since the state was last flushed. */
  #isFlushed = true;
  #isSyncing = false;
  /** A sync of the state is wanted as soon as possible. */
  #isSyncWanted = false;
  #unsyncedBytes = 0;
  #lastSyncMs: number;
  #durableApplied: number;

  /** The row that is being applied, or was applied last. */
  #applying: Uint8Array | null = null;
  /** Made once: few entries change the configuration, and all are applied with it. */
  readonly #reconfigure: Reconfigure = (index, change, expectIndex) => {
    const isOwnEntry = this.#applying !== null && index === entryIndex(this.#applying);
    invariant(isOwnEntry, "a configuration applies at its own entry");
    return this.#context.core.applyConfiguration(index, change, expectIndex);
  };

  constructor(context: ApplyLoopContext, options: ApplyLoopOptions) {
    this.#context = context;
    this.#options = options;
    this.#machine = this.#newMachine();
    this.#applyTo = this.#machine.progress.appliedIndex;
    this.#durableApplied = options.durableApplied;
    this.#lastSyncMs = context.clock.monotonicMs();
  }

  /** The progress of the state, as of the last slice. */
  get progress(): Progress {
    return this.#machine.progress;
  }

  /** The digests of the state, for comparison with other members. */
  get checkpoints(): Checkpoints {
    return this.#machine.checkpoints;
  }

  /** Whether the state does not change and no sync of it is in flight. */
  get isAtRest(): boolean {
    return this.#isResting && !this.#isSyncing && this.#long === null;
  }

  /** Calls back after each slice and each replacement of the state, until the returned function is called. */
  observe(listener: ApplyObserver): () => void {
    this.#observers.add(listener);
    this.#watch(this.#context.clock.monotonicMs());
    return () => this.#observers.delete(listener);
  }

  /** Allows the loop to apply entries up to the index. */
  applyUpTo(index: number): void {
    this.#applyTo = index;
    this.arm();
  }

  /** Schedules a slice if there is something to apply. */
  arm(): void {
    const isBehind = this.progress.appliedIndex < this.#applyTo;
    // An entry that has begun is completed before applying rests.
    const isHeld = this.#isSyncing || (this.#isResting && this.#long === null) || this.#isStopped;
    if (isBehind && !this.#isArmed && !isHeld) {
      this.#isArmed = true;
      this.#context.scheduler.immediate(() => this.#slice());
    }
  }

  /** Called at every tick. */
  onTick(nowMs: number): void {
    this.#watch(nowMs);
    this.#syncIfDue(nowMs);
    this.#flush();
    if (this.#long === null && !this.#isStopped) {
      this.#machine.readForAnswerFilters(FILTER_ROWS_PER_TICK);
    }
    this.arm();
  }

  /**
   * Pauses applying until `resume` or `restart`. `isAtRest` is true once no sync is in flight and no entry is
   * incomplete.
   */
  rest(): void {
    this.#isResting = true;
  }

  /** Continues after `rest`, with the state as it was. */
  resume(): void {
    this.#isResting = false;
    this.arm();
  }

  /** Continues after `rest` from another state, which is durable. */
  restart(): void {
    invariant(this.isAtRest, "the state is replaced while it is at rest");
    this.#machine = this.#newMachine();
    const { appliedIndex, tickMs } = this.progress;
    this.#applyTo = appliedIndex;
    this.#durableApplied = appliedIndex;
    this.#unsyncedBytes = 0;
    this.#context.tick.observe(tickMs);
    this.#options.compaction.reset(appliedIndex);
    this.#isResting = false;
    this.#notifyObservers(null);
  }

  /** Makes the applied state durable as soon as possible, and then calls `onDurable`. */
  makeDurable(): void {
    this.#isSyncWanted = true;
    this.#syncIfDue(this.#context.clock.monotonicMs());
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Lets the leader know whether this member needs the commit index at once. */
  #watch(nowMs: number): void {
    const { core } = this.#context;
    if (this.#observers.size > 0 || this.#options.isWaiting()) {
      this.#watchedUntilMs = nowMs + WATCHED_MS;
    }
    core.setHasWaiters(nowMs < this.#watchedUntilMs);
  }

  #notifyObservers(entries: readonly AppliedEntry[] | null): void {
    for (const listener of this.#observers) {
      listener(entries);
    }
  }

  #newMachine(): StateMachine {
    const { state, limits } = this.#context;
    return new StateMachine(state, (previous, bytes) => crc32(bytes, previous), limits.state, FILTER_SEED);
  }

  #slice(): void {
    this.#isArmed = false;
    const { state, core, clock, limits } = this.#context;
    const isResting = this.#isResting && this.#long === null;
    if (this.#isStopped || this.#isSyncing || isResting || state.isStalled) {
      // A stalled store would block the loop; the next tick looks again.
      return;
    }
    const startedMs = clock.monotonicMs();
    if (this.#long !== null) {
      this.#complete(this.#long, startedMs);
      return;
    }
    const from = this.progress.appliedIndex + 1;
    const to = Math.min(this.#applyTo, from + limits.sliceEntries - 1);
    const entries: AppliedEntry[] = [];
    let bytes = 0;
    for (const row of core.entries(from, to, limits.sliceBytes)) {
      if (mayBeLong(row, limits.longEntryBytes)) {
        if (row.length >= limits.longEntryBytes && entries.length > 0) {
          break;
        }
        const long = { row, steps: this.#machine.applyInSteps(row), entries, bytes };
        this.#long = long;
        const applied = this.#goOn(long, startedMs);
        if (applied === null) {
          return;
        }
        entries.push(applied);
      } else {
        entries.push(this.#apply(row));
      }
      bytes += row.length;
      const { divergence } = this.#machine;
      if (divergence !== null) {
        this.#context.onDiverged(describeDivergence(divergence));
        return;
      }
      if (clock.monotonicMs() - startedMs > limits.sliceMs) {
        break;
      }
    }
    this.#commit(entries, bytes);
  }

  /** Continues a long entry for at most one turn. Commits it with the entries before it when it is complete. */
  #complete(long: LongEntry, startedMs: number): void {
    const applied = this.#goOn(long, startedMs);
    if (applied !== null) {
      this.#commit([...long.entries, applied], long.bytes + long.row.length);
    }
  }

  /** The entry, if it is complete within this turn; else null. */
  #goOn({ row, steps }: LongEntry, startedMs: number): AppliedEntry | null {
    const { clock, limits } = this.#context;
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) {
        this.#long = null;
        return this.#applied(row, value);
      }
      if (clock.monotonicMs() - startedMs > limits.longEntryMs) {
        mark("replica.long-entry-paused");
        this.arm();
        return null;
      }
    }
  }

  /** Writes the changes that the state keeps in memory to its store, unless that would block. */
  #flush(): void {
    const { state, clock, statistics } = this.#context;
    if (this.#isFlushed || this.#isSyncing || this.#isResting || this.#isStopped) {
      return;
    }
    const beganMs = clock.monotonicMs();
    if (state.flush()) {
      this.#isFlushed = true;
      statistics.stateBatches.addMs(clock.monotonicMs() - beganMs);
    }
  }

  /** Commits the applied entries as one batch, and notifies the observers. */
  #commit(entries: readonly AppliedEntry[], bytes: number): void {
    const { core, clock, statistics } = this.#context;
    // While resting, only a long entry is still completed.
    const wasResting = this.#isResting;
    const appliedMs = clock.monotonicMs();
    this.#isFlushed = false;
    this.#machine.commit();
    statistics.stateBatches.addMs(clock.monotonicMs() - appliedMs);
    const applied = this.progress.appliedIndex;
    core.onApplied(applied, bytes);
    this.#options.compaction.onApplied(applied, bytes);
    this.#unsyncedBytes += bytes;
    this.#options.onApplied(entries);
    this.#notifyObservers(entries);
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
    const { memberId, boot, tick, statistics } = this.#context;
    statistics.onApplied(outcome, this.#machine.watched, this.#machine.endedWaits);
    statistics.refusedGuards.onApplied(row, outcome);
    tick.observe(entryTickMs(row));
    const origin = entryOrigin(row);
    const isOwn = origin.memberId === memberId && origin.boot === boot;
    return { row, seq: isOwn ? origin.seq : 0, outcome, endedWaits: this.#ownEndedWaits(row) };
  }

  /**
   * Attempts of this process that got their outcome from this entry. Also asks the core to inform other members soon.
   */
  #ownEndedWaits(row: Uint8Array): readonly AnsweredAttempt[] {
    const { memberId, boot, core } = this.#context;
    const { endedWaits } = this.#machine;
    if (endedWaits.length === 0) {
      return NO_ENDED_WAITS;
    }
    for (const { attempt } of endedWaits) {
      core.awaitAt(attempt.memberId, entryIndex(row));
    }
    return endedWaits
      .filter(({ attempt }) => attempt.memberId === memberId && attempt.boot === boot)
      .map(({ attempt, outcome }) => ({ seq: attempt.seq, outcome }));
  }

  /** Syncs the state from time to time, so that the log can be compacted. Applying pauses meanwhile. */
  #syncIfDue(nowMs: number): void {
    const { syncBytes, syncMs } = this.#context.limits;
    const isOld = this.#unsyncedBytes > 0 && nowMs - this.#lastSyncMs >= syncMs;
    const isDue = this.#isSyncWanted || this.#unsyncedBytes >= syncBytes || isOld;
    const isHeld = this.#isSyncing || this.#isResting || this.#isStopped || this.#long !== null;
    if (!isDue || isHeld || !this.#context.state.flush()) {
      return;
    }
    const applied = this.progress.appliedIndex;
    this.#isSyncing = true;
    this.#isSyncWanted = false;
    this.#unsyncedBytes = 0;
    this.#context.state.sync(() => {
      this.#context.statistics.stateSyncs.addMs(this.#context.clock.monotonicMs() - nowMs);
      this.#isSyncing = false;
      if (this.#isStopped) {
        return;
      }
      this.#lastSyncMs = this.#context.clock.monotonicMs();
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
    const { core, log } = this.#context;
    const { compaction, neededFrom } = this.#options;
    const first = compaction.due(this.#durableApplied, neededFrom());
    if (first !== null) {
      const prevTerm = core.entryTerm(first - 1);
      core.onCompacted(first, prevTerm);
      log.compact(first, prevTerm);
      mark("replica.compacted");
    }
  }
}
