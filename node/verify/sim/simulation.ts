/**
 * One run: a cluster of real drivers grows, and lives through faults and changes. Then the faults stop, and the cluster
 * must come to rest with one leader, equal members and working clients. Everything follows from the seed.
 */

import { crc32 } from "node:zlib";
import { listenToMarks } from "../../src/primitives/index.ts";
import {
  EntryType,
  encodeEntry,
  isJoint,
  members as membersOf,
  NO_PROPOSAL_ORIGIN,
  sealEntry,
} from "../../src/raft/index.ts";
import type { MemberList } from "../../src/replica/index.ts";
import { CLUSTER_VERSION, CLUSTER_VERSIONS, encodeFounding, hasErasures, readProgress } from "../../src/state/index.ts";
import { FOUNDING, rowsOf } from "../../test/index.ts";
import { Accounts } from "./accounts.ts";
import { Administrator } from "./administrator.ts";
import { Archives } from "./archives.ts";
import { Calls } from "./calls.ts";
import { execute } from "./canonical-execution.ts";
import { Clients } from "./clients.ts";
import { clusterOf, configurationOf } from "./cluster-record.ts";
import { Coverage } from "./coverage.ts";
import { Disk } from "./disk.ts";
import { EventHeap } from "./event-heap.ts";
import { EventLogClients } from "./event-log-clients.ts";
import { checkHoldExpiries, checkKeyExpiries, checkSessionExpiries, expiryOf } from "./expiry-rules.ts";
import { Faults } from "./faults.ts";
import { KeyHistory } from "./key-history.ts";
import { LockClients } from "./lock-clients.ts";
import { LockHistory } from "./lock-history.ts";
import { Member } from "./member.ts";
import { MemoryClients } from "./memory-clients.ts";
import { Network } from "./network.ts";
import { isLogKept, LOCK_MOMENTS, WATCH_MOMENTS } from "./plan.ts";
import { DRIFT, type Process, type World } from "./process.ts";
import { failureOf, passMark } from "./process-loop.ts";
import { type Concern, type RandomStream, streamsOf } from "./random.ts";
import { Requests } from "./requests.ts";
import { must, RuleViolation } from "./rule-violation.ts";
import { Rules } from "./rules.ts";
import type { RunResult } from "./run-result.ts";
import type { Script, ScriptItem } from "./script.ts";
import { SessionClients } from "./session-clients.ts";
import { fingerprintOf } from "./state-rows.ts";
import { Trace, type TraceLine } from "./trace.ts";
import { TransactionClients } from "./transaction-clients.ts";
import { untilTogether } from "./until-together.ts";
import { Watchers } from "./watchers.ts";

/** Largest number of members that a run creates, including those that are removed again. */
const MEMBERS_MAX = 12;
/** A healthy cluster of one grows to its first size within this time. */
const GROWTH_MS = 60_000;
/** A cluster without faults comes to rest, or a member takes a snapshot over, within this time. */
const REST_MS = 60_000;
const CHECK_INTERVAL_MS = 100;
/** Requests are sent again for this share of the time for which answers are stored. */
const RETRY_SHARE = 0.25;
/** How long a cluster that has lost too much may still break a rule. */
const BEYOND_REST_MS = 20_000;
/** Mean pause between two operations of clients that go on. */
const BUSY_PAUSE_MS = 15;
/**
 * Largest number of events before the faults stop. One run in a thousand would have more: up to a million, which takes
 * as long as thirty other runs.
 */
const LIVE_EVENTS_MAX = 300_000;
const TRACE_LINES = 200;

export class Simulation {
  readonly #script: Script;
  readonly #liveEventsMax: number;
  readonly #streams: Record<Concern, RandomStream>;
  readonly #heap = new EventHeap();
  readonly #trace: Trace;
  readonly #rules: Rules;
  readonly #history: KeyHistory;
  readonly #coverage = new Coverage();
  readonly #calls: Calls;
  readonly #requests = new Requests();
  readonly #network: Network;
  readonly #members = new Map<number, Member>();
  readonly #accounts: Accounts;
  readonly #clients: Clients;
  /** Null if no client uses locks. */
  readonly #lockClients: LockClients | null;
  readonly #lockHistory: LockHistory;
  /** Null if no client uses semaphores. */
  readonly #semaphoreClients: LockClients | null;
  readonly #semaphoreHistory: LockHistory;
  /** Null if no client uses memory regions. */
  readonly #memoryClients: MemoryClients | null;
  /** Null if no client uses event logs. */
  readonly #eventLogClients: EventLogClients | null;
  /** Null if no client runs transactions. */
  readonly #transactionClients: TransactionClients | null;
  /** Null if no client has sessions. */
  readonly #sessionClients: SessionClients | null;
  /** Null if there are no watchers. */
  readonly #watchers: Watchers | null;
  /** Null if the log is not archived. */
  readonly #archives: Archives | null;
  readonly #administrators: readonly Administrator[];
  readonly #faults: Faults;
  readonly #world: World;
  /** Administrators with a change in progress. */
  readonly #changing = new Set<Administrator>();
  #isQuiet = false;
  #grownMs = 0;
  /** Expired keys; known at the end. */
  #expired = 0;

  /** The committed log, from index 1 on. */
  get committed(): readonly Uint8Array[] {
    return this.#rules.log.rows;
  }

  /** The greatest lag of the archive, in milliseconds; 0 unless the run has no faults. */
  get archiveLagMsMax(): number {
    return this.#archives?.rules.lagMsMax ?? 0;
  }

  /** `listener` gets every line of the trace. */
  constructor(
    script: Script,
    listener: ((line: TraceLine) => void) | null = null,
    liveEventsMax: number = LIVE_EVENTS_MAX,
  ) {
    const { seed, plan } = script;
    this.#script = script;
    this.#liveEventsMax = liveEventsMax;
    this.#streams = streamsOf(seed);
    const { network, disk: disks, process: processes, clients, membership, ...others } = this.#streams;
    const heap = this.#heap;
    const trace = new Trace(() => heap.nowMs, listener);
    this.#trace = trace;
    this.#history = new KeyHistory(() => heap.nowMs);
    this.#lockHistory = new LockHistory(() => heap.nowMs, plan.locks?.ttlSeconds ?? 0);
    this.#semaphoreHistory = new LockHistory(() => heap.nowMs, plan.semaphores?.ttlSeconds ?? 0);
    this.#calls = new Calls(heap);
    this.#network = new Network(heap, network, trace, plan.network);
    const { limits } = plan;
    const { clusterId } = FOUNDING;
    this.#rules = new Rules(() => heap.nowMs, clusterId, limits);
    this.#archives =
      plan.archive === null
        ? null
        : new Archives({
            heap,
            trace,
            clusterId,
            random: others.archive,
            ids: others["object-ids"],
            rules: this.#rules,
            plan: plan.archive,
            isSteady: plan.isSteady,
          });
    this.#world = {
      heap,
      network: this.#network,
      trace,
      rules: this.#rules,
      plan,
      disks,
      processes,
      releases: others.releases,
      limits,
      clusterId,
      coverage: this.#coverage,
      archives: this.#archives,
      onMark: (process, name) => this.#faults.onMark(process, name),
    };
    const reaching = { heap, trace, calls: this.#calls, processes: () => this.#processes() };
    this.#accounts = new Accounts({
      ...reaching,
      random: others.accounts,
      rules: this.#rules.access,
      plan: plan.accounts,
    });
    const shared = { ...reaching, plan, accounts: this.#accounts };
    const histories = { history: this.#history, lockHistory: this.#lockHistory };
    const retryMs = limits.state.replayWindowMs * RETRY_SHARE;
    const asking = { ...shared, requests: this.#requests, ...histories, isSteady: plan.isSteady, retryMs };
    this.#clients = new Clients({ ...asking, random: clients });
    this.#lockClients =
      plan.locks === null
        ? null
        : new LockClients({
            ...asking,
            random: others.locks,
            rules: this.#rules.locks,
            plan: plan.locks,
            isPrompt: plan.isSteady && isLogKept(limits),
          });
    this.#semaphoreClients =
      plan.semaphores === null
        ? null
        : new LockClients({
            ...asking,
            lockHistory: this.#semaphoreHistory,
            random: others.semaphores,
            rules: this.#rules.locks,
            plan: plan.semaphores,
            isPrompt: plan.isSteady && isLogKept(limits),
          });
    const guardOf = (random: RandomStream) => this.#lockClients?.guardOf(random);
    this.#memoryClients =
      plan.memory === null ? null : new MemoryClients({ ...asking, random: others.memory, plan: plan.memory, guardOf });
    this.#eventLogClients =
      plan.logs === null
        ? null
        : new EventLogClients({
            ...asking,
            random: others.logs,
            rules: this.#rules.logs,
            plan: plan.logs,
            guardOf,
          });
    this.#transactionClients =
      plan.transactions === null
        ? null
        : new TransactionClients({ ...asking, random: others.transactions, plan: plan.transactions });
    this.#sessionClients =
      plan.sessions === null ? null : new SessionClients({ ...asking, random: others.sessions, plan: plan.sessions });
    this.#watchers =
      plan.watches === null
        ? null
        : new Watchers({
            ...asking,
            random: others.watches,
            rules: this.#rules.watches,
            plan: plan.watches,
            access: this.#rules.access,
          });
    this.#administrators = (plan.isContended ? ["", "other-"] : [""]).map((prefix) => {
      return new Administrator({
        ...shared,
        prefix,
        random: membership,
        created: () => this.#members.size,
        createdMax: MEMBERS_MAX,
        destroy: (id) => this.#destroy(id),
        join: (id, name, incarnation, knownMembers) => this.#join(id, name, incarnation, knownMembers),
      });
    });
    this.#faults = new Faults({
      heap,
      trace,
      network: this.#network,
      members: () => [...this.#members.values()].filter(({ isRemoved }) => !isRemoved),
      isBeyond: plan.isBeyond,
      moments: [...(plan.locks === null ? [] : LOCK_MOMENTS), ...(plan.watches === null ? [] : WATCH_MOMENTS)],
      isChanging: () => this.#changing.size > 0,
      rush: (process, spanMs, draw) => this.#clients.rush(process, spanMs, draw),
    });
  }

  /** Runs the whole script. */
  async run(): Promise<RunResult> {
    listenToMarks(passMark);
    const { pending } = this.#archives ?? {};
    if (pending !== undefined) {
      process.on("unhandledRejection", pending.onRejection);
    }
    let failure: RunResult["failure"] = null;
    try {
      this.#found();
      await this.#grow();
      await this.#runItems();
      await this.#rest();
      this.#checkHistory();
      await this.#checkArchive();
    } catch (error) {
      failure = error instanceof RuleViolation ? { rule: error.rule, details: error.details } : failureOf(error);
    } finally {
      listenToMarks(null);
      if (pending !== undefined) {
        process.off("unhandledRejection", pending.onRejection);
      }
    }
    return {
      script: this.#script,
      failure,
      traceHash: this.#trace.hash,
      checkpoints: this.#trace.checkpoints,
      nowMs: this.#heap.nowMs,
      grownMs: this.#grownMs,
      events: this.#heap.done,
      lines: failure === null ? [] : this.#trace.last(TRACE_LINES),
      states: failure === null ? "" : this.#describe(),
      reached: this.#coverage.counts,
      counts: this.#counts(),
    };
  }

  // ---- Phases ----

  #found(): void {
    const envelope = { tickMs: 0, wallMs: 1_750_000_000_000, origin: NO_PROPOSAL_ORIGIN };
    const clusterVersion = this.#script.plan.releases === null ? CLUSTER_VERSION : CLUSTER_VERSIONS.min;
    const entry = encodeEntry(EntryType.Bootstrap, envelope, encodeFounding({ ...FOUNDING, clusterVersion }));
    sealEntry(entry, 1, 1, crc32);
    this.#rules.log.wrote(1, [entry], 0);
    this.#add(1, FOUNDING.memberName, FOUNDING.incarnation, Disk.founded(entry), null);
    this.#checkPeriodically();
  }

  async #grow(): Promise<void> {
    let isGrowing = true;
    const addOne = (): void => {
      if (isGrowing && this.#voters() < this.#script.plan.members) {
        this.#administrators[0]?.add(() => this.#heap.after(CHECK_INTERVAL_MS, addOne));
      }
    };
    this.#heap.after(CHECK_INTERVAL_MS, addOne);
    await this.#until(GROWTH_MS, () => this.#voters() >= this.#script.plan.members, "a healthy cluster grows");
    isGrowing = false;
  }

  async #runItems(): Promise<void> {
    const { plan, items } = this.#script;
    const { isSteady, durationMs } = plan;
    const { terms } = this.#rules;
    this.#accounts.begin();
    this.#clients.begin();
    const areReady = (): boolean => this.#accounts.isReady && this.#clients.isReady;
    await this.#until(GROWTH_MS, areReady, "a healthy cluster takes a guest and a namespace");
    this.#grownMs = this.#heap.nowMs;
    this.#lockClients?.begin();
    this.#semaphoreClients?.begin();
    for (const item of items) {
      this.#heap.at(this.#grownMs + item.atMs, () => this.#happen(item));
    }
    await this.#pass(this.#grownMs + durationMs, () => this.#heap.done < this.#liveEventsMax);
    this.#isQuiet = true;
    for (const administrator of this.#administrators) {
      administrator.stop();
    }
    this.#faults.endFaults();
    if (isSteady) {
      must(this.#rules.terms === terms, "a cluster that is left in peace elects no new leader", () => {
        return `term ${this.#rules.terms} after ${terms}`;
      });
      const others = [this.#memoryClients, this.#eventLogClients, this.#transactionClients, this.#sessionClients];
      const asking = [this.#accounts, this.#clients, this.#lockClients, this.#semaphoreClients, ...others];
      const failures = asking.reduce((sum, clients) => sum + (clients?.failures ?? 0), 0);
      must(failures === 0, "a cluster that is left in peace answers everybody", () => `${failures} calls have failed`);
    }
  }

  #happen(item: ScriptItem): void {
    if (this.#isQuiet) {
      return;
    }
    switch (item.what) {
      case "operation":
        this.#clients.act(item.client, item.draw);
        return;
      case "lock":
        this.#lockClients?.act(item.client, item.draw);
        return;
      case "semaphore":
        this.#semaphoreClients?.act(item.client, item.draw);
        return;
      case "memory":
        this.#memoryClients?.act(item.client, item.draw);
        return;
      case "log":
        this.#eventLogClients?.act(item.client, item.draw);
        return;
      case "transaction":
        this.#transactionClients?.act(item.client, item.draw);
        return;
      case "session":
        this.#sessionClients?.act(item.client, item.draw);
        return;
      case "watch":
        this.#watchers?.act(item.client, item.draw);
        return;
      case "revocation":
        this.#accounts.revoke(item.kind, item.draw);
        return;
      case "store":
        this.#archives?.inject(item.kind, item.draw);
        return;
      case "fault":
        this.#faults.inject(item.kind, item.draw);
        return;
      case "change": {
        const administrator = this.#administrators.find((one) => !this.#changing.has(one));
        if (administrator === undefined || [...this.#members.values()].some(({ isDamaged }) => isDamaged)) {
          this.#heap.after(CHECK_INTERVAL_MS, () => this.#happen(item));
          return;
        }
        administrator.change(item.kind, item.draw, this.#beginChange(administrator));
        return;
      }
    }
  }

  /** Returns the function to call when the change is over. */
  #beginChange(administrator: Administrator): () => void {
    this.#changing.add(administrator);
    return () => this.#changing.delete(administrator);
  }

  /** Removes a member whose directory is gone, so that no process can start it; another member takes its place. */
  #expel(): void {
    const now = this.#membersNow();
    const wiped = [...this.#members.values()].find(({ isWiped, isRemoved }) => isWiped && !isRemoved);
    const [administrator] = this.#administrators;
    if (wiped === undefined || administrator === undefined || this.#changing.size > 0) {
      return;
    }
    const { id, name } = wiped;
    const end = this.#beginChange(administrator);
    if (now.includes(wiped)) {
      administrator.expel(wiped, end);
      return;
    }
    this.#trace.record(id, "is expelled");
    wiped.retire();
    this.#rules.onRetired(id);
    if (this.#isQuiet) {
      end();
    } else {
      administrator.rejoin(name, end);
    }
  }

  async #rest(): Promise<void> {
    this.#trace.record(0, "is left in peace");
    this.#accounts.stop();
    this.#lockClients?.stop();
    this.#semaphoreClients?.stop();
    this.#memoryClients?.stop();
    this.#eventLogClients?.stop();
    this.#transactionClients?.stop();
    this.#sessionClients?.stop();
    this.#watchers?.catchUp();
    this.#network.endFaults();
    this.#archives?.bucket.endFaults();
    for (const member of this.#members.values()) {
      member.endStall();
      member.mendDisk();
      const { process } = member;
      process?.loop.dieAfter(Number.POSITIVE_INFINITY);
      process?.loop.endPause();
      process?.loop.arrive(() => process.setDiskSpace("ok"));
      member.startAfter(this.#streams.process.between(0, 500));
    }
    if (this.#script.plan.isBeyond) {
      this.#clients.stop();
      await this.#pass(this.#heap.nowMs + BEYOND_REST_MS);
      return;
    }
    if (this.#script.plan.isBusyAtRest) {
      this.#goOn();
      let floor = 0;
      const isCaughtUp = (): boolean => {
        const before = floor;
        floor = this.#greatestCommit();
        return this.#areTogether(before);
      };
      await this.#untilTogether(isCaughtUp, "liveness: everybody catches up with clients that go on");
    }
    this.#clients.stop();
    const isAtRest = (): boolean => this.#isAtRest();
    await this.#untilTogether(isAtRest, "liveness: a cluster that is left in peace comes to rest");
    await this.#checkClients();
    await this.#untilTogether(isAtRest, "liveness: members are equal in the end");
    const committed = this.#greatestCommit();
    await this.#archives?.untilWholeTo(committed, (isReached, rule) => this.#until(REST_MS, isReached, rule));
    await this.#untilTogether(isAtRest, "liveness: archiving leaves the cluster at rest");
    this.#watchers?.stop();
  }

  /** The clients do one operation after the other until they are stopped. */
  #goOn(): void {
    const { clients } = this.#streams;
    this.#heap.after(clients.exponential(BUSY_PAUSE_MS), () => {
      this.#clients.act(clients.whole(1, this.#script.plan.clients), clients.word());
      if (!this.#clients.isStopped) {
        this.#goOn();
      }
    });
  }

  /** The greatest commit index that any member knows. */
  #greatestCommit(): number {
    return Math.max(...this.#processes().map(({ replica }) => replica.status().commitIndex));
  }

  /** Each member takes a write and shows it. */
  async #checkClients(): Promise<void> {
    for (const { id, process } of this.#membersNow()) {
      must(process !== null, "liveness: members stay up", () => `m${id}`);
      let isWritten: boolean | null = null;
      this.#clients.write(process, "rest", `rest-${id}`, (isDone) => {
        isWritten = isDone;
      });
      await this.#until(REST_MS, () => isWritten !== null, "liveness: a fresh write is answered");
      must(isWritten === true, "liveness: a fresh write succeeds at every member", () => `m${id}`);
      let read: string | null | undefined = "";
      this.#clients.read(process, "rest", (value) => {
        read = value;
      });
      await this.#until(REST_MS, () => read !== "", "liveness: a fresh read is answered");
      must(read === `rest-${id}`, "liveness: a fresh read shows the last write", () => `m${id}: ${read}`);
    }
  }

  /**
   * The log, replayed by a state machine of its own, and the history of the clients agree with everything that was
   * seen.
   */
  #checkHistory(): void {
    const { log, membership } = this.#rules;
    const { executions, refused, endings, fingerprint } = execute(log, this.#script.plan.limits.state, membership);
    for (const { id, state } of this.#script.plan.isBeyond ? [] : this.#membersNow()) {
      must(fingerprintOf(rowsOf(state)) === fingerprint, "I9 members end with the state of the log", () => {
        return `m${id}`;
      });
    }
    this.#requests.check(executions);
    if (this.#calls.open === 0) {
      this.#requests.checkAttempts(log.rows, refused);
    }
    log.checkTicks(DRIFT);
    this.#expired = endings.length;
    checkKeyExpiries(log, this.#requests, endings, executions);
    const deadlines = [this.#lockClients, this.#semaphoreClients].flatMap((clients) => clients?.holderDeadlines ?? []);
    checkHoldExpiries(this.#rules, deadlines);
    checkSessionExpiries(this.#rules, this.#sessionClients?.lives ?? []);
    this.#history.check(endings.map((ending) => expiryOf(log, ending)));
    this.#lockHistory.check(DRIFT);
    this.#semaphoreHistory.check(DRIFT);
    this.#memoryClients?.check();
    this.#eventLogClients?.check();
    this.#watchers?.check(DRIFT);
  }

  // ---- Members ----

  #join(id: number, name: string, incarnation: Uint8Array, knownMembers: MemberList): void {
    this.#rules.membership.onIdentity(id, incarnation.toHex());
    if (!this.#members.has(id)) {
      this.#add(id, name, incarnation, Disk.joined(), knownMembers);
    }
  }

  #add(id: number, name: string, incarnation: Uint8Array, disk: Disk, knownMembers: MemberList | null): void {
    const member = new Member({
      world: this.#world,
      id,
      name,
      incarnation,
      disk,
      knownMembers,
      onDeath: (process) => {
        this.#calls.onDeath(process);
        this.#watchers?.onDeath(process);
        if (member.isWiped) {
          this.#tryOldId(member);
        }
        // It comes back, whatever it died of, unless it was replaced meanwhile.
        member.startAfter(this.#isQuiet ? 100 : this.#streams.process.exponential(1_500));
      },
    });
    this.#members.set(id, member);
    member.start();
  }

  #destroy(id: number): void {
    const member = this.#members.get(id);
    if (member !== undefined) {
      this.#trace.record(id, "is destroyed");
      this.#rules.departures.onGone(id);
      member.retire();
      this.#rules.onRetired(id);
      member.process?.die("loses its machine");
    }
  }

  /** A member that knows the id lets no other process in under it. */
  #tryOldId({ id, incarnation }: Member): void {
    const other = this.#streams.process.bytes(incarnation.length).toHex();
    for (const process of this.#processes()) {
      const isKnown = process.incarnationOf(id) === incarnation.toHex();
      must(!(isKnown && process.admits(id, other)), "I17 no process is let in under another member's id", () => {
        return `m${process.memberId} lets ${other} in as m${id}`;
      });
    }
  }

  #processes(): Process[] {
    return [...this.#members.values()].flatMap(({ process }) => (process === null ? [] : [process]));
  }

  #voters(): number {
    const [member] = this.#members.values();
    return member === undefined ? 0 : (clusterOf(member.state)?.configuration.voters.length ?? 0);
  }

  /** The members of the newest configuration that have or had a process. */
  #membersNow(): Member[] {
    const all = [...this.#members.values()];
    const configurations = all.map(({ state }) => configurationOf(state));
    const newest = configurations.reduce((one, other) => (one.index > other.index ? one : other));
    return all.filter(({ id }) => membersOf(newest).includes(id));
  }

  #isAtRest(): boolean {
    const leader = this.#leaderNow()?.status();
    return (
      leader !== undefined &&
      this.#calls.open === 0 &&
      this.#areTogether(leader.lastIndex) &&
      readProgress(this.#rules.execution.state).lockTimers === 0 &&
      !hasErasures(this.#rules.execution.state) &&
      (this.#watchers?.areCaughtUp(leader.revision) ?? true) &&
      this.#membersNow().every(({ process }) => process?.replica.status().digest === leader.digest)
    );
  }

  /** The leader, if exactly one member says that it leads. */
  #leaderNow(): Process["replica"] | undefined {
    const leaders = this.#membersNow().filter(({ process }) => process?.replica.status().role === "leader");
    return leaders.length === 1 ? leaders[0]?.process?.replica : undefined;
  }

  /** All members are there and whole, follow one leader, and have applied everything up to the index. */
  #areTogether(index: number): boolean {
    const leader = this.#leaderNow();
    const configuration = leader === undefined ? undefined : clusterOf(leader.state)?.configuration;
    if (leader === undefined || configuration === undefined || isJoint(configuration) || this.#changing.size > 0) {
      return false;
    }
    const { term, memberId } = leader.status();
    return this.#membersNow().every(({ process, isDamaged }) => {
      const status = process?.replica.status();
      return (
        status !== undefined &&
        process !== null &&
        !this.#faults.isStopping(process) &&
        !isDamaged &&
        status.term === term &&
        status.leaderId === memberId &&
        status.appliedIndex >= index
      );
    });
  }

  #untilTogether(isTogether: () => boolean, rule: string): Promise<void> {
    const until = (isReached: () => boolean): Promise<void> => this.#until(REST_MS, isReached, rule);
    return untilTogether({ until, isTogether, installs: () => this.#installs });
  }

  /** Snapshots that members have taken over. */
  get #installs(): number {
    return this.#coverage.counts.get("replica.install.switched") ?? 0;
  }

  /** Lets time pass until the condition holds. */
  async #until(limitMs: number, isReached: () => boolean, rule: string): Promise<void> {
    const endMs = this.#heap.nowMs + limitMs;
    while (!isReached()) {
      must(this.#heap.nowMs < endMs, rule, () => this.#describe());
      await this.#pass(this.#heap.nowMs + CHECK_INTERVAL_MS);
    }
  }

  /** Lets events happen up to that time, or until `isWanted` returns false. */
  async #pass(endMs: number, isWanted: () => boolean = () => true): Promise<void> {
    const { pending } = this.#archives ?? {};
    if (pending === undefined) {
      this.#heap.runUntil(endMs, isWanted);
    } else {
      await this.#heap.runUntilIdle(endMs, () => pending.drain(), isWanted);
    }
  }

  /** Reads the archive, and checks that it leads to the states that the cluster had. */
  async #checkArchive(): Promise<void> {
    const { plan } = this.#script;
    if (this.#archives !== null) {
      const { bucket, rules } = this.#archives;
      await rules.check(bucket.reader(), plan.limits.state, this.#streams.archive);
      if (!plan.isBeyond) {
        rules.checkHoles();
      }
    }
  }

  #checkPeriodically(): void {
    this.#calls.check();
    this.#calls.checkLimits(this.#rules.limits);
    this.#lockClients?.check();
    this.#semaphoreClients?.check();
    this.#watchers?.checkRevoked();
    for (const { memberId, streams } of this.#processes()) {
      this.#rules.limits.onStreams(memberId, streams);
    }
    this.#archives?.check(this.#processes());
    this.#expel();
    this.#heap.after(CHECK_INTERVAL_MS, () => this.#checkPeriodically());
  }

  #describe(): string {
    const members = [...this.#members.values()].map((member) => member.describe());
    const configurations = this.#membersNow().map(({ id }) => `m${id}`);
    const archive = this.#archives === null ? "" : `\narchive: ${this.#archives.rules.describe()}`;
    return `members ${configurations.join(" ")}\n${members.join("\n")}\nopen: ${this.#calls.describe()}${archive}`;
  }

  #counts(): Record<string, number> {
    return {
      entries: this.#rules.log.last,
      leaders: this.#rules.leaders,
      requests: this.#requests.count,
      answered: this.#requests.answered,
      reads: this.#requests.reads,
      faults: this.#faults.count,
      changes: this.#administrators.reduce((sum, { done }) => sum + done, 0),
      members: this.#members.size,
      wiped: [...this.#members.values()].filter(({ isWiped }) => isWiped).length,
      expired: this.#expired,
      ...this.#rules.counts,
      streams: this.#watchers?.streams ?? 0,
      told: this.#rules.watches.sentCounts.key,
      "told of locks": this.#rules.watches.sentCounts.lock,
      compacted: this.#rules.watches.compacted,
      revocations: this.#rules.access.revocations,
      refused: this.#rules.access.refused,
      raised: this.#coverage.counts.get("replica.version-raised") ?? 0,
      snapshots: this.#installs,
      ...this.#archives?.counts,
    };
  }
}
