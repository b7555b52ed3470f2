/**
 * The driver of one member: feeds the consensus core, writes what it hands out, applies what is committed, answers.
 *
 * Everything happens in turns of the event loop. A turn takes what arrived since the last one (acknowledged writes,
 * due ticks, proposals, reads), drains the core once, and starts what follows from it; nothing in a turn waits, and no
 * promise is made per command. While one log write is in flight the next collects what arrives (group commit). Applying
 * goes on in slices of its own, bounded by count, bytes and time (S44).
 *
 * The log, the state and the clocks are passed in, so the simulator can run this file unchanged.
 */

import { crc32 } from "node:zlib";
import {
  type CoreLimits,
  EntryType,
  encodeEntry,
  entryEnvelope,
  entryIndex,
  invariant,
  mark,
  NO_CONFIGURATION,
  RaftCore,
  type Role,
} from "../raft/index.ts";
import {
  type ClientCommand,
  type Command,
  CoordinationError,
  encodeCommand,
  type Outcome,
  readCluster,
  type StateLimits,
  StateMachine,
  type StateReader,
  type StateStore,
} from "../state/index.ts";
import type { LogStore } from "../storage/index.ts";
import type { Clock, Scheduler } from "./clock.ts";
import { ClusterTick } from "./cluster-tick.ts";
import { Compaction, type CompactionLimits } from "./compaction.ts";
import { dueMaintenance, type MaintenanceLimits } from "./maintenance.ts";
import { PendingReads, type ReadDone } from "./pending-reads.ts";
import { seededRandom } from "./random.ts";
import { deadlineError, type ProposalDone, type Waiter, Waiters } from "./waiters.ts";

export interface ReplicaLimits {
  readonly core: CoreLimits;
  readonly state: StateLimits;
  readonly compaction: CompactionLimits;
  readonly maintenance: MaintenanceLimits;
  /** Calls that wait at this member, held ones included. */
  readonly waitersMax: number;
  /** Commands, and bytes of them, handed to the core in one turn. */
  readonly proposalsPerTurn: number;
  readonly proposalBytesPerTurn: number;
  /** Bounds of one apply slice: entries, bytes of rows, milliseconds. */
  readonly sliceEntries: number;
  readonly sliceBytes: number;
  readonly sliceMs: number;
  /** The state is made durable after this many bytes applied, or milliseconds, whichever comes first. */
  readonly syncBytes: number;
  readonly syncMs: number;
}

/** The state store of a driver: one that can also say that a batch now would block. */
export interface DriverStateStore extends StateStore {
  readonly isStalled: boolean;
}

export interface ReplicaOptions {
  readonly memberId: number;
  /** Number of this start of the data directory. */
  readonly boot: number;
  readonly term: number;
  readonly vote: number;
  readonly commit: number;
  readonly writeSeq: number;
  readonly bounds: {
    readonly first: number;
    readonly prevTerm: number;
    readonly last: number;
    readonly lastTerm: number;
  };
  readonly log: LogStore;
  readonly state: DriverStateStore;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly limits: ReplicaLimits;
  /** Called in a turn of its own when role, term or leader changed. */
  readonly onRole: (role: Role, term: number, leaderId: number) => void;
}

export interface ReplicaStatus {
  readonly memberId: number;
  readonly role: Role;
  readonly term: number;
  /** 0 if unknown. */
  readonly leaderId: number;
  readonly commitIndex: number;
  readonly appliedIndex: number;
  readonly firstIndex: number;
  readonly lastIndex: number;
  readonly revision: number;
  /** Running digest of all applied changes. */
  readonly digest: number;
  /** Whether this member can answer linearizable reads now. */
  readonly isServing: boolean;
  /** Milliseconds that the event loop was late at the last tick. */
  readonly loopLagMs: number;
}

/** Milliseconds between two ticks of the core. */
const TICK_MS = 50;
/** After a stall no more than this many ticks are made up for: fewer than an election timeout. */
const CATCH_UP_TICKS_MAX = 19;
/** How long a proposal of the leader itself may wait; it is proposed again when still due. */
const MAINTENANCE_DEADLINE_MS = 60_000;

interface Proposal {
  readonly waiter: Waiter;
  readonly command: Uint8Array;
}

export class Replica {
  readonly #options: ReplicaOptions;
  readonly #limits: ReplicaLimits;
  readonly #clock: Clock;
  readonly #core: RaftCore;
  readonly #machine: StateMachine;
  readonly #waiters = new Waiters();
  readonly #reads: PendingReads;
  readonly #tick: ClusterTick;
  readonly #compaction: Compaction;
  readonly #stopTimer: () => void;

  #turnArmed = false;
  #applyArmed = false;
  #stopped = false;
  #durableSeq = 0;
  #writing = false;
  #proposals: Proposal[] = [];

  #lastTickMs: number;
  #ticksDue = 0;
  #loopLagMs = 0;

  /** Last index that may be applied. */
  #applyTo: number;
  #syncing = false;
  #unsyncedBytes = 0;
  #lastSyncMs: number;
  #durableApplied: number;
  #maintaining = false;

  constructor(options: ReplicaOptions) {
    const { memberId, boot, state, limits, clock } = options;
    this.#options = options;
    this.#limits = limits;
    this.#clock = clock;
    this.#machine = new StateMachine(state, (previous, bytes) => crc32(bytes, previous), limits.state);
    const { appliedIndex, tickMs } = this.#machine.progress;
    const random = seededRandom(memberId * 0x10001 + boot);
    this.#core = new RaftCore({
      id: memberId,
      boot,
      term: options.term,
      vote: options.vote,
      commit: options.commit,
      log: options.bounds,
      configuration: readCluster(state)?.configuration ?? NO_CONFIGURATION,
      applied: appliedIndex,
      writeSeq: options.writeSeq,
      limits: limits.core,
      random,
      reader: options.log,
      checksum: crc32,
    });
    this.#core.setFitness({ mayVote: true, mayLead: true, damaged: false, diskFull: false });
    this.#reads = new PendingReads();
    this.#tick = new ClusterTick(clock, tickMs);
    this.#compaction = new Compaction(limits.compaction, options.bounds.first, appliedIndex, random(1000) / 1000);
    this.#applyTo = appliedIndex;
    // What was applied before this start is in a write-ahead log that the next state sync makes durable.
    this.#durableApplied = options.bounds.first - 1;
    this.#lastTickMs = clock.monotonicMs();
    this.#lastSyncMs = this.#lastTickMs;
    this.#stopTimer = options.scheduler.every(TICK_MS, () => this.#onTimer());
    this.#arm();
  }

  /** The state as of the last applied slice. */
  get state(): StateReader {
    return this.#options.state;
  }

  /** Revision of the state as of the last applied slice. */
  get revision(): number {
    return this.#machine.progress.revision;
  }

  /** The greatest cluster tick that this member knows, in milliseconds. */
  get tickMs(): number {
    return this.#tick.nowMs;
  }

  status(): ReplicaStatus {
    const core = this.#core;
    const { appliedIndex, revision, digest } = this.#machine.progress;
    return {
      memberId: this.#options.memberId,
      role: core.role,
      term: core.term,
      leaderId: core.leader,
      commitIndex: core.commitIndex,
      appliedIndex,
      firstIndex: core.firstIndex,
      lastIndex: core.lastIndex,
      revision,
      digest,
      isServing: !this.#stopped && core.isSettledLeader,
      loopLagMs: this.#loopLagMs,
    };
  }

  /**
   * Logs the command and calls `done` with its outcome once it is applied, exactly once, never before this returns.
   * `deadlineMs` is a time of the monotonic clock. Errors: UNAVAILABLE (NO_LEADER, OVERLOADED, SHUTTING_DOWN) with
   * outcome `not-executed` unless it says otherwise; DEADLINE_EXCEEDED, outcome `unknown`.
   */
  propose(command: ClientCommand, deadlineMs: number, done: ProposalDone): void {
    const isLate = deadlineMs <= this.#clock.monotonicMs();
    const refusal = this.#refusalNow() ?? (isLate ? deadlineError() : null);
    if (refusal !== null) {
      this.#options.scheduler.immediate(() => done(refusal, null));
      return;
    }
    this.#enqueue(command, deadlineMs, done);
  }

  /**
   * Calls `done` once every write that was acknowledged anywhere before this call is in `state`; read in that same
   * callback. Errors as for `propose`, all `not-executed`.
   */
  readBarrier(deadlineMs: number, done: ReadDone): void {
    const refusal = this.#refusalNow();
    if (refusal !== null) {
      this.#options.scheduler.immediate(() => done(refusal));
      return;
    }
    this.#reads.add(this.#clock.monotonicMs(), deadlineMs, done);
    this.#arm();
  }

  /** Stops all work and answers who still waits. The stores may be closed afterwards. */
  stop(): void {
    this.#stopped = true;
    this.#stopTimer();
    this.#proposals = [];
    this.#waiters.refuseAll();
    this.#reads.refuseAll(new CoordinationError("SHUTTING_DOWN", "this member is shutting down"));
  }

  #refusalNow(): CoordinationError | null {
    if (this.#stopped) {
      return new CoordinationError("SHUTTING_DOWN", "this member is shutting down");
    }
    if (this.#waiters.size + this.#reads.size >= this.#limits.waitersMax) {
      return new CoordinationError(
        "OVERLOADED",
        `${this.#limits.waitersMax} calls wait at this member already; send fewer at once`,
      );
    }
    return null;
  }

  #enqueue(command: Command, deadlineMs: number, done: ProposalDone): void {
    const waiter = this.#waiters.add(this.#clock.monotonicMs(), deadlineMs, done);
    this.#proposals.push({ waiter, command: encodeCommand(command) });
    this.#arm();
  }

  #arm(): void {
    if (!this.#turnArmed && !this.#stopped) {
      this.#turnArmed = true;
      this.#options.scheduler.immediate(() => this.#turn());
    }
  }

  #onTimer(): void {
    // Ticks are only counted here and consumed in a turn, after another poll of the sockets (P55).
    const nowMs = this.#clock.monotonicMs();
    const elapsedMs = nowMs - this.#lastTickMs;
    const ticks = Math.floor(elapsedMs / TICK_MS);
    this.#loopLagMs = Math.max(0, elapsedMs - TICK_MS);
    this.#lastTickMs += ticks * TICK_MS;
    this.#ticksDue = Math.min(this.#ticksDue + ticks, CATCH_UP_TICKS_MAX);
    this.#arm();
  }

  #turn(): void {
    this.#turnArmed = false;
    if (this.#stopped) {
      return;
    }
    if (this.#durableSeq > 0) {
      const writeSeq = this.#durableSeq;
      this.#durableSeq = 0;
      this.#core.onAppendDurable(writeSeq);
    }
    const ticked = this.#ticksDue > 0;
    for (; this.#ticksDue > 0; this.#ticksDue--) {
      this.#core.tick();
    }
    this.#proposeWaiting();
    if (this.#core.role === "leader" && this.#reads.hasUnasked) {
      this.#reads.asked(this.#core.readIndex());
    }
    if (ticked) {
      this.#afterTicks();
    }
    this.#drain();
  }

  /** What is due now and then; after the proposals, so that nobody is held who need not be. */
  #afterTicks(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#waiters.expire(nowMs, nowMs + TICK_MS, () => this.#heldReason());
    this.#reads.expire(nowMs, nowMs + TICK_MS, () => this.#heldReason());
    this.#proposals = this.#proposals.filter(({ waiter }) => this.#waiters.has(waiter));
    this.#maintain();
    this.#syncIfDue(nowMs);
    this.#armApply();
  }

  /** Why calls are held back at the moment, as the refusal of those that have waited long enough. */
  #heldReason(): CoordinationError {
    if (this.#core.role === "leader") {
      return new CoordinationError("OVERLOADED", "this member cannot keep up with the writes; try again later");
    }
    return new CoordinationError("NO_LEADER", "the cluster has no leader at the moment");
  }

  #proposeWaiting(): void {
    const { proposalsPerTurn, proposalBytesPerTurn } = this.#limits;
    if (this.#proposals.length === 0 || this.#core.role !== "leader") {
      return;
    }
    const envelopeTick = this.#tick.nowMs;
    const wallMs = this.#clock.wallMs();
    const { memberId, boot } = this.#options;
    const rows: Uint8Array[] = [];
    let bytes = 0;
    let taken = 0;
    for (const { waiter, command } of this.#proposals) {
      if (taken === proposalsPerTurn || (rows.length > 0 && bytes + command.length > proposalBytesPerTurn)) {
        break;
      }
      taken++;
      if (this.#waiters.has(waiter)) {
        const origin = { memberId, boot, seq: waiter.seq };
        rows.push(encodeEntry(EntryType.Command, { tickMs: envelopeTick, wallMs, origin }, command));
        bytes += command.length;
      }
    }
    if (rows.length > 0) {
      const accepted = this.#core.propose(rows);
      if (typeof accepted === "string") {
        // Nothing was appended; the calls stay where they are until there is room or their time is up.
        mark("replica.propose.held");
        return;
      }
    }
    for (const { waiter } of this.#proposals.slice(0, taken)) {
      waiter.handedOut = true;
    }
    this.#proposals = this.#proposals.slice(taken);
    if (this.#proposals.length > 0) {
      this.#arm();
    }
  }

  #drain(): void {
    const effects = this.#core.drain(!this.#writing);
    invariant(effects.messages.length === 0, "the only member has nobody to talk to");
    if (effects.append !== null) {
      this.#writing = true;
      this.#options.log.write(effects.append, (writeSeq) => {
        this.#writing = false;
        this.#durableSeq = writeSeq;
        this.#arm();
      });
    }
    if (effects.apply !== null) {
      this.#applyTo = effects.apply.to;
      this.#armApply();
    }
    if (effects.readsLostUpTo > 0) {
      this.#reads.lost(effects.readsLostUpTo);
    }
    if (effects.reads !== null) {
      this.#reads.confirmed(effects.reads.position, effects.reads.index);
      this.#reads.serve(this.#machine.progress.appliedIndex);
    }
    if (effects.role !== null) {
      this.#onRole(effects.role.role, effects.role.term, effects.role.leader);
    }
  }

  #onRole(role: Role, term: number, leader: number): void {
    if (role === "leader") {
      this.#tick.start();
    } else {
      this.#tick.stop();
      this.#campaignIfAlone();
    }
    this.#options.scheduler.immediate(() => this.#options.onRole(role, term, leader));
  }

  /** A sole voter has nobody to wait for: it is elected as soon as it has applied what it knows as committed. */
  #campaignIfAlone(): void {
    const { voters } = this.#core.configuration;
    const alone = voters.length === 1 && voters[0] === this.#options.memberId;
    if (alone && this.#core.role === "follower" && this.#core.campaign()) {
      this.#arm();
    }
  }

  #armApply(): void {
    const isBehind = this.#machine.progress.appliedIndex < this.#applyTo;
    if (isBehind && !this.#applyArmed && !this.#syncing && !this.#stopped) {
      this.#applyArmed = true;
      this.#options.scheduler.immediate(() => this.#applySlice());
    }
  }

  #applySlice(): void {
    this.#applyArmed = false;
    if (this.#stopped || this.#syncing || this.#options.state.isStalled) {
      // A stalled store would block the loop; the next tick looks again.
      return;
    }
    const { sliceEntries, sliceBytes, sliceMs } = this.#limits;
    const startedMs = this.#clock.monotonicMs();
    const from = this.#machine.progress.appliedIndex + 1;
    const to = Math.min(this.#applyTo, from + sliceEntries - 1);
    const answers: { readonly seq: number; readonly outcome: Outcome | null }[] = [];
    let bytes = 0;
    let applied = from - 1;
    for (const row of this.#core.entries(from, to, sliceBytes)) {
      const outcome = this.#applyRow(row);
      const { origin, tickMs } = entryEnvelope(row);
      this.#tick.observe(tickMs);
      if (origin.memberId === this.#options.memberId && origin.boot === this.#options.boot) {
        answers.push({ seq: origin.seq, outcome });
      }
      bytes += row.length;
      applied++;
      if (this.#clock.monotonicMs() - startedMs > sliceMs) {
        break;
      }
    }
    this.#machine.commit();
    this.#core.onApplied(applied, bytes);
    this.#compaction.onApplied(applied, bytes);
    this.#unsyncedBytes += bytes;
    mark("replica.answers.before");
    for (const { seq, outcome } of answers) {
      this.#waiters.answer(seq, outcome);
    }
    mark("replica.answers.after");
    this.#reads.serve(applied);
    this.#campaignIfAlone();
    this.#syncIfDue(this.#clock.monotonicMs());
    this.#armApply();
    this.#arm();
  }

  #applyRow(row: Uint8Array): Outcome | null {
    return this.#machine.apply(row, (index, change, expectIndex) => {
      invariant(index === entryIndex(row), "a configuration applies at its own entry");
      return this.#core.applyConfiguration(index, change, expectIndex);
    });
  }

  /** Makes the state durable now and then, so that the log can be shortened. Applying pauses meanwhile. */
  #syncIfDue(nowMs: number): void {
    const { syncBytes, syncMs } = this.#limits;
    const isDue = this.#unsyncedBytes >= syncBytes || nowMs - this.#lastSyncMs >= syncMs;
    if (!isDue || this.#unsyncedBytes === 0 || this.#syncing || this.#stopped) {
      return;
    }
    const applied = this.#machine.progress.appliedIndex;
    this.#syncing = true;
    this.#unsyncedBytes = 0;
    this.#options.state.sync(() => {
      this.#syncing = false;
      this.#lastSyncMs = this.#clock.monotonicMs();
      this.#durableApplied = applied;
      this.#compactIfDue();
      this.#armApply();
    });
  }

  #compactIfDue(): void {
    const first = this.#compaction.due(this.#durableApplied);
    if (first !== null) {
      const prevTerm = this.#core.entryTerm(first - 1);
      this.#core.onCompacted(first, prevTerm);
      this.#options.log.compact(first, prevTerm);
      mark("replica.compacted");
    }
  }

  #maintain(): void {
    if (this.#maintaining || !this.#core.isSettledLeader) {
      return;
    }
    const { state } = this.#options;
    const { progress } = this.#machine;
    const operation = dueMaintenance(state, progress, this.#tick.nowMs, this.#limits.maintenance);
    if (operation === null) {
      return;
    }
    this.#maintaining = true;
    const deadlineMs = this.#clock.monotonicMs() + MAINTENANCE_DEADLINE_MS;
    this.#enqueue({ principal: null, request: null, operation }, deadlineMs, () => {
      this.#maintaining = false;
      if (!this.#stopped) {
        this.#maintain();
      }
    });
  }
}
