/**
 * Measures every scenario that the other system supports as well, over all members of both, and writes the ratios.
 *
 * Both clusters run the whole time; the one that is not measured is idle. A failed request ends everything, because a
 * figure with errors in it is worthless.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import {
  buildLoad,
  buildPeer,
  EtcdCluster,
  type MeasuredCluster,
  NatsCluster,
  type Peer,
  QuoinCluster,
} from "../clusters/index.ts";
import { describeRun, isDisturbed, measurePoint, prepare, type Run, syncMsMedian } from "../measuring/index.ts";
import { byGo } from "../scenarios/index.ts";
import { writeReport } from "../tables/index.ts";
import { MEMBERS, requireFair } from "./fairness.ts";
import type { CompareOptions } from "./options.ts";
import { jsonReport, markdownReport, type Row, type Setup, terminalTable } from "./report.ts";

const MS_PER_SECOND = 1000;

type Start = (
  program: string,
  members: number,
  directory: string,
  interrupted: AbortSignal,
) => Promise<MeasuredCluster>;

/** Starts a cluster of each system. */
const START: Readonly<Record<Peer, Start>> = { etcd: EtcdCluster.start, nats: NatsCluster.start };

/** Raises a BuildError if the other system cannot be built, and an UnfairError if the comparison would not be fair. */
export async function runCompare(asked: CompareOptions, interrupted: AbortSignal): Promise<void> {
  const program = await buildPeer(asked.peer, interrupted);
  const options = asked.generator === "go" ? await withGo(asked, interrupted) : asked;
  const directory = mkdtempSync(join(tmpdir(), "quoin-bench-"));
  const clusters: MeasuredCluster[] = [];
  try {
    const syncMs = syncMsMedian(directory);
    const ours = await QuoinCluster.start(MEMBERS, join(directory, "quoin"));
    clusters.push(ours);
    const theirs = await START[options.peer](program, MEMBERS, join(directory, options.peer), interrupted);
    clusters.push(theirs);
    await requireFair(clusters, syncMs, 0);
    const startedAt = new Date();
    const { rows, runs } = await measureRows(options, clusters, syncMs, interrupted);
    const setup: Setup = {
      startedAt,
      systems: [`${ours.name} ${ours.version}`, `${theirs.name} ${theirs.version}`],
      settings: clusters.filter(({ settings }) => settings !== "").map(({ name, settings }) => `${name}: ${settings}`),
      members: MEMBERS,
      generator: options.generator,
      cpus: availableParallelism(),
      syncMs,
      syncMsAfter: syncMsMedian(directory),
      disturbedRuns: runs.filter(isDisturbed).length,
      runs: runs.length,
    };
    console.log(terminalTable(rows));
    for (const line of setup.settings) {
      console.log(line);
    }
    console.log(`Disturbed: ${setup.disturbedRuns} of ${setup.runs} runs.`);
    writeReport(options, { markdown: () => markdownReport(setup, rows), json: () => jsonReport(setup, rows) });
  } finally {
    await Promise.all(clusters.map((cluster) => cluster.stop()));
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The same with scenarios whose calls come from the program in Go. Raises a BuildError if it cannot be built. */
async function withGo(options: CompareOptions, interrupted: AbortSignal): Promise<CompareOptions> {
  const program = await buildLoad(interrupted);
  return { ...options, scenarios: options.scenarios.map((scenario) => byGo(scenario, program)) };
}

async function measureRows(
  options: CompareOptions,
  clusters: readonly MeasuredCluster[],
  syncMs: number,
  interrupted: AbortSignal,
): Promise<{ readonly rows: readonly Row[]; readonly runs: readonly Run[] }> {
  const rows: Row[] = [];
  const allRuns: Run[] = [];
  for (const scenario of options.scenarios) {
    const { name: concurrencyName, counts } = scenario.concurrency;
    const sizes = { valueBytes: scenario.valueBytesDefault ?? 0, concurrencyMax: Math.max(...counts) };
    const subjects = await prepare(scenario, clusters, sizes, interrupted);
    // Each scenario of a system with streams has created one.
    await requireFair(clusters, syncMs, options.scenarios.indexOf(scenario) + 1);
    for (const concurrency of counts) {
      const onRun = (run: Run) => console.log(`${scenario.name}: ${describeRun(run, concurrencyName)}`);
      const run = {
        target: "any",
        concurrency,
        warmUpMs: options.warmUpSeconds * MS_PER_SECOND,
        bounds: { ms: options.seconds * MS_PER_SECOND, operations: options.operations },
      } as const;
      const { runs, points, ratio } = await measurePoint(subjects, run, onRun, interrupted);
      allRuns.push(...runs);
      const [ours, theirs] = points;
      if (ours !== undefined && theirs !== undefined && ratio !== null) {
        rows.push({ scenario: scenario.name, concurrencyName, ours, theirs, ratio });
      }
    }
  }
  return { rows, runs: allRuns };
}
