/**
 * A replica of a founded cluster without a log, a disk or peers, for specs of the layers above. Each entry goes at once
 * through the real encoding, the real state machine and the real rules of configurations. Read barriers do what the
 * spec says. The spec also provides what only a leader with peers can know or do.
 */

import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { HostReplica } from "../../src/api/methods/index.ts";
import { invariant } from "../../src/primitives/index.ts";
import {
  type Configuration,
  changeConfiguration,
  EntryType,
  encodeEntry,
  isJoint,
  NO_CONFIGURATION,
  sealEntry,
} from "../../src/raft/index.ts";
import {
  type ApplyObserver,
  type MemberHealth,
  type MembershipViewDone,
  type ProposalDone,
  type ReadDone,
  RefusedGuards,
  type ReplicaStatus,
  type TransferDone,
} from "../../src/replica/index.ts";
import {
  type ClientRequest,
  type ClusterOperation,
  CoordinationError,
  type CountedReader,
  DEFAULT_STATE_LIMITS,
  encodeCommand,
  encodeMembershipEntry,
  encodeRequest,
  type MembershipEntry,
  type Outcome,
  readCluster,
  StateMachine,
} from "../../src/state/index.ts";
import type { FoundedCluster } from "../index.ts";

/** Entries that change the configuration. */
const CHANGE_TYPES = { "add-slot": EntryType.AddSlot, reconfigure: EntryType.Reconfigure } as const;

export class SingleReplica implements HostReplica {
  readonly #cluster: FoundedCluster;
  readonly #machine: StateMachine;
  readonly #observers = new Set<ApplyObserver>();
  readonly statistics = { refusedGuards: new RefusedGuards() };
  readonly memberId: number;
  /** Number of the last attempt, and the attempts that wait for a lock by number. */
  #seq = 0;
  readonly #queued = new Map<number, ProposalDone>();
  /** The cluster tick, which the spec moves. */
  tickMs = 1_000;
  /** 0 = this member hears no leader. */
  leaderId: number;
  term = 1;
  /** Its lag in applying, in milliseconds. */
  lagMs = 0;
  /** Whether this member has no vote. */
  isLearner = false;
  /** Problems of this member. */
  alarms: readonly string[] = [];
  /** The leader's knowledge of the members. */
  health: readonly MemberHealth[] = [];
  /** Commands that were proposed, oldest first. */
  readonly proposed: ClientRequest[] = [];
  /** Changes of the membership that were proposed, oldest first. */
  readonly changes: MembershipEntry[] = [];
  /** Requested transfers, oldest first. */
  readonly transfers: { readonly targetId: number; readonly ifTerm: number }[] = [];
  /** Called for a command after it was recorded; by default it is executed. */
  onPropose: (command: ClientRequest, done: ProposalDone) => void = (command, done) => {
    const outcome = this.execute(command);
    if (outcome.answer instanceof CoordinationError || outcome.answer.kind !== "queued-lock") {
      queueMicrotask(() => done(null, outcome));
      return;
    }
    // It waits for a lock: the answer comes with another entry.
    this.#queued.set(this.#seq, done);
  };
  /** Called for a change of the membership after it was recorded; by default it is carried out. */
  onProposeMembership: (entry: MembershipEntry, done: ProposalDone) => void = (entry, done) => {
    const outcome = this.change(entry);
    queueMicrotask(() => done(null, outcome));
  };
  /** Called for a query of the membership; by default the answer is the known one. */
  onMembershipView: (done: MembershipViewDone) => void = (done) => {
    const { leaderId, term, commitIndex } = this.status();
    const view = { leaderId, term, commitIndex, changing: isJoint(this.#configuration()), health: this.health };
    queueMicrotask(() => done(null, view));
  };
  /** What the other members answer to questions about themselves, by their ids; the rest cannot be reached. */
  readonly otherMembers = new Map<number, (question: Uint8Array) => Uint8Array | null>();
  readonly memberCalls: HostReplica["memberCalls"] = {
    ask: (peer, question, _deadlineMs, done) => {
      const answer = this.otherMembers.get(peer)?.(question) ?? null;
      const error = answer === null ? new CoordinationError("MEMBER_UNREACHABLE", `member ${peer} is away`) : null;
      queueMicrotask(() => done(error, answer));
    },
  };
  /** Called for a transfer after it was recorded; by default the target leads the next term. */
  onTransfer: (targetId: number, done: TransferDone) => void = (targetId, done) => {
    this.leaderId = targetId;
    this.term++;
    const leader = { id: this.leaderId, term: this.term };
    queueMicrotask(() => done(null, leader));
  };

  constructor(cluster: FoundedCluster) {
    this.#cluster = cluster;
    this.#machine = new StateMachine(cluster.state, (previous, bytes) => crc32(bytes, previous), DEFAULT_STATE_LIMITS);
    this.memberId = readCluster(cluster.state)?.members[0]?.id ?? 0;
    this.leaderId = this.memberId;
  }

  get state(): CountedReader {
    return this.#cluster.state;
  }

  /** Number of observers of applied entries. */
  get observers(): number {
    return this.#observers.size;
  }

  get revision(): number {
    return this.#machine.progress.revision;
  }

  observe(listener: ApplyObserver): () => void {
    this.#observers.add(listener);
    return () => this.#observers.delete(listener);
  }

  propose(command: ClientRequest, _deadlineMs: number, done: ProposalDone): () => void {
    this.proposed.push(command);
    this.onPropose(command, done);
    const { principal, request } = command;
    const attempt = { memberId: this.memberId, boot: 1, seq: this.#seq };
    return () => {
      const { subject } = principal;
      if (request === null) {
        return;
      }
      this.lead({ kind: "cancel-acquisition", subject, requestId: request.requestId, attempt });
      this.#queued.delete(attempt.seq);
    };
  }

  proposeMembership(entry: MembershipEntry, _deadlineMs: number, done: ProposalDone): void {
    this.changes.push(entry);
    this.onProposeMembership(entry, done);
  }

  proposeClusterOperation(operation: ClusterOperation, _deadlineMs: number, done: ProposalDone): void {
    const outcome = this.lead(operation);
    queueMicrotask(() => done(null, outcome));
  }

  membershipView(_deadlineMs: number, done: MembershipViewDone): void {
    this.onMembershipView(done);
  }

  transferLeadership(targetId: number, ifTerm: number, _deadlineMs: number, done: TransferDone): void {
    this.transfers.push({ targetId, ifTerm });
    this.onTransfer(targetId, done);
  }

  /** Applies the command as the next entry and returns its outcome. */
  execute(command: ClientRequest): Outcome {
    const { payload } = encodeRequest(command, (bytes) => hash("sha256", bytes, "buffer"));
    const outcome = this.#apply(EntryType.Command, payload);
    invariant(outcome !== null, "clients' commands have outcomes");
    return outcome;
  }

  /** Applies an operation that the cluster proposes itself. */
  lead(operation: ClusterOperation): Outcome | null {
    return this.#apply(EntryType.Command, encodeCommand({ principal: null, request: null, operation }));
  }

  /** Applies the change as the next entry, ends a joint configuration, and returns the outcome of the change. */
  change(entry: MembershipEntry): Outcome {
    const outcome = this.#apply(CHANGE_TYPES[entry.operation.kind], encodeMembershipEntry(entry));
    invariant(outcome !== null, "changes have outcomes");
    if (isJoint(this.#configuration())) {
      this.#apply(EntryType.Leave, new Uint8Array(0));
    }
    return outcome;
  }

  readBarrier(deadlineMs: number, done: ReadDone): void {
    this.#cluster.readBarrier(deadlineMs, done);
  }

  status(): ReplicaStatus {
    const { appliedIndex, revision, digest } = this.#machine.progress;
    const { memberId, leaderId, term, isLearner, alarms } = this;
    return {
      memberId,
      leaderId,
      term,
      isLearner,
      alarms,
      role: leaderId === memberId ? "leader" : "follower",
      commitIndex: appliedIndex,
      appliedIndex,
      firstIndex: 1,
      lastIndex: appliedIndex,
      lastTerm: appliedIndex === 0 ? 0 : term,
      revision,
      digest,
      isServing: leaderId !== 0,
      lagMs: this.lagMs,
      loopLagMs: 0,
    };
  }

  #configuration(): Configuration {
    return readCluster(this.state)?.configuration ?? NO_CONFIGURATION;
  }

  #apply(type: EntryType, payload: Uint8Array): Outcome | null {
    this.#seq++;
    const origin = { memberId: this.memberId, boot: 1, seq: this.#seq };
    const envelope = { tickMs: this.tickMs, wallMs: this.#cluster.clock.wallMs(), origin };
    const entry = encodeEntry(type, envelope, payload);
    sealEntry(entry, 1, this.#machine.progress.appliedIndex + 1, (bytes) => crc32(bytes));
    const outcome = this.#machine.apply(entry, (index, change, expectIndex) =>
      changeConfiguration(this.#configuration(), index, change, expectIndex),
    );
    this.#machine.commit();
    this.statistics.refusedGuards.onApplied(entry, outcome);
    for (const settled of this.#machine.endedWaits) {
      const { seq } = settled.attempt;
      this.#queued.get(seq)?.(null, settled.outcome);
      this.#queued.delete(seq);
    }
    for (const listener of this.#observers) {
      listener([{ row: entry, seq: 0, outcome, endedWaits: [] }]);
    }
    return outcome;
  }
}
