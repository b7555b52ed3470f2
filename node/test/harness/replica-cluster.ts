/**
 * Several real replicas over one fake clock, stores and connections in memory: deterministic, and without real waits.
 *
 * It begins with three members that were founded and promoted earlier and start again: the same log, nothing applied.
 * Calls record their answers. A violation of a rule in any of the replicas ends the spec.
 */

import { crc32 } from "node:zlib";
import { invariant } from "../../src/primitives/index.ts";
import {
  type AppendEffect,
  EntryType,
  encodeEntry,
  entryEnvelope,
  entryIndex,
  entryTerm,
  NO_PROPOSAL_ORIGIN,
  sealEntry,
} from "../../src/raft/index.ts";
import {
  DEFAULT_REPLICA_LIMITS,
  type MembershipView,
  Replica,
  type ReplicaLimits,
  type ReplicaOptions,
} from "../../src/replica/index.ts";
import {
  CLUSTER_VERSION,
  type ClientOperation,
  type ClusterOperation,
  CoordinationError,
  encodeCommand,
  encodeFounding,
  encodeMembershipEntry,
  getKey,
  type MemberAddress,
  type MembershipOperation,
  type RequestIdentity,
  readProgress,
} from "../../src/state/index.ts";
import { FOUNDING, OWNER, putOf, requestOf } from "../index.ts";
import { type DrivenCall, resultOf } from "./driven-replica.ts";
import { FakeTime } from "./fake-time.ts";
import { MemoryDriverState } from "./memory-driver-state.ts";
import { MemoryLogStore } from "./memory-log-store.ts";
import { MemoryNetwork } from "./memory-network.ts";

/** The data of a member that survives its processes. */
interface Directory {
  readonly log: MemoryLogStore;
  readonly state: MemoryDriverState;
  boots: number;
}

/** The running or last process of a member. */
interface ClusterNode {
  readonly id: number;
  readonly log: MemoryLogStore;
  readonly state: MemoryDriverState;
  readonly replica: Replica;
  isRunning: boolean;
  /** Reports of the replica: `members`, `healed`, `disk critical`, `disk stuck`, `loss`. */
  readonly callbacks: string[];
}

/** A query for the members, and its outcome. */
interface ViewCall {
  error: CoordinationError | null;
  view: MembershipView | null;
}

/** A requested transfer, and its outcome. */
interface TransferCall {
  error: CoordinationError | null;
  leader: { readonly id: number; readonly term: number } | null;
}

const DEADLINE_MS = 30_000;
const STEP_MS = 10;
const ADDRESS: MemberAddress = { peerEndpoint: "h:1", grpcEndpoint: "h:2", httpEndpoint: "h:3" };

/** The log of a cluster whose voters are the members 1, 2 and 3. */
function foundedRows(): Uint8Array[] {
  const reconfigure = (operation: MembershipOperation): Uint8Array =>
    encodeMembershipEntry({ subject: "spec", request: null, expectIndex: 0, operation });
  const claim = (id: number): Uint8Array => {
    const incarnation = new Uint8Array(16).fill(id);
    const operation: ClusterOperation = { kind: "claim-slot", name: `member-${id}`, incarnation, address: ADDRESS };
    return encodeCommand({ principal: null, request: null, operation });
  };
  const entries: readonly (readonly [EntryType, Uint8Array])[] = [
    [EntryType.Bootstrap, encodeFounding(FOUNDING)],
    [EntryType.AddSlot, reconfigure({ kind: "add-slot", name: "member-2" })],
    [EntryType.AddSlot, reconfigure({ kind: "add-slot", name: "member-3" })],
    [EntryType.Command, claim(2)],
    [EntryType.Command, claim(3)],
    [EntryType.Reconfigure, reconfigure({ kind: "reconfigure", promote: [2, 3], demote: [], remove: [] })],
    [EntryType.Leave, new Uint8Array(0)],
  ];
  return entries.map(([type, payload], at) => {
    const row = encodeEntry(type, { tickMs: 0, wallMs: 1_750_000_000_000, origin: NO_PROPOSAL_ORIGIN }, payload);
    sealEntry(row, 1, at + 1, crc32);
    return row;
  });
}

export class ReplicaCluster {
  readonly time = new FakeTime();
  readonly network = new MemoryNetwork(this.time);
  readonly limits: ReplicaLimits;
  readonly nodes = new Map<number, ClusterNode>();
  readonly #directories = new Map<number, Directory>();
  #answers = 0;
  #requests = 0x2000_0000;

  constructor(limits: Partial<ReplicaLimits> = {}) {
    this.limits = { ...DEFAULT_REPLICA_LIMITS, ...limits };
    const rows = foundedRows();
    for (const id of [1, 2, 3]) {
      this.#write(id, 0, { writeSeq: 1, term: 1, vote: 1, commit: rows.length, from: 1, rows, resetTo: null });
      this.start(id);
    }
  }

  /** Members 1, 2 and 3, led by this one. */
  static ledBy(id: number, limits: Partial<ReplicaLimits> = {}): ReplicaCluster {
    const cluster = new ReplicaCluster(limits);
    cluster.leadBy(id);
    return cluster;
  }

  // ---- Members ----

  node(id: number): ClusterNode {
    const node = this.nodes.get(id);
    invariant(node !== undefined, "the cluster has that member", () => String(id));
    return node;
  }

  replica(id: number): Replica {
    return this.node(id).replica;
  }

  /** The member that reports that it leads; of several, the one of the newest term. */
  get leader(): number {
    const leaders = [...this.nodes.values()]
      .filter(({ isRunning, replica }) => isRunning && replica.status().role === "leader")
      .sort((one, other) => other.replica.status().term - one.replica.status().term);
    return leaders[0]?.id ?? 0;
  }

  /** Makes the member leader, by a transfer if another one leads. */
  leadBy(id: number): void {
    this.until("a leader", () => this.leader !== 0 && this.replica(this.leader).status().isServing);
    if (this.leader !== id) {
      const call = this.transfer(this.leader, id);
      this.until(`member ${id} leads`, () => call.leader?.id === id);
    }
    this.until("all members serve", () =>
      [...this.nodes.values()].every(({ isRunning, replica }) => !isRunning || replica.status().isServing),
    );
  }

  /** Kills the process: its calls are over, durable data stays. */
  kill(id: number): void {
    const node = this.node(id);
    node.isRunning = false;
    this.network.detach(id);
    node.replica.stop();
    node.log.crash();
    node.state.crash();
  }

  /** Starts the member again, as a process that has found `damaged` data or not. */
  start(id: number, options: { readonly damaged?: boolean } = {}): void {
    const directory = this.#directories.get(id);
    invariant(directory !== undefined, "a member has a directory", () => String(id));
    directory.boots++;
    const { log, state, boots } = directory;
    const damaged = options.damaged ?? false;
    const callbacks: string[] = [];
    const replica = new Replica(this.#optionsOf(id, directory, damaged, callbacks));
    this.nodes.set(id, { id, log, state, replica, isRunning: true, callbacks });
    this.network.attach(id, replica, boots, damaged);
  }

  /** The stopped member loses its log and state, but its vote is still known. */
  loseData(id: number): void {
    const boots = this.#directories.get(id)?.boots ?? 0;
    const { term, vote, writeSeq } = this.node(id).log.durable;
    this.#write(id, boots, { writeSeq: writeSeq + 1, term, vote, commit: 0, from: 1, rows: [], resetTo: null });
  }

  /** The number of the running or last start. */
  boot(id: number): number {
    return this.#directories.get(id)?.boots ?? 0;
  }

  // ---- Calls ----

  put(
    id: number,
    key: string,
    options: { readonly value?: string; readonly deadlineMs?: number; readonly request?: RequestIdentity } = {},
  ): DrivenCall {
    const { value = "v", ...rest } = options;
    return this.execute(id, `put ${key}`, putOf(key, value), rest);
  }

  execute(
    id: number,
    name: string,
    operation: ClientOperation,
    options: { readonly deadlineMs?: number; readonly request?: RequestIdentity } = {},
  ): DrivenCall {
    const call = newCall(name);
    const command = { principal: OWNER, request: options.request ?? requestOf(this.#requests++), operation };
    this.replica(id).propose(command, this.deadline(options.deadlineMs), (error, outcome) => {
      this.#answer(call, error, outcome);
    });
    return call;
  }

  claim(id: number, operation: ClusterOperation & { readonly kind: "claim-slot" | "update-member" }): DrivenCall {
    const call = newCall(operation.kind);
    this.replica(id).proposeClusterOperation(operation, this.deadline(), (error, outcome) => {
      this.#answer(call, error, outcome);
    });
    return call;
  }

  change(id: number, operation: MembershipOperation, options: { readonly deadlineMs?: number } = {}): DrivenCall {
    const call = newCall(operation.kind);
    const entry = { subject: OWNER.subject, request: requestOf(this.#requests++), expectIndex: 0, operation };
    this.replica(id).proposeMembership(entry, this.deadline(options.deadlineMs), (error, outcome) => {
      this.#answer(call, error, outcome);
    });
    return call;
  }

  /** A linearizable read of a key; its value is in `found` when the call is done. */
  read(id: number, key: string, options: { readonly deadlineMs?: number } = {}): DrivenCall & { found: string | null } {
    const call = { ...newCall(`read ${key}`), found: null as string | null };
    this.replica(id).readBarrier(this.deadline(options.deadlineMs), (error) => {
      this.#answer(call, error, null);
      call.found = error === null ? this.stored(id, key) : null;
    });
    return call;
  }

  view(id: number, deadlineMs?: number): ViewCall {
    const call: ViewCall = { error: null, view: null };
    this.replica(id).membershipView(this.deadline(deadlineMs), (error, view) => {
      invariant(call.error === null && call.view === null, "a question is answered once");
      Object.assign(call, { error, view });
    });
    return call;
  }

  transfer(id: number, target: number, options: { ifTerm?: number; deadlineMs?: number } = {}): TransferCall {
    const call: TransferCall = { error: null, leader: null };
    const deadlineMs = this.deadline(options.deadlineMs);
    this.replica(id).transferLeadership(target, options.ifTerm ?? 0, deadlineMs, (error, leader) => {
      invariant(call.error === null && call.leader === null, "a transfer is answered once");
      Object.assign(call, { error, leader });
    });
    return call;
  }

  // ---- Time ----

  /** Lets time pass until the condition holds. */
  until(what: string, isSo: () => boolean, limitMs = 20_000): void {
    for (let passedMs = 0; !isSo(); passedMs += STEP_MS) {
      invariant(passedMs < limitMs, "what is waited for happens", () => what);
      this.time.advance(STEP_MS);
      this.time.drain();
    }
  }

  /** Waits for the answer of the call, and returns it. */
  resultAfter(call: DrivenCall): string {
    this.until(`an answer to ${call.name}`, () => call.answered > 0);
    return resultOf(call);
  }

  advance(milliseconds: number): void {
    this.time.advance(milliseconds);
    this.time.drain();
  }

  deadline(milliseconds: number = DEADLINE_MS): number {
    return this.time.monotonicMs() + milliseconds;
  }

  // ---- What is there ----

  /** The value of the key at the member; null if there is none. */
  stored(id: number, key: string): string | null {
    try {
      return Buffer.from(getKey(this.replica(id).state, "default", Buffer.from(key)).value).toString();
    } catch (error) {
      if (error instanceof CoordinationError && error.reason === "KEY_NOT_FOUND") {
        return null;
      }
      throw error;
    }
  }

  /** Every attempt of the member in the durable log of another one, with its position. */
  attempts(of: number, at: number): { readonly seq: number; readonly index: number; readonly term: number }[] {
    const { log } = this.node(at);
    const { first, last } = log.durable.bounds;
    return log
      .entries(first, last, Number.POSITIVE_INFINITY)
      .map((row) => ({ origin: entryEnvelope(row).origin, index: entryIndex(row), term: entryTerm(row) }))
      .filter(({ origin }) => origin.memberId === of && origin.seq > 0)
      .map(({ origin, index, term }) => ({ seq: origin.seq, index, term }));
  }

  /** A new directory whose log has this content. */
  #write(id: number, boots: number, append: AppendEffect): void {
    const log = new MemoryLogStore(this.time);
    this.#directories.set(id, { log, state: new MemoryDriverState(this.time), boots });
    log.write(append, () => undefined);
    log.flush();
  }

  #optionsOf(id: number, { log, state, boots }: Directory, damaged: boolean, callbacks: string[]): ReplicaOptions {
    return {
      ...log.durable,
      // Applied entries were committed, even if the log did not learn that before the end.
      commit: Math.max(log.durable.commit, readProgress(state).appliedIndex),
      memberId: id,
      boot: boots,
      log,
      state,
      damaged,
      clock: this.time,
      scheduler: this.time,
      limits: this.limits,
      clusterId: FOUNDING.clusterId,
      clusterVersionMax: CLUSTER_VERSION,
      transport: this.network.transportOf(id),
      onRole: () => undefined,
      onMembers: () => callbacks.push("members"),
      onLoss: () => callbacks.push("loss"),
      onDiverged: (reason) => callbacks.push(`diverged: ${reason}`),
      onDataRecovered: () => {
        callbacks.push("healed");
        this.network.heal(id);
      },
      onDiskCritical: () => callbacks.push("disk critical"),
      onDiskStuck: () => callbacks.push("disk stuck"),
    };
  }

  #answer(call: DrivenCall, error: CoordinationError | null, outcome: DrivenCall["outcome"]): void {
    invariant(call.answered === 0, "a call is answered once", () => call.name);
    this.#answers++;
    Object.assign(call, { error, outcome, answered: this.#answers });
  }
}

function newCall(name: string): DrivenCall {
  return { name, error: null, outcome: null, answered: 0 };
}
