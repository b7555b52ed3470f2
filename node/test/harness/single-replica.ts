/**
 * A replica of a founded cluster of one without a log or a disk, for specs of what stands above it: each command goes
 * through the real encoding and the real state machine at once, and read barriers do what the spec tells them.
 */

import { crc32 } from "node:zlib";
import type { HostReplica } from "../../src/api/methods/index.ts";
import { EntryType, encodeEntry, invariant, NO_ORIGIN, sealEntry } from "../../src/raft/index.ts";
import type { ReadDone, ReplicaStatus } from "../../src/replica/index.ts";
import {
  type ClientCommand,
  type CoordinationError,
  DEFAULT_STATE_LIMITS,
  encodeCommand,
  type Outcome,
  readCluster,
  StateMachine,
  type StateReader,
} from "../../src/state/index.ts";
import type { FoundedCluster } from "../index.ts";

type ProposalDone = (error: CoordinationError | null, outcome: Outcome | null) => void;

export class SingleReplica implements HostReplica {
  readonly #cluster: FoundedCluster;
  readonly #machine: StateMachine;
  /** The cluster tick, which the spec moves. */
  tickMs = 1_000;
  /** 0 = this member hears no leader. */
  leaderId = 1;
  /** Commands that were proposed, oldest first. */
  readonly proposed: ClientCommand[] = [];
  /** What becomes of a command, besides being noted: by default it is executed. */
  onPropose: (command: ClientCommand, done: ProposalDone) => void = (command, done) => {
    const outcome = this.execute(command);
    queueMicrotask(() => done(null, outcome));
  };

  constructor(cluster: FoundedCluster) {
    this.#cluster = cluster;
    this.#machine = new StateMachine(cluster.state, (previous, bytes) => crc32(bytes, previous), DEFAULT_STATE_LIMITS);
  }

  get state(): StateReader {
    return this.#cluster.state;
  }

  get revision(): number {
    return this.#machine.progress.revision;
  }

  propose(command: ClientCommand, _deadlineMs: number, done: ProposalDone): void {
    this.proposed.push(command);
    this.onPropose(command, done);
  }

  /** Applies the command as the next entry and returns its outcome. */
  execute(command: ClientCommand): Outcome {
    const envelope = { tickMs: this.tickMs, wallMs: this.#cluster.clock.wallMs(), origin: NO_ORIGIN };
    const entry = encodeEntry(EntryType.Command, envelope, encodeCommand(command));
    sealEntry(entry, 1, this.#machine.progress.appliedIndex + 1, (bytes) => crc32(bytes));
    const outcome = this.#machine.apply(entry, () => invariant(false, "commands change no configuration") as never);
    this.#machine.commit();
    invariant(outcome !== null, "clients' commands have outcomes");
    return outcome;
  }

  readBarrier(deadlineMs: number, done: ReadDone): void {
    this.#cluster.readBarrier(deadlineMs, done);
  }

  status(): ReplicaStatus {
    const { appliedIndex, revision, digest } = this.#machine.progress;
    return {
      memberId: readCluster(this.state)?.members[0]?.id ?? 0,
      role: this.leaderId === 0 ? "follower" : "leader",
      term: 1,
      leaderId: this.leaderId,
      commitIndex: appliedIndex,
      appliedIndex,
      firstIndex: 1,
      lastIndex: appliedIndex,
      revision,
      digest,
      isServing: this.leaderId !== 0,
      loopLagMs: 0,
    };
  }
}
