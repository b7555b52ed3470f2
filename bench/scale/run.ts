/**
 * Writes many keys into three members, and measures them while they grow. Then come restarts, a new member and a backup,
 * and at last members at rest, with more and more locks, sessions, watches and event logs.
 */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, createClient, createTokenSource, isQuoinError, type TokenSource } from "@quoin/client";
import { sumOfMetric } from "../clusters/index.ts";
import { syncMsMedian } from "../measuring/index.ts";
import { type MemberSample, Members, type PutDelays, SteadyPuts, sampleMember } from "../members/index.ts";
import { createTenant } from "../noisy/index.ts";
import { writeReport } from "../tables/index.ts";
import { Burdens } from "./burdens.ts";
import { DiskGuard, ScaleError } from "./disk-guard.ts";
import { Growth } from "./growth.ts";
import type { ScaleOptions } from "./options.ts";
import {
  describeGrowth,
  type Footprint,
  jsonReport,
  type Measured,
  markdownReport,
  type ScaleReport,
  terminalReport,
} from "./report.ts";

const STEP_KEYS = 1_000_000;
/** A smaller number of keys still has so many rows. */
const STEPS_MIN = 5;
const CHECK_MS = 2_000;
const PROBE_NAMESPACE = "probe";
const PROBE_INTERVAL_MS = 100;
/** Long after the last answer to a put that was due before. */
const ANSWERS_MS = 2_000;
/** The bytes of a key besides its value, with all that belongs to it, on the disk of a member. */
const KEY_BYTES = 200;
const DAY_SECONDS = 86_400;
const MS_PER_SECOND = 1_000;
const UNLIMITED = ["--rate-limit", "grpc=0", "--rate-limit", "http=0"];

type Print = (line: string) => void;

/** Raises a ScaleError, when what was measured is written, or the reason of the interruption. */
export async function runScale(
  options: ScaleOptions,
  interrupted: AbortSignal,
  print: Print = console.log,
): Promise<ScaleReport> {
  const directory = mkdtempSync(join(tmpdir(), "quoin-bench-"));
  let members: Members | null = null;
  try {
    const guard = new DiskGuard(directory, options.diskGib);
    guard.requireSpace(0, "the first key");
    const syncMs = syncMsMedian(directory);
    const store = join(directory, "backups");
    mkdirSync(store);
    members = await Members.start(join(directory, "quoin"), [...UNLIMITED, "--backup-store", store], interrupted);
    const startedAt = new Date();
    const { keys, valueBytes, inFlight } = options;
    const setup = { startedAt, version: await members.version(), cpus: availableParallelism(), syncMs };
    const scale = await Scale.prepare(members, options, guard, interrupted, print);
    const failure = await scale.run();
    const report: ScaleReport = {
      ...setup,
      options: { keys, valueBytes, inFlight },
      failure: failure?.message ?? null,
      measured: scale.measured,
    };
    print(terminalReport(report));
    writeReport(options, { markdown: () => markdownReport(report), json: () => jsonReport(report) });
    if (failure !== null) {
      throw failure;
    }
    return report;
  } finally {
    await members?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

class Scale {
  readonly measured: Measured = {
    growth: [],
    probeAlone: null,
    backup: null,
    replacement: null,
    restartOneMs: null,
    restartAllMs: null,
    afterRestart: null,
    burdens: [],
  };
  readonly #members: Members;
  readonly #options: ScaleOptions;
  readonly #guard: DiskGuard;
  readonly #interrupted: AbortSignal;
  readonly #print: Print;
  readonly #tokens: TokenSource;
  readonly #client: Client;

  private constructor(
    members: Members,
    options: ScaleOptions,
    guard: DiskGuard,
    interrupted: AbortSignal,
    print: Print,
  ) {
    const { grpc: endpoints, apiKey } = members.endpoints;
    this.#members = members;
    this.#options = options;
    this.#guard = guard;
    this.#interrupted = interrupted;
    this.#print = print;
    this.#tokens = createTokenSource({ credentials: { apiKey }, endpoints });
    this.#client = createClient({ endpoints, credentials: this.#tokens });
  }

  /** Removes what limits the keys. */
  static async prepare(
    members: Members,
    options: ScaleOptions,
    guard: DiskGuard,
    interrupted: AbortSignal,
    print: Print,
  ): Promise<Scale> {
    const settings = [
      // The single puts have only one token.
      ["token.lifetime_secs", DAY_SECONDS],
      ["quota.namespace.keys", 2 * options.keys],
    ] as const;
    await members.putSettings(new Map(settings));
    return new Scale(members, options, guard, interrupted, print);
  }

  /** Returns why it ended early; null = it did not. */
  async run(): Promise<ScaleError | null> {
    try {
      await this.#withProbe(async (probe) => {
        await this.#grow(probe);
        await this.#backUp(probe);
        await this.#replace(probe);
      });
      await this.#restart();
      await this.#rest();
      return null;
    } catch (error) {
      if (isQuoinError(error)) {
        const reason = [error.code, error.reason].join(" ").trim();
        return new ScaleError(`a call failed with ${reason}: ${error.message}`, { cause: error });
      }
      if (error instanceof ScaleError) {
        return error;
      }
      throw error;
    } finally {
      this.#client.close();
    }
  }

  /** Works beside single puts of another user, from a process of their own. */
  async #withProbe(work: (probe: SteadyPuts) => Promise<void>): Promise<void> {
    const { endpoints, directory } = this.#members;
    const tokens = await createTenant(this.#client, endpoints, directory, PROBE_NAMESPACE);
    const probe = await SteadyPuts.start({
      endpoints: endpoints.grpc,
      namespace: PROBE_NAMESPACE,
      token: await tokens.token(),
      intervalMs: PROBE_INTERVAL_MS,
    });
    try {
      await work(probe);
    } finally {
      await probe.stop();
    }
  }

  async #grow(probe: SteadyPuts): Promise<void> {
    const { keys, valueBytes, inFlight } = this.#options;
    const credentials = this.#tokens;
    const { grpc } = this.#members.endpoints;
    const clients = grpc.map((endpoint) => createClient({ endpoints: [endpoint], credentials }));
    const growth = new Growth(clients, valueBytes, inFlight);
    const step = Math.min(STEP_KEYS, Math.ceil(keys / STEPS_MIN));
    let checkedMs = 0;
    const check = (): void => {
      this.#interrupted.throwIfAborted();
      if (performance.now() - checkedMs > CHECK_MS) {
        checkedMs = performance.now();
        this.#guard.requireSpace(0, `the key with number ${growth.written.toLocaleString("en-US")}`);
      }
    };
    try {
      for (let until = step; growth.written < keys; until += step) {
        const before = growth.written;
        const startMs = performance.now();
        await growth.writeUntil(Math.min(until, keys), check);
        const endMs = performance.now();
        const row = {
          keys: growth.written,
          putsPerSecond: ((growth.written - before) / (endMs - startMs)) * MS_PER_SECOND,
          probe: await this.#answeredSince(probe, startMs, endMs),
          ...(await this.#footprint()),
        };
        this.measured.growth.push(row);
        this.#print(describeGrowth(row));
      }
    } finally {
      for (const client of clients) {
        client.close();
      }
    }
    await this.#assertKeys();
    const startMs = performance.now();
    await this.#pause();
    this.measured.probeAlone = await this.#answeredSince(probe, startMs, performance.now());
  }

  async #backUp(probe: SteadyPuts): Promise<void> {
    // A backup is not compressed as the state is.
    const { keys, valueBytes } = this.#options;
    this.#guard.requireSpace(keys * (valueBytes + KEY_BYTES), "the backup");
    const at = await this.#follower();
    const startMs = performance.now();
    const backup = await this.#members.backUp(at);
    const delays = await this.#answeredSince(probe, startMs, performance.now());
    this.measured.backup = { ...backup, probe: delays };
    this.#print(`backup: ${backup.seconds.toFixed(1)} s`);
  }

  async #replace(probe: SteadyPuts): Promise<void> {
    const at = await this.#follower();
    const { stateBytes, logBytes } = await this.#sample(at);
    this.#guard.requireSpace(stateBytes + logBytes, "the new member");
    const startMs = performance.now();
    const replacement = await this.#members.replace(at);
    const delays = await this.#answeredSince(probe, startMs, performance.now());
    const sample = await this.#sample(at);
    this.measured.replacement = { ...replacement, stateBytes: sample.stateBytes, probe: delays };
    this.#print(`new member: ${(replacement.ms / MS_PER_SECOND).toFixed(1)} s`);
  }

  async #restart(): Promise<void> {
    const at = await this.#follower();
    await this.#members.kill(at);
    const startMs = performance.now();
    await this.#members.start(at);
    await this.#members.untilReady(at);
    this.measured.restartOneMs = performance.now() - startMs;
    this.measured.restartAllMs = await this.#members.restartAll();
    await this.#assertKeys();
    await this.#pause();
    this.measured.afterRestart = await this.#footprint();
    this.#print(`start of all three: ${(this.measured.restartAllMs / MS_PER_SECOND).toFixed(1)} s`);
  }

  /** Measures the members at rest: without anything else first, then with one kind after the other. */
  async #rest(): Promise<void> {
    await this.#addBurden("keys alone", 0, 0);
    const burdens = new Burdens(this.#client, this.#members.endpoints.grpc, await this.#tokens.token());
    try {
      for (const { name, count, make } of await burdens.prepare(this.#options.burdens)) {
        const startMs = performance.now();
        await make();
        await this.#addBurden(name, count, (performance.now() - startMs) / MS_PER_SECOND);
        burdens.assertWatched();
      }
    } finally {
      burdens.close();
    }
  }

  async #addBurden(name: string, count: number, makeSeconds: number): Promise<void> {
    await this.#pause();
    const before = await this.#samples();
    const startMs = performance.now();
    await this.#pause();
    const seconds = (performance.now() - startMs) / MS_PER_SECOND;
    const after = await this.#samples();
    const cpuMsPerSecond = after.map(({ cpuMs }, at) => (cpuMs - (before[at]?.cpuMs ?? 0)) / seconds);
    const residentBytes = after.map((sample) => sample.residentBytes);
    this.measured.burdens.push({ name, count, makeSeconds, residentBytes, cpuMsPerSecond });
    this.#print(`at rest with ${count} ${name}: made in ${makeSeconds.toFixed(1)} s`);
  }

  /** The single puts that were due in this time; waits for their answers. */
  async #answeredSince(probe: SteadyPuts, startMs: number, endMs: number): Promise<PutDelays> {
    await sleep(ANSWERS_MS, undefined, { signal: this.#interrupted });
    probe.assertRunning();
    const delays = probe.between(startMs, endMs);
    if (delays.failed > 0) {
      throw new ScaleError(`${delays.failed} of ${delays.count} single puts have failed`);
    }
    return delays;
  }

  /** Raises a ScaleError unless every member has all keys. */
  async #assertKeys(): Promise<void> {
    for (const [at] of this.#members.pids.entries()) {
      const keys = sumOfMetric((await this.#members.metrics(at)) ?? "", "quoin_keys");
      if (keys < this.#options.keys) {
        throw new ScaleError(`${this.#members.nameOf(at)} has ${keys} keys, and ${this.#options.keys} were written`);
      }
    }
  }

  async #footprint(): Promise<Footprint> {
    const samples = await this.#samples();
    return {
      residentBytes: samples.map(({ residentBytes }) => residentBytes),
      logBytes: samples.map(({ logBytes }) => logBytes),
      stateBytes: samples.map(({ stateBytes }) => stateBytes),
    };
  }

  #samples(): Promise<readonly MemberSample[]> {
    return Promise.all(this.#members.pids.map((_, at) => this.#sample(at)));
  }

  async #sample(at: number): Promise<MemberSample> {
    const sample = await sampleMember(this.#members, at);
    if (sample === null) {
      throw new ScaleError(`${this.#members.nameOf(at)} does not answer, or this system has no /proc`);
    }
    return sample;
  }

  async #follower(): Promise<number> {
    const { at } = await this.#members.untilLeader();
    return (at + 1) % this.#members.pids.length;
  }

  #pause(): Promise<void> {
    return sleep(this.#options.restSeconds * MS_PER_SECOND, undefined, { signal: this.#interrupted });
  }
}
