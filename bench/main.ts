/**
 * `npm run bench`: starts clusters in a temporary directory, measures them, and prints the results; or measures single
 * steps of a member in this process.
 *
 * It reports and never judges. Figures of a shared machine drift, so compare ratios of runs made side by side. If the
 * system to compare with is not available, it measures nothing.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { ChartError, runChart } from "./chart/index.ts";
import { BuildError, buildPeer, EtcdCluster, type MeasuredCluster, QuoinCluster } from "./clusters/index.ts";
import { runCompare, UnfairError } from "./compare/index.ts";
import { InterferenceError, runInterference } from "./interference/index.ts";
import {
  appendRaw,
  describeRun,
  doubtsAboutAll,
  measurePoint,
  type Point,
  pointTable,
  prepare,
  type Ratio,
  type Run,
  ratioTable,
  rawRun,
  syncMsMedian,
} from "./measuring/index.ts";
import { FiguresError, runMicro } from "./micro/index.ts";
import { NoisyError, runNoisy } from "./noisy/index.ts";
import { type BenchOptions, parseOptions, UsageError } from "./options.ts";
import { runScale, ScaleError } from "./scale/index.ts";
import { runSdks, SdksError } from "./sdks/index.ts";
import { runSessions, SessionsError } from "./sessions/index.ts";
import { runSoak, SoakError } from "./soak/index.ts";
import { runTimeline, TimelineError } from "./timeline/index.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const MS_PER_SECOND = 1000;

async function bench(options: BenchOptions, interrupted: AbortSignal): Promise<void> {
  const etcd = options.beside === "etcd" ? await buildPeer("etcd", interrupted) : null;
  const directory = mkdtempSync(join(tmpdir(), "quoin-bench-"));
  const clusters: MeasuredCluster[] = [];
  try {
    const syncMs = syncMsMedian(directory);
    clusters.push(await QuoinCluster.start(options.members, join(directory, "quoin")));
    if (etcd !== null) {
      clusters.push(await EtcdCluster.start(etcd, options.members, join(directory, "etcd"), interrupted));
    }
    if (options.beside === "quoin") {
      const other = { name: "other quoin", checkout: options.besideCheckout };
      const otherDirectory = join(directory, "other-quoin");
      clusters.push(await QuoinCluster.start(options.members, otherDirectory, options.besideFlags, other));
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
  const { scenario, valueBytes, target } = options;
  const sizes = { valueBytes, concurrencyMax: Math.max(...options.concurrency) };
  const subjects = await prepare(scenario, clusters, sizes, interrupted);
  const points: Point[] = [];
  const ratios: Ratio[] = [];
  const allRuns: Run[] = [];
  const onRun = (run: Run): void => {
    console.log(describeRun(run, scenario.concurrency.name));
    appendRaw(options.output, "run", rawRun(run));
    allRuns.push(run);
  };
  const run = {
    target,
    warmUpMs: options.warmUpSeconds * MS_PER_SECOND,
    bounds: { ms: options.seconds * MS_PER_SECOND, operations: options.operations },
  };
  for (const concurrency of options.concurrency) {
    const measured = await measurePoint(subjects, { ...run, concurrency }, onRun, interrupted);
    for (const point of measured.points) {
      points.push(point);
      appendRaw(options.output, "point", point);
    }
    if (measured.ratio !== null) {
      ratios.push(measured.ratio);
      appendRaw(options.output, "ratio", measured.ratio);
    }
  }
  const { name } = scenario.concurrency;
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

/** Aborts at the first stop signal, so that clusters stop and their data is removed; a second signal ends at once. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => controller.abort(new Error(`interrupted by ${signal}`)));
  }
  return controller.signal;
}

const interrupted = interruption();
try {
  const asked = parseOptions(process.argv.slice(2));
  if (asked?.kind === "clusters") {
    await bench(asked.options, interrupted);
  } else if (asked?.kind === "micro") {
    await runMicro(asked.options, interrupted);
  } else if (asked?.kind === "chart") {
    runChart(asked.options);
  } else if (asked?.kind === "compare") {
    await runCompare(asked.options, interrupted);
  } else if (asked?.kind === "interference") {
    await runInterference(asked.options, interrupted);
  } else if (asked?.kind === "noisy") {
    await runNoisy(asked.options, interrupted);
  } else if (asked?.kind === "scale") {
    await runScale(asked.options, interrupted);
  } else if (asked?.kind === "sdks") {
    await runSdks(asked.options, interrupted);
  } else if (asked?.kind === "sessions") {
    await runSessions(asked.options, interrupted);
  } else if (asked?.kind === "soak") {
    await runSoak(asked.options, interrupted);
  } else if (asked?.kind === "timeline") {
    await runTimeline(asked.options, interrupted);
  }
} catch (error) {
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
  if (error instanceof UsageError) {
    console.error(`npm run bench: ${error.message}\nSee npm run bench -- put --help`);
  } else if (
    error instanceof BuildError ||
    error instanceof FiguresError ||
    error instanceof InterferenceError ||
    error instanceof NoisyError ||
    error instanceof SdksError ||
    error instanceof SessionsError
  ) {
    console.error(`npm run bench: ${error.message}; nothing was measured`);
  } else if (error instanceof ScaleError || error instanceof SoakError) {
    console.error(`npm run bench: ${error.message}`);
  } else if (error instanceof UnfairError) {
    console.error(`npm run bench: ${error.message}; nothing was compared`);
  } else if (error instanceof ChartError) {
    console.error(`npm run bench: ${error.message}; nothing was drawn`);
  } else if (error instanceof TimelineError) {
    console.error(`npm run bench: ${error.message}; there is no timeline`);
  } else if (interrupted.aborted) {
    console.error(`npm run bench: ${interrupted.reason.message}`);
  } else {
    console.error(error);
  }
}
