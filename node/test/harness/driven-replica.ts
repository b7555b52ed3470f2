/**
 * A real replica of a cluster of one, over a fake clock and stores in memory: deterministic, and without real waits.
 *
 * It begins in the state after a founding: entry 1 in the log and nothing applied. Calls record their answers, so that
 * a spec sees which callers got which answers, and in which order.
 */

import { crc32 } from "node:zlib";
import { invariant } from "../../src/primitives/index.ts";
import { EntryType, encodeEntry, NO_PROPOSAL_ORIGIN, sealEntry } from "../../src/raft/index.ts";
import { DEFAULT_REPLICA_LIMITS, Replica, type ReplicaLimits, type Transport } from "../../src/replica/index.ts";
import {
  CLUSTER_VERSION,
  type ClientCommand,
  type ClientOperation,
  CoordinationError,
  encodeFounding,
  getKey,
  type Outcome,
  type RequestIdentity,
  readProgress,
  type StoredKey,
} from "../../src/state/index.ts";
import { FOUNDING, OWNER, putOf, requestOf } from "../index.ts";
import { FakeTime } from "./fake-time.ts";
import { MemoryDriverState } from "./memory-driver-state.ts";
import { MemoryLogStore } from "./memory-log-store.ts";

/** A call and its outcome. */
export interface DrivenCall {
  readonly name: string;
  error: CoordinationError | null;
  outcome: Outcome | null;
  /** 0 = open, else the position of the answer among all answers. */
  answered: number;
}

/** The outcome of a call, in a word: `open`, `done`, the reason of a refusal, or an error's reason and outcome. */
export function resultOf({ answered, error, outcome }: DrivenCall): string {
  if (answered === 0) {
    return "open";
  }
  if (error !== null) {
    return `${error.reason} ${error.outcome}`;
  }
  const answer = outcome?.answer;
  return answer instanceof CoordinationError ? answer.reason : "done";
}

/** Far enough for all answers. */
const DEADLINE_MS = 30_000;

/** The connections of a member that has no peers. */
const NOBODY_ELSE: Transport = {
  isConnected: () => false,
  send: () => invariant(false, "the only member has no peers") as never,
  flush: () => undefined,
  openSnapshot: () => invariant(false, "the only member has no peer for its state") as never,
};

export class DrivenReplica {
  readonly time = new FakeTime();
  readonly log = new MemoryLogStore(this.time);
  readonly state = new MemoryDriverState(this.time);
  readonly limits: ReplicaLimits;
  /** Role changes that were reported. */
  readonly roles: string[] = [];
  /** All calls that were answered, in that order. */
  readonly answered: DrivenCall[] = [];
  /** How often the replica reported that the process must end because a write does not. */
  diskStuck = 0;
  replica: Replica;
  #boot = 0;
  #requests = 0x4000_0000;

  constructor(limits: Partial<ReplicaLimits> = {}) {
    this.limits = { ...DEFAULT_REPLICA_LIMITS, ...limits };
    const entry = encodeEntry(
      EntryType.Bootstrap,
      { tickMs: 0, wallMs: this.time.wallMs(), origin: NO_PROPOSAL_ORIGIN },
      encodeFounding(FOUNDING),
    );
    sealEntry(entry, 1, 1, crc32);
    this.log.write(
      { writeSeq: 1, term: 1, vote: 1, commit: 1, from: 1, rows: [entry], resetTo: null },
      () => undefined,
    );
    this.log.flush();
    this.replica = this.#start();
  }

  /** A founded cluster that has elected itself and come to rest. */
  static leading(limits: Partial<ReplicaLimits> = {}): DrivenReplica {
    const driven = new DrivenReplica(limits);
    driven.time.drain();
    invariant(driven.replica.status().isServing, "a sole voter leads without waiting");
    return driven;
  }

  /** Kills the process and starts another: the durable log and the whole state remain. */
  restart(): void {
    this.replica.stop();
    this.log.crash();
    this.state.crash();
    this.replica = this.#start();
  }

  /** Puts a value, by default under a request id of its own and with enough time. */
  put(
    key: string,
    value: string,
    options: {
      readonly deadlineMs?: number;
      readonly ttlSeconds?: number;
      readonly request?: RequestIdentity;
      readonly onAnswer?: () => void;
    } = {},
  ): DrivenCall {
    return this.execute(putOf(key, value, { ttlSeconds: options.ttlSeconds ?? 0 }), `put ${key}`, options);
  }

  execute(
    operation: ClientOperation,
    name: string = operation.kind,
    options: {
      readonly deadlineMs?: number;
      readonly request?: RequestIdentity;
      readonly onAnswer?: () => void;
    } = {},
  ): DrivenCall {
    const call: DrivenCall = { name, error: null, outcome: null, answered: 0 };
    const command: ClientCommand = {
      principal: OWNER,
      request: options.request ?? requestOf(this.#requests++),
      operation,
    };
    this.replica.propose(command, this.deadline(options.deadlineMs), (error, outcome) => {
      this.#answer(call, error, outcome);
      options.onAnswer?.();
    });
    return call;
  }

  /** Requests a read barrier; `onRead` reads in the turn in which it passes. */
  read(options: { readonly deadlineMs?: number; readonly onRead?: () => void } = {}): DrivenCall {
    const call: DrivenCall = { name: "read", error: null, outcome: null, answered: 0 };
    this.replica.readBarrier(this.deadline(options.deadlineMs), (error) => {
      this.#answer(call, error, null);
      if (error === null) {
        options.onRead?.();
      }
    });
    return call;
  }

  /** The key as the state has it now; undefined if there is none. */
  stored(key: string): StoredKey | undefined {
    try {
      return getKey(this.replica.state, "default", Buffer.from(key));
    } catch (error) {
      if (error instanceof CoordinationError && error.reason === "KEY_NOT_FOUND") {
        return undefined;
      }
      throw error;
    }
  }

  /** A time of the clock, this many milliseconds from now. */
  deadline(milliseconds: number = DEADLINE_MS): number {
    return this.time.monotonicMs() + milliseconds;
  }

  #answer(call: DrivenCall, error: CoordinationError | null, outcome: Outcome | null): void {
    invariant(call.answered === 0, "a call is answered once", () => call.name);
    this.answered.push(call);
    Object.assign(call, { error, outcome, answered: this.answered.length });
  }

  #start(): Replica {
    this.#boot++;
    const { commit } = this.log.durable;
    return new Replica({
      ...this.log.durable,
      // Applied entries were committed, even if the log did not learn that before the end.
      commit: Math.max(commit, readProgress(this.state).appliedIndex),
      memberId: 1,
      boot: this.#boot,
      log: this.log,
      state: this.state,
      clock: this.time,
      scheduler: this.time,
      limits: this.limits,
      clusterId: FOUNDING.clusterId,
      clusterVersionMax: CLUSTER_VERSION,
      damaged: false,
      transport: NOBODY_ELSE,
      onRole: (role, term, leader) => this.roles.push(`${role} ${term} ${leader}`),
      onMembers: () => undefined,
      onLoss: (reason) => invariant(false, "a sole member loses nothing", () => reason),
      onDiverged: (reason) => invariant(false, "a sole member is the cluster", () => reason),
      onDataRecovered: () => invariant(false, "a whole member has nothing to heal"),
      onDiskCritical: () => undefined,
      onDiskStuck: () => {
        this.diskStuck++;
      },
    });
  }
}
