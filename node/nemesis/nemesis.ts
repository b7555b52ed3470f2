/**
 * A run: a cluster of real processes under concurrent clients, faults in an order given by a seed, then the question
 * whether every answer was right and whether the cluster came to rest. Everything is removed afterwards, also after a
 * failure or a signal; what was found out stays in the output directory.
 *
 * The seed fixes which faults are made and on what; the time at which each meets the cluster is the machine's.
 */

import { mkdirSync } from "node:fs";
import { seededRandom } from "../src/replica/index.ts";
import { ClusterUnderTest, type ConcurrentLoad, pause } from "../test/harness/index.ts";
import { converge } from "./convergence.ts";
import { DAMAGE_FAULTS } from "./damage-faults.ts";
import { DISK_FAULTS } from "./disk-faults.ts";
import { type FaultKind, type Field, type Landing, type Need, spread, unclear } from "./fault.ts";
import { judge } from "./judgement.ts";
import { removeLeftovers } from "./leftovers.ts";
import { type Abilities, findAbilities } from "./machine.ts";
import { MEMBERSHIP_FAULTS } from "./membership-faults.ts";
import { NETWORK_FAULTS } from "./network-faults.ts";
import { PROCESS_FAULTS } from "./process-faults.ts";
import { type FaultRecord, type NemesisResult, writeFault, writeHistory, writeStates, writeSummary } from "./report.ts";
import { Schedule } from "./schedule.ts";
import { Site } from "./site.ts";
import { Watch } from "./watch.ts";

export interface NemesisOptions {
  readonly members: number;
  /** How long faults are made. Recovery and judgement come on top. */
  readonly runMs: number;
  readonly seed: number;
  /** Gets history, logs and time line; made if it is not there. */
  readonly output: string;
  /** Names of the kinds of faults to make, each of which is planned then; null = all that this machine allows. */
  readonly kinds: readonly string[] | null;
  /** Whether missing tools are installed by the system's package manager. */
  readonly mayInstall: boolean;
  readonly print: (line: string) => void;
}

const CLIENTS = 8;
/** Half of the clients stay with one member each, so that all members forward and read all the time. */
const PINNED_CLIENTS = 4;
const KEYS = 10;
/** Shorter than an election: what meets a fault is of unknown outcome. */
const TIMEOUT_MS = 200;
/** Keeps the load at a few hundred operations a second, for what is looked for is no lack of speed. */
const REST_MS = 15;
/** Acknowledged writes before the first fault. */
const WARM_WRITES = 100;
/** Rest before each fault. */
const REST_BEFORE_FAULT_MS = [100, 4_000] as const;
/** So much longer may a run take until everything planned has landed. */
const OVERTIME = 0.5;
const OVERTIME_MS_MIN = 30_000;
const LANES = ["network", "member"] as const;
const INTERRUPTIONS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const EXIT_CODE_INTERRUPTED = 130;

/** All kinds of faults. */
const KINDS: readonly FaultKind[] = [
  ...NETWORK_FAULTS,
  ...PROCESS_FAULTS,
  ...DISK_FAULTS,
  ...DAMAGE_FAULTS,
  ...MEMBERSHIP_FAULTS,
];

/** Runs, and tells what came of it. Rejects only if there was nothing to judge: no cluster could be started. */
export async function runNemesis(options: NemesisOptions): Promise<NemesisResult> {
  mkdirSync(options.output, { recursive: true });
  for (const line of await removeLeftovers()) {
    options.print(`removed, left by an earlier run: ${line}`);
  }
  const abilities = await findAbilities(options.mayInstall);
  for (const line of abilities.lacking) {
    options.print(line);
  }
  const site = await Site.create(abilities, options.output);
  const interrupt = (): void => {
    void site.remove().finally(() => process.exit(EXIT_CODE_INTERRUPTED));
  };
  for (const signal of INTERRUPTIONS) {
    process.once(signal, interrupt);
  }
  try {
    return await runAt(site, abilities, options);
  } finally {
    await site.remove();
    for (const signal of INTERRUPTIONS) {
      process.removeListener(signal, interrupt);
    }
  }
}

async function runAt(site: Site, abilities: Abilities, options: NemesisOptions): Promise<NemesisResult> {
  const { members, seed, output, print } = options;
  const placeOf = (name: string) => site.placeOf(name);
  const cluster = await ClusterUnderTest.start(members, { placeOf, directory: site.directory });
  try {
    const load = cluster.load({
      ...{ clients: CLIENTS, pinned: PINNED_CLIENTS, keys: KEYS, seed, timeoutMs: TIMEOUT_MS, restMs: REST_MS },
      // A disk may get full.
      alsoExpected: abilities.hasSmallDisks ? ["RESOURCE_EXHAUSTED"] : [],
    });
    const run = new Run(site, cluster, load, abilities, options);
    const startMs = performance.now();
    const violations = await run.execute();
    const { operations } = load.history;
    writeHistory(output, operations);
    const loadEndMs = performance.now();
    print(`judging ${operations.length} operations`);
    violations.push(...judge(operations));
    const { acknowledgedWrites, unknown, failed, writeGapMs } = load.statistics(startMs, loadEndMs);
    const counts = { operations: operations.length, acknowledgedWrites, unknown, failed, writeGapMs };
    const { faults, missing } = run;
    const { lacking } = abilities;
    const result = {
      seed,
      members,
      durationMs: loadEndMs - startMs,
      ...counts,
      faults,
      missing,
      lacking,
      violations,
      output,
    };
    writeSummary(output, result);
    return result;
  } finally {
    await cluster.dispose();
  }
}

/** The time from the start of the load until the cluster has come to rest. */
class Run {
  readonly faults: FaultRecord[] = [];
  readonly #cluster: ClusterUnderTest;
  readonly #load: ConcurrentLoad;
  readonly #options: NemesisOptions;
  readonly #watch: Watch;
  readonly #schedules: Map<FaultKind["lane"], Schedule>;
  readonly #field: Omit<Field, "random">;
  readonly #violations: string[] = [];
  /** The network fault that goes on. */
  #networkFault: Promise<unknown> = Promise.resolve();
  #startMs = 0;

  constructor(
    site: Site,
    cluster: ClusterUnderTest,
    load: ConcurrentLoad,
    abilities: Abilities,
    options: NemesisOptions,
  ) {
    this.#cluster = cluster;
    this.#load = load;
    this.#options = options;
    this.#watch = new Watch(cluster, load);
    const possible = KINDS.filter(({ needs }) => needs.every((need) => isMet(need, abilities)));
    const chosen = options.kinds === null ? possible : kindsNamed(options.kinds, possible);
    this.#schedules = new Map(
      LANES.map((lane, at) => {
        const kinds = chosen.filter((kind) => kind.lane === lane);
        const runMs = options.kinds === null ? options.runMs : null;
        return [lane, new Schedule(kinds, runMs, seededRandom(options.seed + at))] as const;
      }),
    );
    this.#field = {
      ...{ cluster, load, runMs: options.runMs, network: site.network },
      ...{ smallDisks: site.smallDisks, blockDisks: site.blockDisks },
      release: async (name) => {
        // Its namespace holds filters of the present fault.
        await this.#networkFault;
        await site.release(name);
      },
      excuse: (name) => this.#watch.excuse(name),
    };
  }

  /** Planned kinds that never landed. */
  get missing(): readonly string[] {
    return [...this.#schedules.values()].flatMap(({ missing }) => missing);
  }

  /** Runs the load and makes the faults; what is wrong, in words. */
  async execute(): Promise<string[]> {
    this.#startMs = performance.now();
    this.#load.start();
    this.#watch.start();
    try {
      await this.#load.untilAcknowledged(WARM_WRITES);
    } catch (error) {
      this.#violations.push(`before the first fault: ${error instanceof Error ? error.message : String(error)}`);
    }
    await Promise.all(
      LANES.map((lane, at) => this.#runLane(lane, seededRandom(this.#options.seed + LANES.length + at))),
    );
    this.#options.print("the last fault has ended");
    this.#violations.push(...(await converge(this.#cluster, this.#load)));
    await this.#watch.stop();
    if (this.#violations.length > 0) {
      writeStates(this.#options.output, await this.#cluster.describe());
    }
    return [...this.#violations, ...this.#watch.violations];
  }

  async #runLane(lane: FaultKind["lane"], random: (bound: number) => number): Promise<void> {
    const schedule = this.#schedules.get(lane) as Schedule;
    const { runMs } = this.#options;
    const endMs = performance.now() + runMs;
    const overtimeEndMs = endMs + Math.max(runMs * OVERTIME, OVERTIME_MS_MIN);
    while (performance.now() < overtimeEndMs && !this.#isHopeless) {
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

  /** Makes a fault and records it; whether it landed. */
  async #make(kind: FaultKind, random: (bound: number) => number): Promise<boolean> {
    const startMs = this.#sinceStart();
    const making = this.#measured(kind, { ...this.#field, random });
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

  /** Never rejects: a fault that a member does not recover from is a violation. */
  async #measured(kind: FaultKind, field: Field): Promise<Landing> {
    try {
      return await kind.make(field);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#violations.push(`no recovery from "${kind.name}": ${message}`);
      return unclear(message);
    }
  }

  /** Something is wrong already that more faults would only hide. */
  get #isHopeless(): boolean {
    return this.#violations.length > 0 || this.#watch.violations.length > 0 || this.#load.failure !== undefined;
  }

  #sinceStart(): number {
    return Math.round(performance.now() - this.#startMs);
  }
}

function isMet(need: Need, abilities: Abilities): boolean {
  const met: Readonly<Record<Need, boolean>> = {
    network: abilities.hasNetwork,
    rate: abilities.hasRate,
    delay: abilities.hasDelay,
    "no delay": !abilities.hasDelay,
    "small disk": abilities.hasSmallDisks,
    "block disk": abilities.hasBlockDisks,
  };
  return met[need];
}

function kindsNamed(names: readonly string[], possible: readonly FaultKind[]): FaultKind[] {
  return names.map((name) => {
    const kind = possible.find((candidate) => candidate.name === name);
    if (kind === undefined) {
      throw new Error(
        `no fault "${name}" can be made here, only ${possible.map((candidate) => candidate.name).join("; ")}`,
      );
    }
    return kind;
  });
}
