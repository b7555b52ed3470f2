/**
 * What goes wrong in a run, as its script says. What a fault hits follows from its item alone and from how things are.
 *
 * Damage stays a minority of the voters of every configuration that may be in force; everything else may hit anybody.
 */

import { entryType, isConfigurationType, isJoint } from "../src/raft/index.ts";
import { readCluster, readProgress } from "../src/state/index.ts";
import type { EventHeap } from "./event-heap.ts";
import type { Member } from "./member.ts";
import type { Network } from "./network.ts";
import type { FaultKind } from "./plan.ts";
import type { Process } from "./process.ts";
import { type RandomStream, streamOf } from "./random.ts";
import type { Trace } from "./trace.ts";

export interface FaultsOptions {
  readonly heap: EventHeap;
  readonly trace: Trace;
  readonly network: Network;
  readonly members: () => readonly Member[];
  /** Whether a change of the membership is under way, or may be. */
  readonly isChanging: () => boolean;
}

/** Longer than any process waits for its disk. */
const HANG_MS = 45_000;
/** Points that a process passes at most before a crash that is to come in the midst of something. */
const CRASH_POINTS_MAX = 400;
const WALL_JUMP_MS = 3_600_000;
/** A fault hits a leader in this share of the cases at least. */
const LEADER_SHARE = 0.4;
/** Pauses that take as long as members wait for their leader, and less than a connection may be silent. */
const ABOUT_A_TIMEOUT_MS = [900, 2_600] as const;
/** How long a process that was paused may be out of reach when it goes on, in milliseconds. */
const ALONE_MS = 1_500;
/** The share of resets after which a process is taken for gone that is there. */
const WRONG_SHARE = 0.25;
/** A graceful stop gives the leadership away within so long. */
const HAND_OVER_MS = 3_000;

export class Faults {
  readonly #options: FaultsOptions;
  /** Of the fault that happens now. */
  #random: RandomStream = streamOf(0);
  #count = 0;
  /** Processes that were told to stop. */
  readonly #stopping = new WeakSet<Process>();

  constructor(options: FaultsOptions) {
    this.#options = options;
  }

  /** Faults so far. */
  get count(): number {
    return this.#count;
  }

  /** `draw`: what decides whom it hits, and how hard. */
  happen(kind: FaultKind, draw: number): void {
    const random = streamOf(draw);
    this.#random = random;
    const { trace, network } = this.#options;
    const isLoss = kind === "damage" || kind === "wipe";
    const member = this.#victim((one) => !isLoss || this.#mayBeDamaged(one));
    if (member === undefined) {
      return;
    }
    this.#count++;
    trace.say(member.id, "fault", [], () => kind);
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
        member.stallDisk(this.#logUniform(5, 5_000));
        return;
      case "hang":
        member.stallDisk(HANG_MS);
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
    }
  }

  /** Somebody, and often the leader: there is more to go wrong. */
  #victim(isPossible: (member: Member) => boolean): Member | undefined {
    const { members } = this.#options;
    const random = this.#random;
    const up = members().filter((member) => member.isUp && isPossible(member));
    const leaders = up.filter(({ process }) => process?.replica.status().role === "leader");
    return random.pick(random.chance(LEADER_SHARE) && leaders.length > 0 ? leaders : up);
  }

  /** A process does nothing for a while; nobody reaches it, perhaps, until it has gone on for a moment. */
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

  /** At once, or in the midst of what it does next. */
  #crash(member: Member): void {
    const random = this.#random;
    if (random.chance(0.3)) {
      member.crash("is killed", this.#downMs());
    } else {
      member.process?.loop.dieAfter(random.whole(1, CRASH_POINTS_MAX));
    }
  }

  /** Of one, or of all. */
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
    trace.say(0, "partition", [alone], () => `${kind}, m${alone}, {${[...half].join()}}`);
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
          // As if it had asked in the moment in which an address was nobody's.
          from.loop.arrive(() => from.tellGone(to.memberId));
        }
      }
    }
  }

  #fill(member: Member): void {
    const { heap } = this.#options;
    const random = this.#random;
    const { process } = member;
    const space = random.chance(0.5) ? "low" : "full";
    process?.loop.arrive(() => process.replica.setDiskSpace(space));
    heap.after(this.#logUniform(100, 6_000), () => {
      process?.loop.arrive(() => process.replica.setDiskSpace("ok"));
    });
  }

  #damage(member: Member): void {
    const { trace } = this.#options;
    const random = this.#random;
    const isStateLost = random.chance(0.4);
    member.crash("crashes", this.#downMs());
    member.loseData(isStateLost);
    trace.say(member.id, "has lost its", [], () => (isStateLost ? "state and log" : "log"));
  }

  /** Whether the healthy voters stay a majority, whatever configuration is in force. */
  #mayBeDamaged(member: Member): boolean {
    const { members, isChanging } = this.#options;
    const configurations = members().map(({ disk }) => readCluster(disk.state)?.configuration);
    const known = configurations.filter((configuration) => configuration !== undefined);
    const newest = known.reduce((one, other) => (one.index > other.index ? one : other));
    if (isChanging() || isJoint(newest) || members().some((one) => holdsChange(one))) {
      return false;
    }
    const damaged = members().filter(({ id, isDamaged }) => newest.voters.includes(id) && isDamaged);
    const isCounted = newest.voters.includes(member.id) && !member.isDamaged;
    return (
      damaged.length + (isCounted ? 1 : 0) <= Math.floor((newest.voters.length - 1) / 2) && !member.disk.fence.sole
    );
  }
}

/** Whether the log has a change of the configuration that is not applied. */
function holdsChange({ disk, process }: Member): boolean {
  const { appliedIndex } = readProgress(disk.state);
  const isInDisk = [...disk.rows].some(([index, row]) => index > appliedIndex && isConfigurationType(entryType(row)));
  return isInDisk || process?.observed.log.isWriting === true;
}
