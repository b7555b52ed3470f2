/**
 * `npm run bench`: starts clusters of its own in a temporary directory, measures them, prints what came out.
 *
 * It reports and never judges: figures of a shared machine drift, so compare ratios of runs made side by side. If what it
 * is to measure beside us cannot be had, it measures nothing.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import {
  BuildError,
  buildEtcd,
  EtcdCluster,
  type MeasuredCluster,
  QuoinCluster,
  untilLeader,
} from "./clusters/index.ts";
import { syncMsMedian } from "./disk.ts";
import { measure, type Run, type Subject } from "./measure.ts";
import { type BenchOptions, parseOptions, UsageError } from "./options.ts";
import { appendRaw, describeRun, doubtsAboutAll, pointTable, ratioTable, rawRun } from "./report.ts";
import { compare, interleave, type Point, type Ratio, summarize } from "./summary.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const MS_PER_SECOND = 1000;

async function bench(options: BenchOptions, interrupted: AbortSignal): Promise<void> {
  const etcd = options.beside === "etcd" ? await buildEtcd(interrupted) : null;
  const directory = mkdtempSync(join(tmpdir(), "quoin-bench-"));
  const clusters: MeasuredCluster[] = [];
  try {
    const syncMs = syncMsMedian(directory);
    clusters.push(await QuoinCluster.start(options.members, join(directory, "quoin")));
    if (etcd !== null) {
      clusters.push(await EtcdCluster.start(etcd, options.members, join(directory, "etcd"), interrupted));
    }
    printSetup(options, clusters, syncMs);
    await measureAll(options, clusters, interrupted);
    const syncMsAfter = syncMsMedian(directory);
    console.log(`Disk sync p50 ${syncMs.toFixed(2)} ms before, ${syncMsAfter.toFixed(2)} ms after.`);
    appendRaw(options.output, "disk", { syncMs, syncMsAfter });
  } finally {
    await Promise.all(clusters.map((cluster) => cluster.stop()));
    rmSync(directory, { recursive: true, force: true });
  }
}

function printSetup(options: BenchOptions, clusters: readonly MeasuredCluster[], syncMs: number): void {
  const { scenario, members, target, valueBytes, ...others } = options;
  const systems = clusters.map(({ name, version }) => `${name} ${version}`);
  const cpus = availableParallelism();
  console.log(
    `${scenario.name}${valueBytes > 0 ? `, ${valueBytes} bytes a value` : ""}; ${systems.join(" and ")}, ` +
      `members: ${members} each, asking ${target}; ${cpus} CPUs, disk sync p50 ${syncMs.toFixed(2)} ms`,
  );
  const asked = { scenario: scenario.name, members, target, valueBytes, ...others };
  appendRaw(options.output, "setup", { startedAt: new Date(), systems, cpus, syncMs, ...asked });
}

async function measureAll(
  options: BenchOptions,
  clusters: readonly MeasuredCluster[],
  interrupted: AbortSignal,
): Promise<void> {
  const subjects: Subject[] = [];
  for (const cluster of clusters) {
    subjects.push(await prepare(options, cluster, interrupted));
  }
  const points: Point[] = [];
  const ratios: Ratio[] = [];
  const allRuns: Run[] = [];
  for (const concurrency of options.concurrency) {
    const runs = await runInTurns(options, subjects, concurrency, interrupted);
    allRuns.push(...runs);
    const [ours, theirs] = subjects.map(({ cluster }) =>
      summarize(runs.filter(({ system }) => system === cluster.name) as [Run, ...Run[]]),
    );
    for (const point of [ours, theirs].filter((one) => one !== undefined)) {
      points.push(point);
      appendRaw(options.output, "point", point);
    }
    if (ours !== undefined && theirs !== undefined) {
      const ratio = compare(ours, theirs);
      ratios.push(ratio);
      appendRaw(options.output, "ratio", ratio);
    }
  }
  const { name } = options.scenario.concurrency;
  console.log(pointTable(points, name));
  if (ratios.length > 0) {
    const [ours, theirs] = clusters.map((cluster) => cluster.name);
    console.log(`${ours} / ${theirs} (per s: better above 1; the others: better below 1)`);
    console.log(ratioTable(ratios, name));
  }
  const doubts = doubtsAboutAll(allRuns);
  if (doubts !== "") {
    console.log(doubts);
  }
}

async function prepare(options: BenchOptions, cluster: MeasuredCluster, interrupted: AbortSignal): Promise<Subject> {
  const workload = options.scenario.createWorkload(options.valueBytes);
  const { leader } = await untilLeader(cluster, interrupted);
  const connection = await cluster.connect(leader);
  try {
    await workload.prepare(connection, Math.max(...options.concurrency));
  } finally {
    connection.close();
  }
  return { cluster, workload };
}

/** The runs of one point. */
async function runInTurns(
  options: BenchOptions,
  subjects: readonly Subject[],
  concurrency: number,
  interrupted: AbortSignal,
): Promise<Run[]> {
  const runs: Run[] = [];
  for (const subject of interleave(subjects)) {
    const idle = subjects.filter((other) => other !== subject).map(({ cluster }) => cluster);
    const run = await measure(
      subject,
      idle,
      {
        target: options.target,
        concurrency,
        warmUpMs: options.warmUpSeconds * MS_PER_SECOND,
        bounds: { ms: options.seconds * MS_PER_SECOND, operations: options.operations },
      },
      interrupted,
    );
    console.log(describeRun(run, options.scenario.concurrency.name));
    appendRaw(options.output, "run", rawRun(run));
    runs.push(run);
  }
  return runs;
}

/** Aborts at the first signal to end, so that clusters are stopped and their data removed; a second one ends at once. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => controller.abort(new Error(`interrupted by ${signal}`)));
  }
  return controller.signal;
}

const interrupted = interruption();
try {
  const options = parseOptions(process.argv.slice(2));
  if (options !== null) {
    await bench(options, interrupted);
  }
} catch (error) {
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
  if (error instanceof UsageError) {
    console.error(`npm run bench: ${error.message}\nSee npm run bench -- put --help`);
  } else if (error instanceof BuildError) {
    console.error(`npm run bench: ${error.message}; nothing was measured`);
  } else if (interrupted.aborted) {
    console.error(`npm run bench: ${interrupted.reason.message}`);
  } else {
    console.error(error);
  }
}
