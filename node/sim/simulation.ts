/**
 * One run: a cluster of real drivers grows, lives through faults and changes, is left in peace, and must come to rest
 * with one leader, equal members and working clients. Everything follows from the seed.
 */

import { crc32 } from "node:zlib";
import {
  changeConfiguration,
  EntryType,
  encodeEntry,
  entryPayload,
  entryType,
  isJoint,
  listenToMarks,
  members as membersOf,
  NO_CONFIGURATION,
  NO_ORIGIN,
  sealEntry,
} from "../src/raft/index.ts";
import type { Told } from "../src/replica/index.ts";
import { decodeCommand, encodeFounding, readCluster, StateMachine } from "../src/state/index.ts";
import { FOUNDING } from "../test/index.ts";
import { Administrator } from "./administrator.ts";
import { Calls } from "./calls.ts";
import { Clients } from "./clients.ts";
import { Disk } from "./disk.ts";
import { EventHeap } from "./event-heap.ts";
import { Faults } from "./faults.ts";
import { Member } from "./member.ts";
import { Network } from "./network.ts";
import { type ChangeKind, drawPlan, type Plan } from "./plan.ts";
import type { Process, World } from "./process.ts";
import { failureOf, passPoint } from "./process-loop.ts";
import { type Concern, type RandomStream, streamsOf } from "./random.ts";
import { type Execution, Requests } from "./requests.ts";
import { must, RuleViolation } from "./rule-violation.ts";
import { Rules } from "./rules.ts";
import { fingerprintOf, StateRows } from "./state-rows.ts";
import { Trace } from "./trace.ts";

/** What a run came to. */
export interface RunResult {
  readonly seed: number;
  /** Null if every rule held. */
  readonly failure: { readonly rule: string; readonly details: string } | null;
  readonly traceHash: string;
  readonly nowMs: number;
  readonly events: number;
  readonly plan: Plan;
  readonly lines: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

/** Members that a run creates at most, those that are removed again among them. */
const MEMBERS_MAX = 12;
/** A healthy cluster of one grows to its first size within so long. */
const GROWTH_MS = 60_000;
/** A cluster that is left in peace comes to rest within so long. */
const REST_MS = 60_000;
const LOOK_MS = 100;
const TRACE_LINES = 200;

export class Simulation {
  readonly #seed: number;
  readonly #streams: Record<Concern, RandomStream>;
  readonly #plan: Plan;
  readonly #heap = new EventHeap();
  readonly #trace: Trace;
  readonly #rules = new Rules();
  readonly #calls: Calls;
  readonly #requests = new Requests();
  readonly #network: Network;
  readonly #members = new Map<number, Member>();
  readonly #clients: Clients;
  readonly #administrator: Administrator;
  readonly #faults: Faults;
  readonly #world: World;
  readonly #marks = new Map<string, number>();
  #isChanging = false;
  #isQuiet = false;

  /** `listener` gets every line of the trace. */
  constructor(seed: number, listener: ((line: string) => void) | null = null) {
    this.#seed = seed;
    this.#streams = streamsOf(seed);
    const { plan: draws, network, disk: disks, process: processes, clients, membership, faults } = this.#streams;
    const plan = drawPlan(draws);
    const heap = this.#heap;
    const trace = new Trace(() => heap.nowMs, listener);
    this.#plan = plan;
    this.#trace = trace;
    this.#calls = new Calls(heap);
    this.#network = new Network(heap, network, trace, plan.network);
    const { limits } = plan;
    const { clusterId } = FOUNDING;
    this.#world = {
      heap,
      network: this.#network,
      trace,
      rules: this.#rules,
      plan,
      disks,
      processes,
      limits,
      clusterId,
    };
    const shared = { heap, trace, calls: this.#calls, plan, processes: () => this.#processes() };
    this.#clients = new Clients({ ...shared, random: clients, requests: this.#requests });
    this.#administrator = new Administrator({
      ...shared,
      random: membership,
      created: () => this.#members.size,
      createdMax: MEMBERS_MAX,
      join: (id, name, incarnation, told) => this.#join(id, name, incarnation, told),
    });
    this.#faults = new Faults({
      ...{ heap, random: faults, trace, network: this.#network, plan },
      members: () => [...this.#members.values()].filter(({ isRemoved }) => !isRemoved),
      isChanging: () => this.#isChanging,
    });
  }

  /** Lives through all of it. */
  run(): RunResult {
    listenToMarks((name) => {
      this.#marks.set(name, (this.#marks.get(name) ?? 0) + 1);
      passPoint();
    });
    let failure: RunResult["failure"] = null;
    try {
      this.#found();
      this.#grow();
      this.#live();
      this.#rest();
      this.#checkHistory();
    } catch (error) {
      failure = error instanceof RuleViolation ? { rule: error.rule, details: error.details } : failureOf(error);
    } finally {
      listenToMarks(null);
    }
    return {
      ...{ seed: this.#seed, failure, plan: this.#plan },
      traceHash: this.#trace.hash,
      nowMs: this.#heap.nowMs,
      events: this.#heap.done,
      lines: failure === null ? [] : this.#trace.last(TRACE_LINES),
      counts: this.#counts(),
    };
  }

  /** How often each mark of the program was passed. */
  get marks(): ReadonlyMap<string, number> {
    return this.#marks;
  }

  // ---- Phases ----

  #found(): void {
    const envelope = { tickMs: 0, wallMs: 1_750_000_000_000, origin: NO_ORIGIN };
    const entry = encodeEntry(EntryType.Bootstrap, envelope, encodeFounding(FOUNDING));
    sealEntry(entry, 1, 1, crc32);
    this.#rules.log.wrote(1, [entry], 0);
    this.#add(1, FOUNDING.memberName, FOUNDING.incarnation, Disk.founded(entry), null);
    this.#look();
  }

  #grow(): void {
    const addOne = (): void => {
      if (this.#voters() < this.#plan.members) {
        this.#administrator.add(addOne);
      }
    };
    this.#heap.after(LOOK_MS, addOne);
    this.#until(GROWTH_MS, () => this.#voters() >= this.#plan.members, "a healthy cluster grows");
  }

  #live(): void {
    const { isSteady, durationMs, changes } = this.#plan;
    const { terms } = this.#rules;
    this.#clients.start();
    this.#faults.start();
    for (const [kind, meanMs] of changes) {
      this.#changeNow(kind, meanMs);
    }
    this.#heap.runUntil(this.#heap.nowMs + durationMs);
    this.#isQuiet = true;
    this.#clients.stop();
    this.#faults.stop();
    this.#administrator.stop();
    if (isSteady) {
      must(this.#rules.terms === terms, "a cluster that is left in peace elects nobody", () => {
        return `term ${this.#rules.terms} after ${terms}`;
      });
      must(this.#clients.failures === 0, "a cluster that is left in peace answers everybody", () => {
        return `${this.#clients.failures} calls have failed`;
      });
    }
  }

  #changeNow(kind: ChangeKind, meanMs: number): void {
    this.#heap.after(this.#streams.membership.exponential(meanMs), () => {
      if (this.#isQuiet) {
        return;
      }
      if (this.#isChanging || [...this.#members.values()].some(({ isDamaged }) => isDamaged)) {
        this.#changeNow(kind, meanMs);
        return;
      }
      this.#isChanging = true;
      this.#administrator.change(kind, () => {
        this.#isChanging = false;
        this.#changeNow(kind, meanMs);
      });
    });
  }

  #rest(): void {
    this.#trace.say(0, "is left in peace");
    this.#network.calm();
    for (const member of this.#members.values()) {
      member.endStall();
      const { process } = member;
      process?.loop.dieAfter(Number.POSITIVE_INFINITY);
      process?.loop.endPause();
      process?.loop.arrive(() => process.replica.setDiskSpace("ok"));
      member.startAfter(this.#streams.process.between(0, 500));
    }
    this.#until(REST_MS, () => this.#isAtRest(), "liveness: a cluster that is left in peace comes to rest");
    this.#checkClients();
    this.#until(REST_MS, () => this.#isAtRest(), "liveness: members are equal in the end");
  }

  /** Everybody takes a write and shows it. */
  #checkClients(): void {
    for (const { id, process } of this.#membersNow()) {
      must(process !== null, "liveness: members stay up", () => `m${id}`);
      let isWritten: boolean | null = null;
      this.#clients.write(process, "rest", `rest-${id}`, (isDone) => {
        isWritten = isDone;
      });
      this.#until(REST_MS, () => isWritten !== null, "liveness: a fresh write is answered");
      must(isWritten === true, "liveness: a fresh write succeeds at every member", () => `m${id}`);
      let read: string | null | undefined = "";
      this.#clients.read(process, "rest", (value) => {
        read = value;
      });
      this.#until(REST_MS, () => read !== "", "liveness: a fresh read is answered");
      must(read === `rest-${id}`, "liveness: a fresh read shows the last write", () => `m${id}: ${read}`);
    }
  }

  /** The log, replayed by a machine of its own, agrees with all that was seen of it. */
  #checkHistory(): void {
    const store = new StateRows();
    const machine = new StateMachine(store, (previous, bytes) => crc32(bytes, previous), this.#plan.limits.state);
    const executions = new Map<string, Execution>();
    for (const [at, row] of this.#rules.log.rows.entries()) {
      const index = at + 1;
      const outcome = machine.apply(row, (entry, change, expectIndex) => {
        const before = readCluster(store)?.configuration ?? NO_CONFIGURATION;
        return changeConfiguration(before, entry, change, expectIndex);
      });
      machine.commit();
      const command = entryType(row) === EntryType.Command ? decodeCommand(entryPayload(row)) : null;
      if (outcome !== null && command?.request != null) {
        const requestId = command.request.requestId.toHex();
        const isRepeated = executions.has(requestId);
        must(isRepeated === (outcome.replayed !== "no"), "a request is executed once", () => {
          return `${command.operation.kind} ${requestId.slice(0, 8)} at ${index}`;
        });
        if (!isRepeated) {
          executions.set(requestId, { index, answer: outcome.answer });
        }
      }
      const digest = this.#rules.log.digestAt(index);
      must(digest === undefined || digest === machine.progress.digest, "I9 states are those of the log", () => {
        return `entry ${index}`;
      });
      const sum = this.#rules.log.snapshots.get(index);
      must(sum === undefined || sum === fingerprintOf(store.all()), "I20 a snapshot is the state of the log", () => {
        return `entry ${index}`;
      });
    }
    for (const { id, disk } of this.#membersNow()) {
      must(
        fingerprintOf(disk.state.all()) === fingerprintOf(store.all()),
        "I9 members end with the state of the log",
        () => {
          return `m${id}`;
        },
      );
    }
    this.#requests.check(executions);
  }

  // ---- Members ----

  #join(id: number, name: string, incarnation: Uint8Array, told: Told): void {
    if (!this.#members.has(id)) {
      this.#add(id, name, incarnation, Disk.joined(), told);
    }
  }

  #add(id: number, name: string, incarnation: Uint8Array, disk: Disk, told: Told | null): void {
    const member = new Member({
      ...{ world: this.#world, id, name, incarnation, disk, told },
      onDeath: (process) => {
        this.#calls.onDeath(process);
        // Whatever it died of, it comes back, unless somebody has other plans for it.
        member.startAfter(this.#isQuiet ? 100 : this.#streams.process.exponential(1_500));
      },
    });
    this.#members.set(id, member);
    member.start();
  }

  #processes(): Process[] {
    return [...this.#members.values()].flatMap(({ process }) => (process === null ? [] : [process]));
  }

  #voters(): number {
    const [member] = this.#members.values();
    return member === undefined ? 0 : (readCluster(member.disk.state)?.configuration.voters.length ?? 0);
  }

  /** Who is a member by the newest configuration, and has a process or had one. */
  #membersNow(): Member[] {
    const all = [...this.#members.values()];
    const configurations = all.map(({ disk }) => readCluster(disk.state)?.configuration ?? NO_CONFIGURATION);
    const newest = configurations.reduce((one, other) => (one.index > other.index ? one : other));
    return all.filter(({ id }) => membersOf(newest).includes(id));
  }

  #isAtRest(): boolean {
    const members = this.#membersNow();
    const leaders = members.filter(({ process }) => process?.replica.status().role === "leader");
    const leader = leaders[0]?.process?.replica;
    if (leaders.length !== 1 || leader === undefined || this.#calls.open > 0 || this.#isChanging) {
      return false;
    }
    const { term, memberId, lastIndex, digest } = leader.status();
    const configuration = readCluster(leader.state)?.configuration;
    return (
      configuration !== undefined &&
      !isJoint(configuration) &&
      members.every(({ process, isDamaged }) => {
        const status = process?.replica.status();
        return (
          status !== undefined &&
          !isDamaged &&
          status.term === term &&
          status.leaderId === memberId &&
          status.appliedIndex === lastIndex &&
          status.digest === digest
        );
      })
    );
  }

  /** Lets time pass until the condition holds. */
  #until(limitMs: number, isReached: () => boolean, rule: string): void {
    const endMs = this.#heap.nowMs + limitMs;
    while (!isReached()) {
      must(this.#heap.nowMs < endMs, rule, () => this.#describe());
      this.#heap.runUntil(this.#heap.nowMs + LOOK_MS);
    }
  }

  #look(): void {
    this.#calls.check();
    this.#heap.after(LOOK_MS, () => this.#look());
  }

  #describe(): string {
    const members = [...this.#members.values()].map((member) => {
      const status = member.process?.replica.status();
      if (status === undefined) {
        return `m${member.id} is ${member.isRemoved ? "removed" : "down"}`;
      }
      const { role, term, leaderId, firstIndex, lastIndex, commitIndex, appliedIndex, alarms } = status;
      return (
        `m${member.id} ${role} term ${term} of m${leaderId} log ${firstIndex}..${lastIndex} commit ${commitIndex} ` +
        `applied ${appliedIndex} ${alarms.join("; ")}`
      );
    });
    const configurations = this.#membersNow().map(({ id }) => `m${id}`);
    return `members ${configurations.join(" ")}\n${members.join("\n")}\nopen: ${this.#calls.describe()}`;
  }

  #counts(): Record<string, number> {
    return {
      entries: this.#rules.log.last,
      leaders: this.#rules.leaders,
      requests: this.#requests.count,
      answered: this.#requests.answered,
      reads: this.#requests.reads,
      faults: this.#faults.count,
      changes: this.#administrator.done,
      members: this.#members.size,
      snapshots: this.#marks.get("replica.install.switched") ?? 0,
    };
  }
}
