/**
 * The faults of a run, as its script says. What a fault hits follows from its item and from the state of the run alone.
 *
 * Damage stays within a minority of the voters of every configuration that may be in force, except in runs that are
 * meant to exceed it. All other faults may hit any member.
 */

import { entryType, isConfigurationType, isJoint } from "../../src/raft/index.ts";
import { readProgress } from "../../src/state/index.ts";
import { clusterOf } from "./cluster-record.ts";
import type { EventHeap } from "./event-heap.ts";
import type { Member, StoreName } from "./member.ts";
import type { Network } from "./network.ts";
import { AT_MOMENTS, type FaultKind, MOMENTS } from "./plan.ts";
import type { Process } from "./process.ts";
import { type RandomStream, streamOf } from "./random.ts";
import type { Trace } from "./trace.ts";

/** A fault that waits until the program passes a mark. */
interface Waiting {
  readonly mark: string;
  readonly kind: FaultKind;
  readonly draw: number;
  readonly untilMs: number;
}

export interface FaultsOptions {
  readonly heap: EventHeap;
  readonly trace: Trace;
  readonly network: Network;
  readonly members: () => readonly Member[];
  /** Any number of members may lose their data. */
  readonly isBeyond: boolean;
  /** Moments that only this run has. */
  readonly moments: readonly string[];
  /** Whether a change of the membership is in progress, or may be. */
  readonly isChanging: () => boolean;
  /** Many clients send requests at once for a while, half of them to this process. */
  readonly rush: (process: Process | null, spanMs: number, draw: number) => void;
}

/** Longer than any process waits for its disk. */
const HANG_MS = 45_000;
/** Largest number of points that a process passes before a crash in the middle of its work. */
const CRASH_POINTS_MAX = 400;
const WALL_JUMP_MS = 3_600_000;
/** At least this share of the faults hits a leader. */
const LEADER_SHARE = 0.4;
/** Pauses as long as members wait for their leader, and shorter than a connection may be silent. */
const ABOUT_A_TIMEOUT_MS = [900, 2_600] as const;
/** How long a resumed process may stay unreachable after a pause, in milliseconds. */
const ALONE_MS = 1_500;
/** The share of resets after which a member takes a live process for gone. */
const WRONG_SHARE = 0.25;
/** A graceful stop hands the leadership over within this time. */
const HAND_OVER_MS = 3_000;
/** How much later messages arrive on a slow path, in milliseconds; connections survive. */
const LAG_MS = [20, 1_500] as const;
/** How long a slow round of a process takes, and how long this lasts, in milliseconds. */
const SLOW_ROUND_MS = [2, 60] as const;
const SLOW_MS = [200, 6_000] as const;
/** How long a fault waits for its moment. */
const MOMENT_WAIT_MS = 8_000;
/** The share of faults at moments that hit the member that has passed the mark. */
const OWN_MOMENT_SHARE = 0.6;
/** The share of faults at moments that wait for a moment that only this run has. */
const FURTHER_MOMENT_SHARE = 0.4;
/** Mean delay of a fault after its moment, if it does not come at once. */
const AFTER_MOMENT_MS = 30;
/** A process that dies at a moment dies within this number of points. */
const POINTS_AFTER_MOMENT_MAX = 12;
/**
 * Within this time after a leader is cut off, the others learn that it is gone, and clients send requests; in
 * milliseconds.
 */
const DUAL_LEADER_MS = 1_200;
const NOTIFIED_WITHIN_MS = 150;
/** The share of members that learn it. */
const NOTIFIED_SHARE = 0.8;

export class Faults {
  readonly #options: FaultsOptions;
  /** The stream of the present fault. */
  #random: RandomStream = streamOf(0);
  #count = 0;
  /** Processes that got a request to stop. */
  readonly #stopping = new WeakSet<Process>();
  #waiting: Waiting[] = [];

  constructor(options: FaultsOptions) {
    this.#options = options;
  }

  /** Number of faults so far. */
  get count(): number {
    return this.#count;
  }

  /** `draw` decides what the fault hits, and how hard. `hit` is the member, if it is already decided. */
  inject(kind: FaultKind, draw: number, hit: Member | null = null): void {
    const random = streamOf(draw);
    this.#random = random;
    const { trace, network } = this.#options;
    const isLoss = kind === "damage" || kind === "wipe";
    const member = hit ?? this.#victim((one) => !isLoss || this.#mayBeDamaged(one));
    if (member === undefined) {
      return;
    }
    this.#count++;
    trace.record(member.id, "fault", [], () => kind);
    switch (kind) {
      case "crash":
        this.#crash(member);
        return;
      case "power":
        this.#cutPower(member);
        return;
      case "stop":
        this.#stop(member);
        return;
      case "partition":
        this.#partition();
        return;
      case "reset":
        this.#reset(member);
        return;
      case "pause":
        this.#pause(member);
        return;
      case "stall":
        member.stallDisk(this.#logUniform(5, 5_000), this.#stores());
        return;
      case "hang":
        member.stallDisk(HANG_MS, this.#stores());
        return;
      case "failure":
        member.failDisk(random.chance(0.6) ? "log" : "state");
        return;
      case "space":
        this.#fill(member);
        return;
      case "clock":
        member.process?.loop.jumpWall(Math.floor(random.between(-WALL_JUMP_MS, WALL_JUMP_MS)));
        return;
      case "damage":
        this.#damage(member);
        return;
      case "wipe":
        member.wipe();
        return;
      case "stream":
        random.pick(network.streams)?.breakOff("it was cut");
        return;
      case "spoil":
        network.spoil(random.next(), random.pick(network.streams));
        return;
      case "lag":
        this.#lag(member);
        return;
      case "slow":
        member.process?.loop.slow(this.#logUniform(...SLOW_MS), this.#logUniform(...SLOW_ROUND_MS));
        return;
      case "usurp":
        this.#makeDualLeader(member);
        return;
      case "moment":
        this.#await();
        return;
    }
  }

  /** A process has passed a mark: the faults that wait for it happen. */
  onMark(process: Process, name: string): void {
    const { heap, members } = this.#options;
    for (const waiting of this.#waiting) {
      if (waiting.mark !== name || waiting.untilMs < heap.nowMs) {
        continue;
      }
      this.#waiting = this.#waiting.filter((one) => one !== waiting);
      const random = streamOf(waiting.draw);
      const own = members().find((member) => member.process === process) ?? null;
      if (waiting.kind === "crash" && random.chance(OWN_MOMENT_SHARE)) {
        this.#count++;
        process.loop.dieAfter(random.whole(1, POINTS_AFTER_MOMENT_MAX));
        return;
      }
      const delayMs = random.chance(0.4) ? 0 : random.exponential(AFTER_MOMENT_MS);
      const isOwn = random.chance(OWN_MOMENT_SHARE);
      heap.after(delayMs, () => {
        this.inject(waiting.kind, random.word(), isOwn && own?.isUp === true ? own : null);
      });
    }
  }

  /** Whether the process got a request to stop, and will stop soon. */
  isStopping(process: Process): boolean {
    return this.#stopping.has(process);
  }

  /** No fault waits for its moment any more. */
  endFaults(): void {
    this.#waiting = [];
  }

  #await(): void {
    const { heap, trace, moments } = this.#options;
    const random = this.#random;
    const usual = random.pick(MOMENTS) ?? MOMENTS[0];
    const kind = random.pick(AT_MOMENTS) ?? AT_MOMENTS[0];
    const draw = random.word();
    const mark = random.chance(FURTHER_MOMENT_SHARE) ? (random.pick(moments) ?? usual) : usual;
    this.#waiting.push({ mark, kind, draw, untilMs: heap.nowMs + MOMENT_WAIT_MS });
    trace.record(0, "waits for a moment", [], () => `${kind} at ${mark}`);
  }

  /** Both stores of a member are on one disk. One of them may hang alone, because its engine has other work to do. */
  #stores(): readonly StoreName[] {
    return this.#random.pick([["log", "state"], ["log", "state"], ["log"], ["state"]] as const) ?? ["log", "state"];
  }

  /** Messages from or to a member, or both, come late, but in their order. */
  #lag({ id }: Member): void {
    const { network, members, trace } = this.#options;
    const random = this.#random;
    const way = random.pick(["from", "to", "both"] as const) ?? "both";
    const others = new Set(
      members()
        .filter(() => random.chance(0.7))
        .map((member) => member.id),
    );
    const extraMs = this.#logUniform(...LAG_MS);
    const ids = members().map((member) => member.id);
    network.lag(ids, this.#logUniform(200, 8_000), extraMs, (from, to) => {
      return (way !== "to" && from === id && others.has(to)) || (way !== "from" && to === id && others.has(from));
    });
    trace.record(
      id,
      "is far away",
      [Math.round(extraMs)],
      () => `${way} {${[...others].join()}}, ${Math.round(extraMs)} ms`,
    );
  }

  /**
   * A leader is cut off, or answers to it come late. The others learn that it is gone, or it is just handing over. So
   * another member leads while the old leader still considers itself the leader, and clients send requests to both.
   */
  #makeDualLeader(member: Member): void {
    const { network, members, heap, rush } = this.#options;
    const random = this.#random;
    const leader = members().find((one) => one.process?.replica.status().role === "leader") ?? member;
    const { id, process } = leader;
    const ids = members().map((one) => one.id);
    const durationMs = this.#logUniform(300, 4_000);
    const way = random.pick(["from", "to", "both", "late"] as const) ?? "both";
    if (random.chance(0.3)) {
      process?.loop.arrive(() => {
        process.replica.transferLeadership(0, 0, process.loop.monotonicMs() + DUAL_LEADER_MS, () => undefined);
      });
    }
    heap.after(random.exponential(5), () => {
      if (way === "late") {
        network.lag(ids, durationMs, random.between(100, 1_000), (_from, to) => to === id);
      } else {
        network.cut(ids, durationMs, (from, to) => (way !== "to" && from === id) || (way !== "from" && to === id));
      }
    });
    for (const told of network.processes) {
      if (told.memberId !== id && random.chance(NOTIFIED_SHARE)) {
        heap.after(random.between(0, NOTIFIED_WITHIN_MS), () => told.loop.arrive(() => told.notifyGone(id)));
      }
    }
    rush(process, DUAL_LEADER_MS, random.word());
  }

  /** Any possible member, but often the leader, where more can go wrong. */
  #victim(isPossible: (member: Member) => boolean): Member | undefined {
    const { members } = this.#options;
    const random = this.#random;
    const up = members().filter((member) => member.isUp && isPossible(member));
    const leaders = up.filter(({ process }) => process?.replica.status().role === "leader");
    return random.pick(random.chance(LEADER_SHARE) && leaders.length > 0 ? leaders : up);
  }

  /** A process does nothing for a while. It may stay unreachable until shortly after it has resumed. */
  #pause(member: Member): void {
    const { network, members } = this.#options;
    const random = this.#random;
    const durationMs = random.chance(0.4) ? random.between(...ABOUT_A_TIMEOUT_MS) : this.#logUniform(10, 20_000);
    if (random.chance(0.3)) {
      member.process?.loop.pauseInRound(durationMs);
    } else {
      member.process?.loop.pause(durationMs);
    }
    if (random.chance(0.5)) {
      const ids = members().map(({ id }) => id);
      const aloneMs = durationMs + random.between(0, ALONE_MS);
      network.cut(ids, aloneMs, (from, to) => from === member.id || to === member.id);
    }
  }

  #logUniform(from: number, to: number): number {
    return Math.exp(this.#random.between(Math.log(from), Math.log(to)));
  }

  #downMs(): number {
    return this.#logUniform(20, 8_000);
  }

  /** Crashes the process at once, or in the middle of what it does next. */
  #crash(member: Member): void {
    const random = this.#random;
    if (random.chance(0.3)) {
      member.crash("is killed", this.#downMs());
    } else {
      member.process?.loop.dieAfter(random.whole(1, CRASH_POINTS_MAX));
    }
  }

  /** Cuts the power of one member, or of all. */
  #cutPower(member: Member): void {
    const { members } = this.#options;
    const random = this.#random;
    const isOfAll = random.chance(0.25);
    for (const one of isOfAll ? members().filter(({ isUp }) => isUp) : [member]) {
      one.crash("loses power", this.#downMs());
      one.losePower();
    }
  }

  #stop(member: Member): void {
    const { process } = member;
    if (process === null || this.#stopping.has(process)) {
      return;
    }
    this.#stopping.add(process);
    process.loop.arrive(() => {
      process.watchHub.drain();
      process.replica.handOver(HAND_OVER_MS, () => {
        process.replica.stop();
        process.die("stops");
      });
    });
  }

  #partition(): void {
    const { members, network, trace } = this.#options;
    const random = this.#random;
    const ids = members().map(({ id }) => id);
    const kind = random.pick(["halves", "leader", "one-way", "bridge"] as const) ?? "halves";
    const leader = members().find(({ process }) => process?.replica.status().role === "leader")?.id;
    const half = new Set(ids.filter(() => random.chance(0.5)));
    const alone = leader !== undefined && random.chance(0.7) ? leader : (random.pick(ids) as number);
    network.cut(ids, this.#logUniform(100, 10_000), (from, to) => {
      const isAcross = half.has(from) !== half.has(to);
      switch (kind) {
        case "halves":
          return isAcross;
        case "leader":
          return from === alone || to === alone;
        case "one-way":
          return half.has(from) ? from === alone : to === alone;
        case "bridge":
          return isAcross && from !== alone && to !== alone;
      }
    });
    trace.record(0, "partition", [alone], () => `${kind}, m${alone}, {${[...half].join()}}`);
  }

  #reset({ id }: Member): void {
    const { network } = this.#options;
    const random = this.#random;
    const isPair = random.chance(0.5);
    const own = network.connections.filter(({ from, to }) => from.memberId === id || to.memberId === id);
    const chosen = random.pick(own);
    for (const connection of own) {
      const isSamePair =
        chosen !== undefined &&
        [connection.from, connection.to].every((side) => {
          return side === chosen.from || side === chosen.to;
        });
      if (connection === chosen || (isPair && isSamePair)) {
        const { from, to } = connection;
        connection.reset();
        if (random.chance(WRONG_SHARE)) {
          // As if it had dialed at a moment at which no process had the address.
          from.loop.arrive(() => from.notifyGone(to.memberId));
        }
      }
    }
  }

  #fill(member: Member): void {
    const { heap } = this.#options;
    const random = this.#random;
    const { process } = member;
    const space = random.chance(0.5) ? "low" : "full";
    process?.loop.arrive(() => process.setDiskSpace(space));
    heap.after(this.#logUniform(100, 6_000), () => {
      process?.loop.arrive(() => process.setDiskSpace("ok"));
    });
  }

  #damage(member: Member): void {
    const { trace } = this.#options;
    const random = this.#random;
    const isStateLost = random.chance(0.4);
    member.crash("crashes", this.#downMs());
    member.loseData(isStateLost);
    trace.record(member.id, "has lost its", [], () => (isStateLost ? "state and log" : "log"));
  }

  /** Whether the healthy voters remain a majority of every configuration that may be in force. */
  #mayBeDamaged(member: Member): boolean {
    const { members, isChanging, isBeyond } = this.#options;
    if (isBeyond) {
      // A sole voter does not even start without its data.
      return !member.disk.mirror.sole;
    }
    const configurations = members().map(({ state }) => clusterOf(state)?.configuration);
    const known = configurations.filter((configuration) => configuration !== undefined);
    const newest = known.reduce((one, other) => (one.index > other.index ? one : other));
    if (isChanging() || isJoint(newest) || members().some((one) => holdsChange(one))) {
      return false;
    }
    const damaged = members().filter(({ id, isDamaged }) => newest.voters.includes(id) && isDamaged);
    const isCounted = newest.voters.includes(member.id) && !member.isDamaged;
    return (
      damaged.length + (isCounted ? 1 : 0) <= Math.floor((newest.voters.length - 1) / 2) && !member.disk.mirror.sole
    );
  }
}

/** Whether the log has a change of the configuration that is not applied. */
function holdsChange({ disk, process }: Member): boolean {
  const { appliedIndex } = readProgress(disk.state);
  const isInDisk = [...disk.rows].some(([index, row]) => index > appliedIndex && isConfigurationType(entryType(row)));
  return isInDisk || process?.observed.log.isWriting === true;
}
