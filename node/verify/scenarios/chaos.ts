/**
 * A random run of a cluster of real cores; the same seed gives the same run.
 *
 * Each event is one small step: a tick of one member, the next message of one connection, a durable write, an applied
 * slice, a client's request, or a fault. Messages of a connection arrive in order. A connection that ends drops its
 * unread messages, and no message passes until the two members have met again. A crash loses everything that is not
 * durable; a loss of power also loses the newest part of the unsynced state. The rules of `Safety` hold after every
 * event. `heal` ends all faults and checks that the cluster comes to rest with one leader and equal members.
 */

import {
  type CoreLimits,
  type Effects,
  EntryType,
  encodeEntry,
  isJoint,
  members as membersOf,
  NO_ENVELOPE,
  type ProposedChange,
} from "../../src/raft/index.ts";
import { ChaosNetwork } from "./chaos-network.ts";
import { drawFaults, drawLimits, type Faults, newSummary, seeded } from "./chaos-plan.ts";
import { ChaosStreams } from "./chaos-streams.ts";
import { describeAppend, describeMessage, describeRole } from "./describe.ts";
import { founded } from "./founding.ts";
import { changeRow, type Disk, emptyDisk, FIT, Member } from "./member.ts";
import { Safety, SafetyViolation } from "./safety.ts";

/** A state that a loss of power can bring back. */
type State = Pick<Disk, "applied" | "appliedTerm" | "configuration">;

const MEMBERS_MAX = 9;
const TRACE_LINES = 400;
/** Rounds in which a healed cluster must come to rest. */
const HEAL_ROUNDS = 1_500;

export class Chaos {
  readonly summary = newSummary();
  readonly #random: (bound: number) => number;
  readonly #members = new Map<number, Member>();
  readonly #safety: Safety;
  readonly #limits: CoreLimits;
  readonly #faults: Faults;
  /** How many of a hundred events are ticks; many ticks make messages slow. */
  readonly #tickShare: number;
  readonly #network = new ChaosNetwork();
  readonly #stalled = new Set<number>();
  /** Members that are up but do nothing, because their host has no time for them. */
  readonly #paused = new Set<number>();
  readonly #streams: ChaosStreams;
  /** States since the last synced one, by member, oldest first. */
  readonly #unsynced = new Map<number, State[]>();
  /** Damaged members: position of the read that clears the flag, then its index. */
  readonly #clearing = new Map<number, { position: number; index: number | null }>();
  #damageCount = 0;
  #trace: string[] = [];
  #isHealing = false;
  #events = 0;

  constructor(seed: number) {
    this.#random = seeded(seed);
    this.#safety = new Safety(this.#members);
    this.#limits = drawLimits(this.#random);
    this.#faults = drawFaults(this.#random);
    this.#tickShare = 5 + this.#random(30);
    this.#streams = new ChaosStreams({
      random: this.#random,
      member: (id) => this.#member(id),
      hasMet: (one, other) => this.#network.hasMet(one, other),
      input: (member, what, input) => this.#input(member, what, input),
      installed: (member) => {
        this.summary.snapshots++;
        this.#sync(member);
      },
    });
    const voters = 1 + this.#random(5);
    const disk = founded(voters, this.#random(4));
    this.#safety.found(disk.log.rows);
    for (const id of membersOf(disk.configuration)) {
      this.#add(id, { ...disk, log: disk.log.copy() });
    }
  }

  /** The last events, oldest first. */
  get trace(): readonly string[] {
    return this.#trace;
  }

  /** Runs this many events. */
  run(events: number): void {
    for (let event = 0; event < events; event++) {
      this.#events++;
      this.#step();
      if (event % 50 === 0) {
        this.#safety.checkLogMatching();
      }
    }
    this.#safety.checkLogMatching();
    this.summary.commits = this.#safety.committedTo;
    this.summary.leaders = this.#safety.leaders;
    this.summary.terms = Math.max(...[...this.#members.values()].map(({ disk }) => disk.term));
  }

  /** Ends all faults, and throws unless the cluster comes to rest. */
  heal(): void {
    this.#isHealing = true;
    this.#network.unblockAll();
    this.#stalled.clear();
    this.#paused.clear();
    for (const member of this.#members.values()) {
      if (!member.isUp) {
        this.#start(member);
      }
    }
    let isProposed = false;
    for (let round = 0; round < HEAL_ROUNDS; round++) {
      this.#round();
      if (round === HEAL_ROUNDS / 2) {
        isProposed = this.#up().some((member) => this.#propose(member));
      }
      if (round > HEAL_ROUNDS / 2 && isProposed && this.#isAtRest()) {
        this.#safety.checkLogMatching();
        return;
      }
    }
    const states = [...this.#members.values()].map((member) => {
      const { role, leader, term, commitIndex, appliedIndex, firstIndex, lastIndex, configuration } = member.running;
      const joint = isJoint(configuration) ? " joint" : "";
      const place = `t${term} commit ${commitIndex} applied ${appliedIndex} log ${firstIndex}..${lastIndex}`;
      const voters = `voters ${configuration.voters.join()}${joint} damaged ${member.disk.damaged}`;
      return `${member.id} ${describeRole({ role, leader })} ${place} ${voters}`;
    });
    throw new SafetyViolation("a healed cluster comes to rest", `\n${states.join("\n")}`);
  }

  // ---- One event ----

  #step(): void {
    const { crash, reset, partition, damage, stall, pause } = this.#faults;
    const faults: readonly (readonly [number, () => void])[] = [
      [crash, () => this.#crashSome()],
      [reset, () => this.#resetSome()],
      [partition, () => this.#partition()],
      [damage, () => this.#damageSome()],
      [stall, () => this.#stallSome()],
      [pause, () => this.#withSome(({ id }) => this.#paused.add(id))],
    ];
    let fault = this.#random(10_000);
    for (const [rate, happen] of faults) {
      if (fault < rate) {
        happen();
        return;
      }
      fault -= rate;
    }
    if (this.#random(100) < this.#tickShare) {
      this.#withSome((member) => this.#input(member, "tick", () => member.running.tick()));
      return;
    }
    const kind = this.#random(100);
    if (kind < 62) {
      this.#deliverSome();
    } else if (kind < 74) {
      this.#withSome((member) => this.#durable(member));
    } else if (kind < 82) {
      this.#withSome((member) => this.#apply(member, 1 + this.#random(4)));
    } else if (kind < 86) {
      this.#withSome((member) => this.#propose(member));
    } else if (kind < 88) {
      this.#withSome((member) => this.#read(member));
    } else if (kind < 90) {
      this.#meetSome();
    } else if (kind < 92) {
      this.#streams.step(this.#isHealing);
    } else if (kind < 94) {
      this.#startSome();
    } else {
      this.#rarely();
    }
  }

  #rarely(): void {
    switch (this.#random(12)) {
      case 0:
        this.#changeSome();
        return;
      case 1:
        this.#withSome((member) => this.#transfer(member));
        return;
      case 2:
      case 3:
        this.#withSome((member) => this.#compact(member));
        return;
      case 4:
        if (this.#random(4) === 0) {
          this.#network.unblockAll();
        }
        return;
      case 5:
        this.#stalled.clear();
        return;
      case 10:
        if (this.#random(4) === 0) {
          this.#resume();
        }
        return;
      case 11:
        this.#changeSome();
        return;
      case 6:
        this.#withSome((member) => this.#sync(member));
        return;
      case 7:
        this.#withSome((member) => this.#doubt(member));
        return;
      case 8:
      case 9:
        // Several at once, so that they compete in the same term.
        for (let count = 1 + this.#random(3); count > 0; count--) {
          this.#withSome((member) => this.#input(member, "campaign", () => member.running.campaign()));
        }
        return;
    }
  }

  /** Every member does what it can, in turn. */
  #round(): void {
    for (const [one, other] of this.#pairs()) {
      this.#meet(one, other);
    }
    for (const member of this.#up()) {
      if (member.fitness !== FIT && !member.disk.damaged) {
        this.#input(member, "fit", () => member.setFitness(FIT));
      }
      this.#input(member, "tick", () => member.running.tick());
    }
    for (let pass = 0; pass < 4; pass++) {
      for (const connection of this.#network.busy) {
        for (let left = this.#network.count(connection); left > 0; left--) {
          this.#deliver(connection);
        }
      }
      for (const member of this.#up()) {
        this.#durable(member);
        this.#apply(member, 100);
      }
      this.#streams.step(this.#isHealing);
    }
    for (const member of this.#up()) {
      if (member.disk.damaged && !this.#clearing.has(member.id) && member.running.leader !== 0) {
        this.#read(member);
      }
    }
  }

  #isAtRest(): boolean {
    const leaders = this.#up().filter(({ running }) => running.role === "leader");
    const [leader] = leaders;
    if (leaders.length !== 1 || leader === undefined || isJoint(leader.running.configuration)) {
      return false;
    }
    return membersOf(leader.running.configuration).every((id) => {
      const { running, disk } = this.#member(id);
      return (
        running.appliedIndex === leader.running.lastIndex &&
        running.term === leader.running.term &&
        running.leader === leader.id &&
        !disk.damaged
      );
    });
  }

  // ---- Members ----

  #up(): Member[] {
    return [...this.#members.values()].filter((member) => member.isUp);
  }

  #member(id: number): Member {
    const member = this.#members.get(id);
    if (member === undefined) {
      throw new Error(`there is no member ${id}`);
    }
    return member;
  }

  #withSome(act: (member: Member) => void): void {
    const up = this.#up().filter(({ id }) => !this.#paused.has(id));
    const member = up[this.#random(Math.max(1, up.length))];
    if (member !== undefined) {
      act(member);
    }
  }

  #add(id: number, disk: Disk): void {
    const member = new Member(id, disk, this.#limits, this.#random);
    this.#members.set(id, member);
    this.#start(member);
  }

  #start(member: Member): void {
    this.#safety.restarted(member.id);
    this.#unsynced.set(member.id, []);
    this.#clearing.delete(member.id);
    this.#dropConnections(member.id);
    member.start();
    this.#say(`${member.id} starts boot ${member.disk.boot}${member.disk.damaged ? " damaged" : ""}`);
    this.#effects(member);
  }

  #startSome(): void {
    const down = [...this.#members.values()].filter((member) => !member.isUp);
    const member = down[this.#random(Math.max(1, down.length))];
    if (member !== undefined) {
      this.#start(member);
    }
  }

  /** Gives one input to the member, takes its effects, and checks the rules. */
  #input(member: Member, what: string, input: () => void): void {
    if (what !== "tick") {
      this.#say(`${member.id} ${what}`);
    }
    input();
    this.#effects(member);
    this.#clearDamage(member);
    this.#safety.check(member.id);
  }

  #effects(member: Member): void {
    const effects = member.drain();
    const { id } = member;
    if (effects.append !== null) {
      this.#safety.wrote(effects.append);
      this.#say(`${id} ${describeAppend(effects.append)}`);
    }
    if (effects.role !== null) {
      this.#say(`${id} ${describeRole(effects.role)} t${effects.role.term}`);
    }
    for (const message of effects.messages) {
      if (this.#members.has(message.to)) {
        this.#network.send(message);
      }
    }
    this.#takeReads(member, effects);
    for (const peer of effects.snapshotsWanted) {
      this.#streams.want(id, peer);
    }
    if (effects.lossProven) {
      throw new SafetyViolation("no loss is proven where nothing was lost", `member ${id}`);
    }
    if (effects.installCancelled) {
      this.#streams.endAllTo(id);
    }
    if (effects.snapshotInstalled) {
      this.#streams.logHasFollowed(id);
    }
  }

  // ---- Clients ----

  #propose(member: Member): boolean {
    let isTaken = false;
    this.#input(member, "propose", () => {
      const rows = Array.from({ length: 1 + this.#random(4) }, () => {
        return encodeEntry(EntryType.Command, NO_ENVELOPE, new Uint8Array(this.#random(60)));
      });
      isTaken = typeof member.running.propose(rows) !== "string";
    });
    return isTaken;
  }

  #read(member: Member): void {
    this.#input(member, "read", () => {
      const position = member.running.readIndex();
      this.#safety.asked(member.id, position);
      if (member.disk.damaged && member.running.leader !== 0) {
        this.#clearing.set(member.id, { position, index: null });
      }
    });
  }

  #takeReads({ id }: Member, { reads, readsFailedUpTo: readsLostUpTo }: Effects): void {
    const clearing = this.#clearing.get(id);
    if (reads !== null) {
      this.summary.reads++;
      this.#safety.answered(id, reads.position, reads.index);
      if (clearing !== undefined && clearing.index === null && clearing.position <= reads.position) {
        clearing.index = reads.index;
      }
    }
    if (clearing !== undefined && clearing.index === null && clearing.position <= readsLostUpTo) {
      this.#clearing.delete(id);
    }
  }

  #transfer(member: Member): void {
    this.#input(member, "transfer", () => {
      const { running } = member;
      if (running.role === "leader" && running.transfer(this.#random(1 + this.#members.size)) === null) {
        this.summary.transfers++;
      }
    });
  }

  #changeSome(): void {
    const leader = this.#up().find(({ running, id }) => running.role === "leader" && !this.#paused.has(id));
    if (leader !== undefined) {
      this.#change(leader);
    }
  }

  #change(member: Member): void {
    const { running } = member;
    if (running.role !== "leader" || this.#damageCount > 0) {
      return;
    }
    const change = this.#drawChange(member);
    let added = 0;
    this.#input(member, `change ${JSON.stringify(change)}`, () => {
      const answer = running.proposeChange(changeRow(change, 0), change, 0, () => true);
      if (typeof answer !== "string") {
        this.summary.changes++;
        added = change.type === "add-slot" ? answer.firstIndex : 0;
      } else {
        this.#say(`refused ${answer}`);
      }
    });
    if (added !== 0 && !this.#members.has(added)) {
      this.#add(added, emptyDisk());
    }
  }

  #drawChange({ running }: Member): ProposedChange {
    const { voters, learners } = running.configuration;
    if (this.#members.size < MEMBERS_MAX && this.#random(3) === 0) {
      return { type: "add-slot" };
    }
    const some = (ids: readonly number[], chance: number): number[] => {
      return ids.filter((id) => id !== running.leader && this.#random(chance) === 0);
    };
    const promote = some(learners, 2);
    const demote = some(voters, 4);
    const remove = some([...voters, ...learners], 6).filter((id) => ![...promote, ...demote].includes(id));
    return { type: "reconfigure", promote, demote, remove };
  }

  // ---- The network ----

  #pairs(): [Member, Member][] {
    const up = this.#up();
    return up.flatMap((one, at) => up.slice(at + 1).map((other): [Member, Member] => [one, other]));
  }

  #deliverSome(): void {
    const { busy } = this.#network;
    const connection = busy[this.#random(Math.max(1, busy.length))];
    if (connection !== undefined) {
      this.#deliver(connection);
    }
  }

  #deliver(connection: string): void {
    const to = Number(/>(\d+) /.exec(connection)?.[1]);
    if (this.#paused.has(to)) {
      return;
    }
    const isKept = !this.#isHealing && this.#random(1_000) < this.#faults.duplicate;
    const message = this.#network.take(connection, isKept);
    const member = this.#member(to);
    if (message !== undefined && member.isUp && !this.#network.isBlocked(message.from, to)) {
      this.#input(member, `gets ${describeMessage(message)}`, () => member.running.step(message));
    }
  }

  #meetSome(): void {
    const pairs = this.#pairs();
    const pair = pairs[this.#random(Math.max(1, pairs.length))];
    if (pair !== undefined) {
      this.#meet(...pair);
    }
  }

  /** The handshake: the members ignore messages of older connections. A removed member is turned away. */
  #meet(one: Member, other: Member): void {
    const isBlocked = this.#network.isBlocked(one.id, other.id) || this.#network.isBlocked(other.id, one.id);
    if (this.#network.hasMet(one.id, other.id) || isBlocked || isRemoved(one, other) || isRemoved(other, one)) {
      return;
    }
    this.#network.meet(one.id, other.id);
    for (const [at, peer] of [
      [one, other],
      [other, one],
    ] as const) {
      this.#input(at, `meets ${peer.id}`, () => {
        at.running.peerConnected(peer.id, { restarted: true, damaged: peer.disk.damaged });
      });
    }
  }

  #disconnect(one: number, other: number): void {
    if (!this.#network.part(one, other)) {
      return;
    }
    for (const [at, peer] of [
      [one, other],
      [other, one],
    ] as const) {
      const member = this.#member(at);
      if (member.isUp) {
        // Sometimes the report says that the peer's process is gone, which may be wrong.
        const isGone = this.#random(3) === 0;
        this.#input(member, isGone ? `misses ${peer}` : `loses ${peer}`, () => {
          return isGone ? member.running.peerGone(peer) : member.running.peerUnreachable(peer);
        });
      }
    }
    this.#streams.endBetween(one, other);
  }

  #dropConnections(id: number): void {
    for (const other of this.#members.keys()) {
      this.#disconnect(id, other);
    }
  }

  #resetSome(): void {
    const pairs = this.#pairs();
    const pair = pairs[this.#random(Math.max(1, pairs.length))];
    if (pair !== undefined) {
      this.#disconnect(pair[0].id, pair[1].id);
    }
  }

  /** Random directed links are cut: halves, bridges and one-way links among them. */
  #partition(): void {
    const ids = [...this.#members.keys()];
    const isHalves = this.#random(2) === 0;
    const half = new Set(ids.filter(() => this.#random(2) === 0));
    for (const from of ids) {
      for (const to of ids) {
        if (from !== to && (isHalves ? half.has(from) !== half.has(to) : this.#random(4) === 0)) {
          this.#network.block(from, to);
        }
      }
    }
    this.#say("some links are cut");
  }

  // ---- The disk ----

  #durable(member: Member): void {
    if (member.inFlight !== null && !this.#stalled.has(member.id)) {
      this.#input(member, `durable ${member.inFlight.writeSeq}`, () => member.durable());
    }
  }

  #apply(member: Member, count: number): void {
    const { disk } = member;
    if (member.placed !== null || disk.applied >= member.applyTo) {
      return;
    }
    const { applied, appliedTerm, configuration } = disk;
    this.#unsynced.get(member.id)?.push({ applied, appliedTerm, configuration });
    this.#input(member, `applies to ${Math.min(disk.applied + count, member.applyTo)}`, () => {
      member.apply(disk.applied + count);
    });
  }

  #sync({ id }: Member): void {
    this.#unsynced.set(id, []);
  }

  #compact(member: Member): void {
    const { running, disk } = member;
    if (member.placed !== null || member.inFlight !== null) {
      return;
    }
    this.#sync(member);
    const first = disk.applied + 1 - this.#random(8);
    if (first > running.firstIndex && first > disk.log.first) {
      this.#input(member, `compacts to ${first}`, () => member.compact(first));
    }
  }

  #stallSome(): void {
    this.#withSome(({ id }) => this.#stalled.add(id));
  }

  /** Forbids the member to lead for a while, or allows it again. */
  #doubt(member: Member): void {
    if (!member.disk.damaged) {
      const fitness = { ...FIT, mayLead: this.#random(3) !== 0, diskFull: this.#random(6) === 0 };
      this.#input(member, `fitness ${JSON.stringify(fitness)}`, () => member.setFitness(fitness));
    }
  }

  /** Paused members continue where they were; some receive a request before they notice the time. */
  #resume(): void {
    const paused = [...this.#paused];
    this.#paused.clear();
    for (const member of paused.map((id) => this.#member(id))) {
      if (member.isUp && this.#random(2) === 0) {
        this.#read(member);
        this.#propose(member);
      }
    }
  }

  #crashSome(): void {
    const writing = this.#up().filter((member) => member.inFlight !== null);
    const crash = (member: Member): void => {
      this.summary.crashes++;
      this.#crash(member);
    };
    // Mostly a member that loses something by the crash.
    const victim = writing[this.#random(Math.max(1, writing.length))];
    if (victim !== undefined && this.#random(4) !== 0) {
      crash(victim);
    } else {
      this.#withSome(crash);
    }
  }

  #crash(member: Member): void {
    const { id } = member;
    const isPowerLost = this.#random(2) === 0 && member.placed === null;
    member.crash(this.#random(3) === 0);
    this.#say(`${id} crashes${isPowerLost ? " without power" : ""}`);
    const unsynced = this.#unsynced.get(id) ?? [];
    const earlier = unsynced[this.#random(Math.max(1, unsynced.length))];
    if (isPowerLost && earlier !== undefined && earlier.applied >= member.disk.log.first - 1) {
      Object.assign(member.disk, earlier);
    }
    this.#stalled.delete(id);
    this.#paused.delete(id);
    this.#streams.forget(id);
    this.#dropConnections(id);
    this.#safety.check(id);
  }

  /** A voter loses its log and knows it: a minority at a time, and only while no configuration change is pending. */
  #damageSome(): void {
    this.#withSome((member) => {
      const configurations = [...this.#members.values()].map(({ disk }) => disk.configuration);
      const newest = configurations.reduce((one, other) => (one.index > other.index ? one : other));
      const isSettled = [...this.#members.values()].every(({ disk, isUp, core }) => {
        return isUp && disk.configuration.index === newest.index && core?.appliedIndex === core?.lastIndex;
      });
      if (this.#damageCount > 0 || newest.voters.length < 3 || isJoint(newest) || !isSettled) {
        return;
      }
      this.summary.damaged++;
      this.#damageCount++;
      this.#crash(member);
      const { disk } = member;
      disk.damaged = true;
      disk.log.reset(disk.applied, disk.appliedTerm);
      disk.commit = disk.applied;
      this.#say(`${member.id} has lost its log`);
    });
  }

  /** Clears the flag once the member again has everything that was committed when it asked the leader. */
  #clearDamage(member: Member): void {
    const index = this.#clearing.get(member.id)?.index ?? null;
    const { disk, running } = member;
    if (index === null || running.commitIndex < index || running.stableIndex < index || running.leader === 0) {
      return;
    }
    this.#clearing.delete(member.id);
    this.#damageCount--;
    disk.damaged = false;
    member.setFitness(FIT);
    this.#say(`${member.id} is whole again`);
    this.#effects(member);
    this.#dropConnections(member.id);
  }

  #say(line: string): void {
    this.#trace.push(`${this.#events} ${line}`);
    if (this.#trace.length > 2 * TRACE_LINES) {
      this.#trace = this.#trace.slice(-TRACE_LINES);
    }
  }
}

/** Whether a member knows that the other was removed: its id was assigned, and it has no role any more. */
function isRemoved(at: Member, other: Member): boolean {
  return other.id <= at.disk.applied && !membersOf(at.disk.configuration).includes(other.id);
}
