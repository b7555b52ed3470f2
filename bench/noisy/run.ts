/**
 * Measures what a quiet tenant notices of others. A cluster of three has two tenants and its default limits. Before each
 * noise, the quiet tenant is alone; then another process makes the noise.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type AdminClient, type Client, createAdminClient, createClient } from "@quoin/client";
import { freeBasePort, LOCAL_HOST, type LocalCluster, portsOf } from "@quoin/node/local";
import { buildMemberPrograms } from "../clusters/index.ts";
import { syncMsMedian } from "../measuring/index.ts";
import { writeReport } from "../tables/index.ts";
import { LoadMeter } from "./load.ts";
import type { Noise, NoiseTarget, TargetPorts } from "./noise.ts";
import { NOISES } from "./noises.ts";
import type { NoisyOptions } from "./options.ts";
import { QuietTenant } from "./quiet-tenant.ts";
import { jsonReport, markdownReport, type NoisyReport, type NoisyRow, terminalReport } from "./report.ts";
import { createTenant } from "./tenants.ts";

/** No noise has a name that matches. */
export class NoisyError extends Error {}

const MEMBERS = 3;
const QUIET = "quiet";
const NOISY = "noisy";
const NOISE_PROCESS = fileURLToPath(new URL("noise-process.ts", import.meta.url));
const MS_PER_SECOND = 1_000;
/** Clients run on other machines. Here they must not take processor time that members need. */
const LOWEST_PRIORITY = 19;
/** After a noise: connections close, debts are paid, short-lived keys expire, and members count what was. */
const REST_MS = 6_000;
const LEADER_POLL_MS = 100;
const LEADER_LIMIT_MS = 60_000;
/** What the noisy tenant has before the first noise. */
const KEYS = 5_000;
const VERSIONS = 1_000;
const LOCKS = 1_000;
const AT_ONCE = 50;
const EVENTS = 10_000;
const REGION_BYTES = 2 * 1_024 * 1_024;

/** Raises a NoisyError, or the reason of the interruption. */
export async function runNoisy(options: NoisyOptions, interrupted: AbortSignal): Promise<void> {
  const noises = NOISES.filter(({ name }) => options.only?.test(name) ?? true);
  if (noises.length === 0) {
    throw new NoisyError(`no noise matches. There are: ${NOISES.map(({ name }) => name).join("; ")}`);
  }
  const directory = mkdtempSync(join(tmpdir(), "quoin-bench-"));
  let site: Site | null = null;
  try {
    const syncMs = syncMsMedian(directory);
    const startedAt = new Date();
    site = await Site.begin(join(directory, "quoin"));
    const rows: NoisyRow[] = [];
    for (const noise of noises) {
      interrupted.throwIfAborted();
      const row = await site.measure(noise, options.seconds, interrupted);
      rows.push(row);
      console.log(`${noise.name}: ${row.did}`);
    }
    const { version } = site;
    const { seconds } = options;
    const report: NoisyReport = {
      startedAt,
      version,
      cpus: availableParallelism(),
      options: { seconds },
      syncMs,
      rows,
    };
    console.log(terminalReport(report));
    writeReport(options, { markdown: () => markdownReport(report), json: () => jsonReport(report) });
  } finally {
    await site?.end();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The cluster with both tenants. */
class Site {
  readonly version: string;
  readonly #cluster: LocalCluster;
  readonly #ports: readonly TargetPorts[];
  readonly #admins: readonly AdminClient[];
  readonly #quiet: QuietTenant;
  readonly #target: Omit<NoiseTarget, "members" | "seconds">;
  /** Members that have ended so far. */
  #ended = 0;

  private constructor(
    cluster: LocalCluster,
    ports: readonly TargetPorts[],
    admins: readonly AdminClient[],
    version: string,
    quiet: QuietTenant,
    target: Omit<NoiseTarget, "members" | "seconds">,
  ) {
    this.#cluster = cluster;
    this.#ports = ports;
    this.#admins = admins;
    this.version = version;
    this.#quiet = quiet;
    this.#target = target;
    // It settles only for a cluster of one.
    void cluster.untilFailed(() => void this.#ended++);
  }

  static async begin(dataDirectory: string): Promise<Site> {
    const { LocalCluster: Launched } = await buildMemberPrograms(join(dataDirectory, "programs"));
    const basePort = await freeBasePort();
    const cluster = await Launched.start({ members: MEMBERS, basePort, dataDirectory });
    const { grpc, apiKey } = cluster.endpoints;
    const credentials = { apiKey };
    const owner = createClient({ endpoints: grpc, credentials });
    const admins = grpc.map((endpoint) => createAdminClient({ endpoint, credentials }));
    let quiet: QuietTenant | null = null;
    try {
      const quietTokens = await createTenant(owner, cluster.endpoints, dataDirectory, QUIET);
      const noisyTokens = await createTenant(owner, cluster.endpoints, dataDirectory, NOISY);
      const target = { namespace: NOISY, token: await noisyTokens.token(), ...(await furnish(owner)) };
      quiet = new QuietTenant(grpc, quietTokens, QUIET);
      await quiet.start();
      const version = (await (admins[0] as AdminClient).getStatus()).status.version;
      const ports = Array.from({ length: MEMBERS }, (_, at) => addressesOf(basePort, at));
      return new Site(cluster, ports, admins, version, quiet, target);
    } catch (error) {
      quiet?.stop();
      for (const admin of admins) {
        admin.close();
      }
      await cluster.stop();
      throw error;
    } finally {
      owner.close();
    }
  }

  async measure(noise: Noise, seconds: number, interrupted: AbortSignal): Promise<NoisyRow> {
    const before = await this.#leadership();
    this.#quiet.take();
    await sleep(seconds * MS_PER_SECOND, undefined, { signal: interrupted });
    const alone = this.#quiet.take();
    const members = this.#ports.toSorted((one, other) => {
      return Number(other.grpc === before.grpc) - Number(one.grpc === before.grpc);
    });
    let meter = new LoadMeter(this.#cluster.memberPids);
    const did = await makeNoise(noise, { ...this.#target, members, seconds }, () => {
      this.#quiet.take();
      meter = new LoadMeter(this.#cluster.memberPids);
    });
    const during = this.#quiet.take();
    const loadOf = meter.stop();
    await sleep(REST_MS, undefined, { signal: interrupted });
    const after = await this.#leadership();
    const leaderChanges = after.term - before.term;
    const load = await loadOf(this.#admins[0] as AdminClient);
    return { noise: noise.name, did, before: alone, during, load, leaderChanges, ended: this.#ended };
  }

  async end(): Promise<void> {
    this.#quiet.stop();
    for (const admin of this.#admins) {
      admin.close();
    }
    await this.#cluster.stop();
  }

  /** The term, and the gRPC address of its leader, as soon as there is one. */
  async #leadership(): Promise<{ readonly term: number; readonly grpc: string }> {
    const limitMs = performance.now() + LEADER_LIMIT_MS;
    for (;;) {
      const answers = await Promise.allSettled(this.#admins.map((admin) => admin.getStatus()));
      const at = answers.findIndex((answer) => answer.status === "fulfilled" && answer.value.status.role === "LEADER");
      const answer = answers[at];
      if (answer?.status === "fulfilled") {
        return { term: answer.value.status.term, grpc: (this.#ports[at] as TargetPorts).grpc };
      }
      if (performance.now() > limitMs) {
        throw new NoisyError("the cluster has no leader");
      }
      await sleep(LEADER_POLL_MS);
    }
  }
}

function addressesOf(basePort: number, at: number): TargetPorts {
  const ports = Object.entries(portsOf(basePort, at));
  return Object.fromEntries(ports.map(([use, port]) => [use, `${LOCAL_HOST}:${port}`])) as unknown as TargetPorts;
}

/** Gives the noisy tenant keys, versions, locks, a log and a region. */
async function furnish(owner: Client): Promise<Pick<NoiseTarget, "logId" | "regionId">> {
  const { keyValue, locks, readWriteLocks, logs, memory } = owner;
  const each = async (count: number, work: (at: number) => Promise<unknown>): Promise<void> => {
    for (let from = 0; from < count; from += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => work(from + at)));
    }
  };
  await each(KEYS, (at) => keyValue.put(NOISY, `key-${String(at).padStart(5, "0")}`, Buffer.alloc(1_024, "v")));
  await each(VERSIONS, (at) => keyValue.put(NOISY, "hot", `version ${at}`));
  await each(LOCKS, (at) => locks.create(NOISY, `lock-${at}`));
  await readWriteLocks.create(NOISY, "rw-lock");
  const { logId } = await logs.create("events", { namespace: NOISY });
  await logs.appendBatch(logId, Array(EVENTS).fill("x".repeat(100)));
  const { regionId } = await memory.allocate(NOISY, REGION_BYTES);
  return { logId, regionId };
}

/** @param onBegun called when the process has started, and the noise begins. */
async function makeNoise({ name }: Noise, target: NoiseTarget, onBegun: () => void): Promise<string> {
  const child = spawn(process.execPath, [NOISE_PROCESS, name], { stdio: ["pipe", "pipe", "inherit"] });
  setPriority(child.pid ?? 0, LOWEST_PRIORITY);
  child.stdin.end(JSON.stringify(target));
  const ended = once(child, "close");
  await Promise.race([once(child.stdout, "readable"), ended]);
  onBegun();
  const [printed] = await Promise.all([text(child.stdout), ended]);
  if (child.exitCode !== 0) {
    throw new NoisyError(`the noise "${name}" ended with ${child.exitCode ?? child.signalCode}`);
  }
  return printed.slice(printed.indexOf("\n") + 1);
}
