/** One start of a simulated member: the real driver over a simulated disk and network, until it dies. */

import { Access } from "../../src/access/index.ts";
import type { MemberBackups } from "../../src/archive/index.ts";
import {
  type AcceptorView,
  decodeManifest,
  decodeMessage,
  type Frame,
  FrameError,
  FrameType,
  type Hello,
  type IdentityRefusal,
  isMessageType,
  type SnapshotManifest,
  type VersionRange,
} from "../../src/peers/index.ts";
import { entryTerm, type Message, NO_CONFIGURATION, type Role } from "../../src/raft/index.ts";
import {
  claimedMembers,
  type MemberList,
  PeerDirectory,
  Replica,
  type ReplicaLimits,
} from "../../src/replica/index.ts";
import { CLUSTER_VERSIONS, readProgress, type StateReader } from "../../src/state/index.ts";
import { DEFAULT_WATCH_LIMITS, NamespaceStreams, WatchHub } from "../../src/watch/index.ts";
import type { Archives } from "./archives.ts";
import { clusterOf, configurationOf } from "./cluster-record.ts";
import type { Coverage } from "./coverage.ts";
import type { Disk } from "./disk.ts";
import type { EventHeap } from "./event-heap.ts";
import { relationOf } from "./log-relation.ts";
import type { Network } from "./network.ts";
import type { Plan } from "./plan.ts";
import { ProcessLoop } from "./process-loop.ts";
import { ProcessRules } from "./process-rules.ts";
import type { RandomStream } from "./random.ts";
import { must } from "./rule-violation.ts";
import type { Observed, Rules } from "./rules.ts";
import { SimLog } from "./sim-log.ts";
import { SimOverlay } from "./sim-overlay.ts";
import { SimState } from "./sim-state.ts";
import { nameOfType, SimTransport } from "./sim-transport.ts";
import type { Trace } from "./trace.ts";

/** The environment that all processes of a run share. */
export interface World {
  readonly heap: EventHeap;
  readonly network: Network;
  readonly trace: Trace;
  readonly rules: Rules;
  readonly plan: Plan;
  readonly disks: RandomStream;
  readonly processes: RandomStream;
  readonly releases: RandomStream;
  readonly limits: ReplicaLimits;
  readonly clusterId: string;
  readonly coverage: Coverage;
  /** Null if the log is not archived. */
  readonly archives: Archives | null;
  /** A process has passed a mark of the program. */
  readonly onMark: (process: Process, name: string) => void;
}

/** The owner of the process, and its reports to the owner. */
export interface ProcessUser {
  readonly id: number;
  /** 32 hexadecimal digits. */
  readonly incarnation: string;
  readonly disk: Disk;
  /** The store does nothing until this time. */
  readonly stalledUntilMs: (store: "log" | "state") => number;
  /** Whether the next write of the store fails; called right before it. */
  readonly takeFailure: (store: "log" | "state") => boolean;
  readonly onDeath: (process: Process) => void;
  readonly onRemoved: () => void;
  readonly onDiskStuck: () => void;
  readonly onHealed: () => void;
}

/** The versions that this release can run, and those of the release before. */
const VERSIONS: VersionRange = CLUSTER_VERSIONS;
const FORMER_VERSIONS: VersionRange = { min: CLUSTER_VERSIONS.min, max: CLUSTER_VERSIONS.min };
/** Largest error of a monotonic clock, as a share. */
export const DRIFT = 0.05;
const WALL_START_MS = 1_750_000_000_000;
const WALL_ERROR_MS = 3_600_000;
/** Largest mean delay of a disk when the faults are over. */
const FAULTLESS_DISK_MS = 1;
/** The mark of a member that gives its leader up. */
const CAMPAIGN = "raft.pre-campaign";
/** Shortest time of an inquiry to another member about the members, in milliseconds. */
const INQUIRY_MS = 300;

export class Process {
  readonly memberId: number;
  readonly loop: ProcessLoop;
  readonly boot: number;
  readonly replica: Replica;
  readonly watchHub: WatchHub;
  readonly access: Access;
  /** Null if the log is not archived. */
  readonly backups: MemberBackups | null;
  readonly observed: Observed;
  /** The state that it has applied, whether or not its disk has it. */
  readonly state: StateReader;
  readonly #world: World;
  readonly #user: ProcessUser;
  readonly #transport: SimTransport;
  readonly #log: SimLog;
  readonly #rules: ProcessRules;
  readonly #directory: PeerDirectory;
  readonly #versions: VersionRange;
  #damaged: boolean;
  #applied: number;
  /** Members about which it asks others. */
  readonly #inquiries = new Set<number>();
  /** Its role after its last turn. */
  #role: Role = "follower";
  /** The highest term of a leader whose message was read since the last turn; 0 = none. */
  #heardTerm = 0;
  /** That leader. */
  #heardOf = 0;
  /** It got a request to campaign since the last turn. */
  #isAsked = false;

  /** `told` are the other members, for a process that cannot know them yet. */
  constructor(world: World, user: ProcessUser, knownMembers: MemberList | null) {
    const { heap, network, plan, processes, disks, trace, rules, limits, clusterId } = world;
    const { id, incarnation, disk, stalledUntilMs, takeFailure } = user;
    this.#world = world;
    this.#user = user;
    this.memberId = id;
    const beginning = disk.begin();
    this.boot = beginning.boot;
    this.#damaged = beginning.damaged;
    rules.onStart(id, incarnation, disk);
    this.#applied = readProgress(disk.state).appliedIndex;
    this.#versions = versionsOf(world, disk.state);
    trace.record(
      id,
      "starts",
      [beginning.boot, beginning.term, beginning.vote, beginning.commit, this.#applied],
      () => {
        const { first, last } = beginning.bounds;
        const damaged = beginning.damaged ? " damaged" : "";
        const former = this.#versions === FORMER_VERSIONS ? " of the release before" : "";
        return `boot ${beginning.boot} term ${beginning.term} log ${first}..${last} applied ${this.#applied}${damaged}${former}`;
      },
    );
    this.loop = new ProcessLoop({
      heap,
      random: processes,
      rate: plan.isSteady ? 1 : processes.between(1 - DRIFT, 1 + DRIFT),
      wallStartMs: WALL_START_MS + Math.floor(processes.between(-WALL_ERROR_MS, WALL_ERROR_MS)),
      onCrash: () => this.die("crashes in the midst of something"),
      onRound: () => this.#onRound(),
      onMark: (name) => this.#onMark(name),
    });
    const onFailed = (): void => this.die("ends, as its disk has failed");
    const device = { disk, heap, loop: this.loop, random: disks, onFailed };
    this.#log = new SimLog({
      ...device,
      stalledUntilMs: () => stalledUntilMs("log"),
      writeMs: () => (network.hasFaultsEnded ? Math.min(plan.writeMs, FAULTLESS_DISK_MS) : plan.writeMs),
      onWrite: (append, meta) => {
        const { writeSeq, term, vote, commit, from, rows, resetTo } = append;
        trace.record(id, "writes", [writeSeq, term, vote, commit, from, rows.length, resetTo?.index ?? 0], () => {
          const reset = resetTo === null ? "" : ` reset to ${resetTo.index}/${resetTo.term}`;
          return `${writeSeq}: term ${term} vote ${vote} commit ${commit} rows ${from}+${rows.length}${reset}`;
        });
        rules.onWrite(this.observed, append, meta);
        this.#rules.onWrite(append);
      },
      onLanded: (meta) => rules.onLanded(this.observed, meta),
      onDurable: (meta) => {
        trace.record(id, "durable", [meta.writeSeq]);
        rules.onDurable(this.observed, meta);
      },
      onHealed: () => this.#onHealedDurably(),
      takeFailure: () => takeFailure("log"),
    });
    const store = new SimState({
      ...device,
      stalledUntilMs: () => stalledUntilMs("state"),
      stepMs: () => (network.hasFaultsEnded ? Math.min(plan.syncMs, FAULTLESS_DISK_MS) : plan.syncMs),
      onSnapshot: (index, sum) => {
        trace.record(id, "snapshot", [index, sum]);
        rules.log.snapshot(id, index, sum);
      },
      onPlaced: (index) => rules.departures.onCommitDurable(id, index),
      onSwitched: () => {
        const before = this.#applied;
        this.#applied = readProgress(disk.state).appliedIndex;
        this.#rules.onInstalled(before, this.#applied);
        trace.record(id, "switches", [this.#applied]);
      },
      takeFailure: () => takeFailure("state"),
    });
    const state = new SimOverlay(store, beginning.boot, () => this.#onApplied());
    this.state = state;
    this.observed = { id, incarnation, disk, state, log: this.#log, commit: 0, configuration: NO_CONFIGURATION };
    const shown = {
      id,
      clock: this.loop,
      meta: () => disk.meta,
      row: (index: number) => this.#log.row(index),
      configuration: () => configurationOf(state),
      applied: () => readProgress(state).appliedIndex,
      status: () => this.replica.status(),
      termOf: (index: number) => entryTermOf(disk.rows.get(index)),
      isWriting: () => this.#log.isWriting,
      isDamaged: () => this.#damaged,
    };
    this.#rules = new ProcessRules(shown, limits, rules.timeouts);
    this.#transport = new SimTransport(id, incarnation, this.loop, network, {
      view: () => this.#view(),
      replica: () => this.replica,
      knownMembers: () => this.knownMembers,
      onFrameSent: (to: number, frame: Frame) => this.#onFrameSent(to, frame),
      onFrameUnsent: (to) => this.#rules.onUnsent(to),
      onGone: (peer) => this.#rules.onGone(peer),
      onSnapshot: () => this.#rules.onSnapshot(),
      onManifest: (body) => this.#rules.onOffer(readManifest(body)),
      onFrame: (from, frame) => this.#onFrame(from, frame),
      onConnected: (peer, restarted) => this.#onConnected(peer, restarted),
      onRefused: (peer, refusal) => this.#onRefused(peer, refusal),
    });
    this.replica = new Replica({
      ...beginning,
      memberId: id,
      clusterId,
      clusterVersionMax: this.#versions.max,
      log: this.#log,
      state,
      transport: this.#transport,
      clock: this.loop,
      scheduler: this.loop,
      limits,
      onRole: (role, term, leader) =>
        trace.record(id, "is", [term, leader], () => `${role} in term ${term} of m${leader}`),
      onMembers: () => this.#onMembers(),
      onLoss: (reason) => must(false, "no loss is proven where nothing was lost", () => `m${id}: ${reason}`),
      onDiverged: (reason) => must(false, "no state differs from that of the cluster", () => `m${id}: ${reason}`),
      onDataRecovered: () => this.#onHealed(),
      onDiskCritical: () => undefined,
      onDiskStuck: () => user.onDiskStuck(),
    });
    this.watchHub = new WatchHub({
      member: { replica: this.replica },
      clock: this.loop,
      scheduler: this.loop,
      limits: plan.watches?.limits ?? DEFAULT_WATCH_LIMITS,
      namespaceStreams: new NamespaceStreams(),
    });
    this.access = new Access(this.replica, this.loop);
    this.backups = world.archives?.begin(id, this.replica, this.loop) ?? null;
    this.#directory = new PeerDirectory(this.replica);
    if (knownMembers !== null) {
      this.#directory.onMemberList(knownMembers);
    }
    network.up(this.#transport);
    this.loop.arrive(() => this.#transport.setPeers(this.#directory.dialed));
  }

  /** Its answer to a process that asks for the members; null if it knows no cluster. */
  get knownMembers(): MemberList | null {
    const cluster = clusterOf(this.replica.state);
    return cluster === undefined
      ? null
      : { members: claimedMembers(cluster), index: this.replica.status().appliedIndex };
  }

  /** The process finds this much space on its disk, in a callback of its own. */
  setDiskSpace(space: Parameters<Replica["setDiskSpace"]>[0]): void {
    this.replica.setDiskSpace(space);
    // It may act on that, and end, before its turn is over.
    const configuration = configurationOf(this.state);
    this.#world.rules.space.onTurn(this.replica.status(), configuration);
  }

  /** Whether it may report that there is too little space for a write that makes the state larger. */
  get mayLackSpace(): boolean {
    const configuration = configurationOf(this.state);
    return this.#world.rules.space.mayRefuse(this.replica.status(), configuration);
  }

  /** Kills the process; nothing of it happens any more. */
  die(how: string): void {
    if (this.loop.isDead) {
      return;
    }
    const { trace, network, disks } = this.#world;
    trace.record(this.memberId, how);
    this.loop.kill();
    network.down(this.#transport);
    this.#log.crash(() => disks.chance(0.5));
    this.#user.onDeath(this);
  }

  /** Whether it would let a process of another directory in under the id. */
  admits(id: number, incarnation: string): boolean {
    const source = { ...this.#view().self, memberId: id, incarnation, boot: 1, damaged: false };
    const hello: Hello = { ...this.#transport.hello("control", this.#view().self), source };
    return this.#transport.judge(hello) === null;
  }

  /** What it knows of an id: its incarnation, "" if no process has claimed it, undefined if no member has it. */
  incarnationOf(id: number): string | undefined {
    return this.#directory.incarnationOf(id);
  }

  /** Snapshots that it is sending. */
  get streams(): number {
    return this.#world.network.streams.filter((stream) => stream.isFrom(this.#transport)).length;
  }

  #onRound(): void {
    const status = this.replica.status();
    this.#role = status.role;
    this.#heardTerm = 0;
    this.#isAsked = false;
    this.#world.rules.onTurn(this.observed, status);
    this.#rules.onTurn(status, this.#log.writing);
  }

  #onMark(name: string): void {
    this.#world.coverage.onMark(name);
    this.#world.onMark(this, name);
    this.#rules.onMark(name, () => this.replica.status().term);
    if (name === CAMPAIGN) {
      const { term } = this.replica.status();
      // A sole voter has no other member to wait for.
      const isAlone = clusterOf(this.state)?.configuration.voters.length === 1;
      const isHeard = this.#heardTerm >= term && !this.#isAsked && !isAlone;
      must(!isHeard, "I24 a member reads what its leader has sent before it campaigns", () => {
        return `m${this.memberId} in term ${term}: a leader of term ${this.#heardTerm} was heard`;
      });
    }
  }

  #onFrameSent(to: number, frame: Frame): void {
    this.#world.rules.onFrameSent(this.observed, to, frame);
    if (isMessageType(frame.type)) {
      this.#rules.onSent(decodeMessage(frame.type, frame.body, this.memberId, to));
    }
  }

  #onFrame(from: number, { type, body }: Frame): void {
    const message = isMessageType(type) ? decodeMessage(type, body, from, this.memberId) : null;
    const relation = message === null ? null : this.#relationOf(message);
    this.#world.coverage.onFrame(this.#role, relation === null ? nameOfType(type) : `${nameOfType(type)} ${relation}`);
    if (message !== null) {
      this.#rules.onRead(message);
    }
    if (message?.type === "heartbeat") {
      const { term } = message;
      if (term >= this.#heardTerm) {
        this.#heardTerm = term;
        this.#heardOf = from;
      }
    }
    this.#isAsked ||= type === FrameType.TimeoutNow;
  }

  /**
   * The relation of the message to the durable log of this member, in words; null if the message says nothing about a
   * log.
   */
  #relationOf(message: Message): string | null {
    const { disk } = this.#user;
    const { first, prevTerm, last, lastTerm } = disk.meta;
    const termOf = (index: number): number | undefined => {
      return index === first - 1 ? prevTerm : entryTermOf(disk.rows.get(index));
    };
    return relationOf(message, { first, last, lastTerm, termOf });
  }

  #view(): AcceptorView {
    const { incarnation } = this.#user;
    const { clusterId } = this.#world;
    return {
      clusterId,
      self: { memberId: this.memberId, incarnation, boot: this.boot, damaged: this.#damaged, versions: this.#versions },
      certainIndex: this.#directory.certainIndex,
      clusterVersion: this.#directory.cluster?.version ?? VERSIONS.min,
      incarnationOf: (memberId) => this.#directory.incarnationOf(memberId),
    };
  }

  #onApplied(): void {
    const { rules, trace } = this.#world;
    const before = this.#applied;
    const { appliedIndex, digest } = readProgress(this.state);
    this.#applied = appliedIndex;
    trace.record(this.memberId, "applies", [before + 1, appliedIndex, digest]);
    rules.onApplied(this.observed, before);
    if (this.#versions === FORMER_VERSIONS && (clusterOf(this.state)?.version ?? 0) > this.#versions.max) {
      this.loop.defer(() => this.die("ends, as its release does not know the cluster version"));
    }
  }

  #onMembers(): void {
    this.#directory.onRecordDurable();
    this.#transport.setPeers(this.#directory.dialed);
  }

  /** A peer is connected that this member does not know. It asks others for the members until it knows the peer. */
  #onConnected(peer: number, restarted: boolean): void {
    if (restarted) {
      this.#rules.onRestarted(peer);
    }
    if (restarted && this.#heardOf === peer) {
      // Messages of a former start do not count.
      this.#heardTerm = 0;
    }
    if (this.#directory.mayBeMember(peer) && !this.#inquiries.has(peer)) {
      this.#inquiries.add(peer);
      this.#inquire(peer);
    }
  }

  #inquire(peer: number): void {
    const { network, heap, processes } = this.#world;
    heap.after(INQUIRY_MS, () => {
      this.loop.arrive(() => {
        const asked = processes.pick(network.processes);
        const isOpen =
          asked !== undefined &&
          !network.isBlocked(this.memberId, asked.memberId) &&
          !network.isBlocked(asked.memberId, this.memberId);
        const knownMembers = isOpen ? asked.knownMembers() : null;
        if (knownMembers !== null) {
          this.#directory.onMemberList(knownMembers);
          this.#transport.setPeers(this.#directory.dialed);
        }
        if (this.#directory.mayBeMember(peer)) {
          this.#inquire(peer);
        } else {
          this.#inquiries.delete(peer);
        }
      });
    });
  }

  #onRefused(peer: number, refusal: IdentityRefusal): void {
    if (refusal === "REMOVED") {
      const isMember = clusterOf(this.state)?.members.some(({ id }) => id === this.memberId) ?? false;
      this.#world.trace.record(this.memberId, "is removed", [Number(isMember)]);
      this.#world.rules.departures.onGone(this.memberId);
      this.replica.onRemoved();
      this.#user.onRemoved();
      this.die("retires");
      return;
    }
    if (refusal === "VERSION" && this.#versions === FORMER_VERSIONS) {
      const { network, releases } = this.#world;
      if (network.hasFaultsEnded || releases.chance(0.5)) {
        this.die("ends, as its release is too old");
      }
      return;
    }
    must(
      refusal !== "STALE" && refusal !== "WRONG_CLUSTER" && refusal !== "VERSION",
      "I17 members are who they are",
      () => {
        return `m${peer} refuses m${this.memberId}: ${refusal}`;
      },
    );
  }

  #onHealedDurably(): void {
    const { rules } = this.#world;
    const { id, disk } = this.#user;
    rules.onHealed(this.observed);
    // It is whole from now on, even if this process does not learn it.
    this.#user.onHealed();
    this.#world.trace.record(id, "is whole again", [disk.meta.last]);
  }

  #onHealed(): void {
    this.#damaged = false;
    this.#transport.redial(this.#directory.dialed);
  }
}

function entryTermOf(row: Uint8Array | undefined): number | undefined {
  return row === undefined ? undefined : entryTerm(row);
}

/** Null if it was damaged on its way. */
function readManifest(body: Uint8Array): SnapshotManifest | null {
  try {
    return decodeManifest(body);
  } catch (error) {
    if (error instanceof FrameError) {
      return null;
    }
    throw error;
  }
}

/** The release of a process: the present one if it has applied a newer cluster version, or if the faults are over. */
function versionsOf({ plan, network, releases }: World, state: StateReader): VersionRange {
  const isOpen =
    plan.releases !== null && !network.hasFaultsEnded && (clusterOf(state)?.version ?? 0) <= FORMER_VERSIONS.max;
  return isOpen && releases.chance(plan.releases.formerShare) ? FORMER_VERSIONS : VERSIONS;
}
