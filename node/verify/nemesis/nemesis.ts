/**
 * A run: a cluster of real processes under concurrent clients, with faults in an order that the seed gives. Then it
 * judges whether every answer was correct and whether the cluster recovered. Everything is removed afterwards, also
 * after a failure or a signal; the results stay in the output directory.
 *
 * The seed determines the faults and their targets, but not their exact timing.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { seededRandom } from "../../src/replica/index.ts";
import { AppendLoad, ClusterUnderTest, type Connect, pause } from "../../test/harness/index.ts";
import { answerLimitMs } from "./answer-limit.ts";
import { CERTIFICATE_FAULTS } from "./certificate-faults.ts";
import { ClusterMonitor } from "./cluster-monitor.ts";
import { converge } from "./convergence.ts";
import { CounterLoad } from "./counter-load.ts";
import { DAMAGE_FAULTS } from "./damage-faults.ts";
import { DISK_FAULTS } from "./disk-faults.ts";
import { countElections } from "./elections.ts";
import { type FaultContext, type FaultKind, type FaultResult, LANES, type Need, spread, unclear } from "./fault.ts";
import { removeLeftovers } from "./leftovers.ts";
import { LifetimeLoad } from "./lifetime-load.ts";
import { LIMIT_FAULTS } from "./limit-faults.ts";
import { closeLoads, describeLoads, judgeLoads, type Loads, outcomesOf, startLoads, writeHistories } from "./loads.ts";
import { LockLoad } from "./lock-load.ts";
import { type Capabilities, findCapabilities } from "./machine.ts";
import { MEMBERSHIP_FAULTS } from "./membership-faults.ts";
import { NETWORK_FAULTS } from "./network-faults.ts";
import { PROCESS_FAULTS } from "./process-faults.ts";
import { RegionLoad } from "./region-load.ts";
import { type FaultRecord, type NemesisResult, writeFault, writeStates, writeSummary } from "./report.ts";
import { Schedule } from "./schedule.ts";
import { SessionLoad } from "./session-load.ts";
import { Site } from "./site.ts";
import { SYNC_FAULTS } from "./sync-faults.ts";
import { TransferLoad } from "./transfer-load.ts";
import { UnnoticedDamage } from "./unnoticed-damage.ts";
import { WatchLoad } from "./watch-load.ts";
import { WATCHED_KEYS, WATCHED_LOCKS } from "./watch-targets.ts";

export interface NemesisOptions {
  readonly members: number;
  /** Time for making faults, in milliseconds. Recovery and judgement come in addition. */
  readonly runMs: number;
  readonly seed: number;
  /** Directory for history, logs and time line; created if needed. */
  readonly output: string;
  /** Names of the kinds of faults to make, which are then all planned; null = all that this machine allows. */
  readonly kinds: readonly string[] | null;
  /** Whether to install missing tools by the system's package manager. */
  readonly mayInstall: boolean;
  /** Starts another SDK, for the loads of keys and event logs; null = all use the TypeScript SDK. */
  readonly startSdk: ((apiKey: string) => Promise<OtherSdk>) | null;
  readonly print: (line: string) => void;
}

/** An SDK that is not this one, in a process of its own. */
export interface OtherSdk {
  readonly connect: Connect;
  close(): Promise<void>;
}

/** A requested fault cannot be made on this machine. */
export class NoSuchFault extends Error {}

const CLIENTS = 8;
/** Half of the clients stay with one member each, so that all members forward and read all the time. */
const PINNED_CLIENTS = 4;
const KEYS = 10;
/** Keeps the load at a few hundred operations a second: a run does not test speed. */
const REST_MS = 15;
/**
 * Clients of event logs, the logs that they use at a time, and the maximum operations on one log, so that it is easy to
 * judge.
 */
const APPENDERS = 4;
const EVENT_LOGS = 2;
const EVENT_LOG_OPERATIONS_MAX = 600;
const APPEND_REST_MS = 40;
/** Long enough to retry an append with its key, and shorter than some elections. */
const APPEND_TIMEOUT_MS = 1_000;
/** Separate random streams, different from those of the lanes. */
const LIFETIME_STREAM = 101;
const COUNTER_STREAM = 102;
const LOCK_STREAM = 103;
const REGION_STREAM = 104;
const WATCH_STREAM = 105;
const LOCK_WATCH_STREAM = 106;
const APPEND_STREAM = 107;
const TRANSFER_STREAM = 108;
const SESSION_STREAM = 109;
/** Acknowledged writes before the first fault. */
const WARM_WRITES = 100;
/** Rest before each fault. */
const REST_BEFORE_FAULT_MS = [100, 4_000] as const;
/** Signals that end a run, and its exit code then: the one that a shell reports for a process killed by the signal. */
const INTERRUPTIONS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const REMOVER = fileURLToPath(new URL("./remove.ts", import.meta.url));

/** All kinds of faults. */
const KINDS: readonly FaultKind[] = [
  ...NETWORK_FAULTS,
  ...PROCESS_FAULTS,
  ...LIMIT_FAULTS,
  ...DISK_FAULTS,
  ...SYNC_FAULTS,
  ...DAMAGE_FAULTS,
  ...MEMBERSHIP_FAULTS,
  ...CERTIFICATE_FAULTS,
];

/**
 * Performs a run and returns its result. Rejects with a NoSuchFault before anything is started, and otherwise only if
 * no cluster could be started.
 */
export async function runNemesis(options: NemesisOptions): Promise<NemesisResult> {
  const removed = removedAtExit();
  try {
    for (const line of await removeLeftovers()) {
      options.print(`removed, left by an earlier run: ${line}`);
    }
    const abilities = await findCapabilities(options.mayInstall);
    const kinds = kindsOf(abilities, options.kinds);
    mkdirSync(options.output, { recursive: true });
    for (const line of [...abilities.lacking, ...describeLimits(abilities)]) {
      options.print(line);
    }
    const site = await Site.create(abilities, { logs: options.output });
    return await runAt(site, abilities, kinds, options);
  } finally {
    removed();
  }
}

/**
 * Removes everything that this run creates outside its own memory when the process ends, also by a signal or an
 * uncaught error. Returns a function that removes it now. The removal blocks this process: a client that ran on while
 * the members' network is removed would send its requests elsewhere.
 */
function removedAtExit(): () => void {
  const remove = (): void => {
    const { status } = spawnSync(process.execPath, [REMOVER, String(process.pid)], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    if (status !== 0) {
      throw new Error("something that the run has created could not be removed; the next run tries again");
    }
  };
  const listeners = Object.entries(INTERRUPTIONS).map(([signal, code]) => {
    const listener = (): never => process.exit(code);
    process.on(signal, listener);
    return { signal, listener };
  });
  process.once("exit", remove);
  return () => {
    process.removeListener("exit", remove);
    remove();
    for (const { signal, listener } of listeners) {
      process.removeListener(signal, listener);
    }
  };
}

function describeLimits({ groupVersion }: Capabilities): readonly string[] {
  return groupVersion === null ? [] : [`limits of processor and memory by control groups of version ${groupVersion}`];
}

/** The kinds of faults with these names, or all possible ones. Raises NoSuchFault. */
function kindsOf(abilities: Capabilities, names: readonly string[] | null): readonly FaultKind[] {
  const possible = KINDS.filter(({ needs }) => needs.every((need) => isMet(need, abilities)));
  const chosen = names?.map((name) => {
    const kind = possible.find((candidate) => candidate.name === name);
    if (kind === undefined) {
      const known = possible.map((candidate) => candidate.name).join("; ");
      throw new NoSuchFault(`no fault "${name}" can be made here, only ${known}`);
    }
    return kind;
  });
  return chosen ?? possible;
}

async function runAt(
  site: Site,
  abilities: Capabilities,
  kinds: readonly FaultKind[],
  options: NemesisOptions,
): Promise<NemesisResult> {
  const { members, seed, output, print } = options;
  const placementOf = (name: string) => site.placementOf(name);
  const cluster = await ClusterUnderTest.start(members, { placementOf, directory: site.directory });
  let loads: Loads | null = null;
  let sdk: OtherSdk | null = null;
  try {
    sdk = (await options.startSdk?.(cluster.secrets.apiKey)) ?? null;
    const connect = sdk?.connect;
    const timeoutMs = await answerLimitMs(cluster);
    // A disk may get full.
    const alsoExpected = abilities.hasSmallDisks ? ["RESOURCE_EXHAUSTED"] : [];
    const keys = cluster.load({
      clients: CLIENTS,
      pinned: PINNED_CLIENTS,
      readers: members,
      keys: KEYS,
      seed,
      timeoutMs,
      restMs: REST_MS,
      connect,
      alsoExpected,
    });
    loads = {
      keys,
      lifetimes: new LifetimeLoad(cluster, timeoutMs, seededRandom(seed + LIFETIME_STREAM)),
      counters: new CounterLoad(cluster, timeoutMs, seededRandom(seed + COUNTER_STREAM)),
      locks: new LockLoad(cluster, timeoutMs, seededRandom(seed + LOCK_STREAM)),
      regions: new RegionLoad(cluster, timeoutMs, seededRandom(seed + REGION_STREAM)),
      appends: new AppendLoad({
        cluster,
        clients: APPENDERS,
        logs: EVENT_LOGS,
        operationsMax: EVENT_LOG_OPERATIONS_MAX,
        name: "appended-to",
        seed: seed + APPEND_STREAM,
        timeoutMs: APPEND_TIMEOUT_MS,
        restMs: APPEND_REST_MS,
        connect,
        alsoExpected,
      }),
      transfers: new TransferLoad(cluster, timeoutMs, seededRandom(seed + TRANSFER_STREAM)),
      sessions: new SessionLoad(cluster, timeoutMs, seededRandom(seed + SESSION_STREAM)),
      watches: new WatchLoad(WATCHED_KEYS, cluster, members, seededRandom(seed + WATCH_STREAM)),
      lockWatches: new WatchLoad(WATCHED_LOCKS, cluster, members, seededRandom(seed + LOCK_WATCH_STREAM)),
    };
    const run = new Run(site, cluster, loads, kinds, options);
    const startMs = performance.now();
    const violations = await run.execute();
    const loadEndMs = performance.now();
    writeHistories(output, loads);
    const { operations } = keys.history;
    print(`judging ${operations.length} operations on keys, and ${keys.pages.length} pages of them`);
    violations.push(...judgeLoads(loads, timeoutMs));
    const { acknowledgedWrites, writeGapMs } = keys.statistics(startMs, loadEndMs);
    const result: NemesisResult = {
      seed,
      members,
      durationMs: loadEndMs - startMs,
      acknowledgedWrites,
      writeGapMs,
      outcomes: outcomesOf(loads),
      facts: describeLoads(loads),
      elections: countElections(output),
      faults: run.faults,
      missing: run.missing,
      unplanned: run.unplanned,
      lacking: abilities.lacking,
      violations,
      output,
    };
    writeSummary(output, result);
    return result;
  } finally {
    if (loads !== null) {
      closeLoads(loads);
    }
    await sdk?.close();
    await cluster.dispose();
  }
}

/** The part of a run from the start of the load until the cluster has recovered. */
class Run {
  readonly faults: FaultRecord[] = [];
  readonly #cluster: ClusterUnderTest;
  readonly #loads: Loads;
  readonly #options: NemesisOptions;
  readonly #monitor: ClusterMonitor;
  readonly #schedules: Map<FaultKind["lane"], Schedule>;
  readonly #faultContext: Omit<FaultContext, "random">;
  readonly #violations: string[] = [];
  /** The current network fault. */
  #networkFault: Promise<unknown> = Promise.resolve();
  /** Resolved when network faults may begin. */
  #quiet: Promise<unknown> = Promise.resolve();
  #startMs = 0;

  constructor(
    site: Site,
    cluster: ClusterUnderTest,
    loads: Loads,
    kinds: readonly FaultKind[],
    options: NemesisOptions,
  ) {
    this.#cluster = cluster;
    this.#loads = loads;
    this.#options = options;
    this.#monitor = new ClusterMonitor(cluster, loads.keys);
    this.#schedules = new Map(
      LANES.map((lane, at) => {
        const ofLane = kinds.filter((kind) => kind.lane === lane);
        const runMs = options.kinds === null ? options.runMs : null;
        return [lane, new Schedule(ofLane, runMs, seededRandom(options.seed + at))] as const;
      }),
    );
    const { network, smallDisks, blockDisks, syncControls, groups, certificates } = site;
    this.#faultContext = {
      cluster,
      load: loads.keys,
      runMs: options.runMs,
      network,
      smallDisks,
      blockDisks,
      syncControls,
      groups,
      certificates,
      // The namespace of a member contains filters of the current network fault.
      release: (name) => this.#inQuiet(() => site.release(name)),
      readdress: (name) => site.readdress(name),
      inQuiet: (action) => this.#inQuiet(action),
      excuse: (name) => this.#monitor.excuse(name),
      damage: new UnnoticedDamage(),
      excuseKill: (pid) => this.#monitor.excuseKill(pid),
    };
  }

  /** Planned kinds that never landed. */
  get missing(): readonly string[] {
    return [...this.#schedules.values()].flatMap(({ missing }) => missing);
  }

  /** Kinds for which the run was too short. */
  get unplanned(): readonly string[] {
    return [...this.#schedules.values()].flatMap(({ unplanned }) => unplanned);
  }

  /** Runs the load and makes the faults. Returns descriptions of the violations. */
  async execute(): Promise<string[]> {
    this.#startMs = performance.now();
    const { keys } = this.#loads;
    startLoads(this.#loads);
    this.#monitor.start();
    try {
      await keys.untilAcknowledged(WARM_WRITES);
    } catch (error) {
      this.#violations.push(`before the first fault: ${error instanceof Error ? error.message : String(error)}`);
    }
    await Promise.all(
      LANES.map((lane, at) => this.#runLane(lane, seededRandom(this.#options.seed + LANES.length + at))),
    );
    this.#options.print("the last fault has ended");
    this.#violations.push(...(await converge(this.#cluster, this.#loads)));
    await this.#monitor.stop();
    if (this.#violations.length > 0) {
      writeStates(this.#options.output, await this.#cluster.describe());
    }
    return [...this.#violations, ...this.#monitor.violations];
  }

  async #runLane(lane: FaultKind["lane"], random: (bound: number) => number): Promise<void> {
    const schedule = this.#schedules.get(lane) as Schedule;
    const { runMs } = this.#options;
    const endMs = performance.now() + runMs;
    // The tries after the end of the run are counted, not timed: they take long where the machine is busy.
    while (!this.#isHopeless) {
      const kind = performance.now() < endMs ? schedule.next() : schedule.nextMissing();
      if (kind === null) {
        return;
      }
      await pause(spread(random, ...REST_BEFORE_FAULT_MS));
      if (await this.#make(kind, random)) {
        schedule.noteLanded(kind);
      }
    }
  }

  /** Makes a fault and records it. Returns whether it landed. */
  async #make(kind: FaultKind, random: (bound: number) => number): Promise<boolean> {
    if (kind.lane === "network") {
      await this.#untilNotQuiet();
    }
    const startMs = this.#sinceStart();
    const making = this.#measured(kind, { ...this.#faultContext, random });
    if (kind.lane === "network") {
      this.#networkFault = making;
    }
    const landing = await making;
    const fault = { kind: kind.name, startMs, endMs: this.#sinceStart(), ...landing };
    this.faults.push(fault);
    writeFault(this.#options.output, fault);
    const seconds = (startMs / 1000).toFixed(1).padStart(6);
    this.#options.print(`${seconds} s  ${landing.result.padEnd(7)}  ${kind.name}: ${landing.evidence}`);
    return landing.result === "landed";
  }

  async #untilNotQuiet(): Promise<void> {
    // Another quiet period may have begun at once.
    for (let ended: Promise<unknown> | null = null; ended !== this.#quiet; ) {
      ended = this.#quiet;
      await ended;
    }
  }

  /** Only the member lane calls this, one fault at a time. */
  async #inQuiet<T>(action: () => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#quiet = promise;
    try {
      await this.#networkFault;
      return await action();
    } finally {
      resolve();
    }
  }

  /** Never rejects: if a member does not recover from a fault, that is a violation. */
  async #measured(kind: FaultKind, context: FaultContext): Promise<FaultResult> {
    try {
      return await kind.make(context);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#violations.push(`no recovery from "${kind.name}": ${message}`);
      return unclear(message);
    }
  }

  /** Whether there is a violation already, which more faults would only hide. */
  get #isHopeless(): boolean {
    const isLoadBroken = Object.values(this.#loads).some(({ failure }) => failure !== undefined);
    return this.#violations.length > 0 || this.#monitor.violations.length > 0 || isLoadBroken;
  }

  #sinceStart(): number {
    return Math.round(performance.now() - this.#startMs);
  }
}

function isMet(need: Need, abilities: Capabilities): boolean {
  const met: Readonly<Record<Need, boolean>> = {
    network: abilities.hasNetwork,
    rate: abilities.hasRate,
    delay: abilities.hasDelay,
    "no delay": !abilities.hasDelay,
    reordering: abilities.hasReordering,
    "sync shim": abilities.hasSyncShim,
    limits: abilities.groupVersion !== null,
    certificates: abilities.hasCertificates,
    "small disk": abilities.hasSmallDisks,
    "block disk": abilities.hasBlockDisks,
  };
  return met[need];
}
