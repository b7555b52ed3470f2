/**
 * `npm run bench`: starts a cluster of its own in a temporary directory, measures it, prints what came out.
 *
 * It reports and never judges: figures of a shared machine drift, so compare ratios of runs made side by side.
 */

import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTokenSource } from "@quoin/client";
import { freeBasePort, LocalCluster } from "@quoin/node/local";
import Table from "cli-table3";
import { syncMsMedian } from "./disk.ts";
import { type PutOptions, parseOptions, UsageError } from "./options.ts";
import { percentile } from "./percentile.ts";
import { usageOf } from "./process-usage.ts";
import { type PutLoad, runPuts } from "./put-load.ts";

interface Point {
  readonly inFlight: number;
  readonly operations: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** CPU milliseconds of the member and of the generator per 1,000 operations. */
  readonly memberCpuMsPer1000: number | null;
  readonly generatorCpuMsPer1000: number;
  readonly memberMemoryMiB: number | null;
}

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const MICROSECONDS_PER_MS = 1000;
const BYTES_PER_MIB = 1024 * 1024;

async function benchPut(options: PutOptions): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "quoin-bench-"));
  try {
    const syncMs = syncMsMedian(directory);
    console.log(`1 member, ${options.valueBytes} bytes a value, disk sync p50 ${syncMs.toFixed(2)} ms`);
    const cluster = await LocalCluster.start({
      members: 1,
      basePort: await freeBasePort(),
      dataDirectory: join(directory, "cluster"),
    });
    try {
      const points: Point[] = [];
      for (const inFlight of options.inFlight) {
        points.push(await measure(cluster, options, inFlight));
      }
      print(points);
      if (options.output !== null) {
        const lines = points.map((point) => `${JSON.stringify({ scenario: "put", syncMs, ...point })}\n`);
        appendFileSync(options.output, lines.join(""));
      }
    } finally {
      await cluster.stop();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measure(cluster: LocalCluster, options: PutOptions, inFlight: number): Promise<Point> {
  const { endpoints, memberPid } = cluster;
  const tokens = createTokenSource({ apiKey: endpoints.apiKey, httpEndpoints: endpoints.http }, undefined);
  const load: PutLoad = {
    endpoint: endpoints.grpc[0] ?? "",
    token: await tokens.token(),
    valueBytes: options.valueBytes,
  };
  const warmUp = await runPuts(load, inFlight, { ms: options.warmUpSeconds * 1000, operations: Infinity });
  const memberBefore = usageOf(memberPid ?? 0);
  const generatorBefore = process.cpuUsage();
  const run = await runPuts(load, inFlight, { ms: options.seconds * 1000, operations: options.operations });
  const generator = process.cpuUsage(generatorBefore);
  const memberAfter = usageOf(memberPid ?? 0);
  const operations = run.latenciesMs.length;
  // Every put takes a revision; fewer would mean that some were answered without being done.
  const applied = Number(run.revision - warmUp.revision);
  if (applied !== operations) {
    throw new Error(`${operations} puts were acknowledged, but the revision grew by ${applied}`);
  }
  const ascending = run.latenciesMs.sort();
  const per1000 = (ms: number): number => (ms / operations) * 1000;
  return {
    inFlight,
    operations,
    perSecond: operations / (run.durationMs / 1000),
    p50Ms: percentile(ascending, 50),
    p99Ms: percentile(ascending, 99),
    maxMs: percentile(ascending, 100),
    memberCpuMsPer1000:
      memberBefore === null || memberAfter === null ? null : per1000(memberAfter.cpuMs - memberBefore.cpuMs),
    generatorCpuMsPer1000: per1000((generator.user + generator.system) / MICROSECONDS_PER_MS),
    memberMemoryMiB: memberAfter === null ? null : memberAfter.memoryBytesMax / BYTES_PER_MIB,
  };
}

function print(points: readonly Point[]): void {
  const table = new Table({
    head: ["in flight", "puts", "puts/s", "p50 ms", "p99 ms", "max ms", "CPU s/1000", "generator", "memory MiB"],
    style: { head: [], border: [] },
    colAligns: Array.from({ length: 9 }, () => "right" as const),
  });
  for (const point of points) {
    table.push([
      point.inFlight,
      point.operations,
      point.perSecond.toFixed(0),
      point.p50Ms.toFixed(2),
      point.p99Ms.toFixed(2),
      point.maxMs.toFixed(1),
      point.memberCpuMsPer1000 === null ? "?" : (point.memberCpuMsPer1000 / 1000).toFixed(3),
      (point.generatorCpuMsPer1000 / 1000).toFixed(3),
      point.memberMemoryMiB === null ? "?" : point.memberMemoryMiB.toFixed(0),
    ]);
  }
  console.log(table.toString());
}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options !== null) {
    await benchPut(options);
  }
} catch (error) {
  if (error instanceof UsageError) {
    console.error(`npm run bench: ${error.message}\nSee npm run bench -- put --help`);
    process.exitCode = EXIT_USAGE;
  } else {
    console.error(error);
    process.exitCode = EXIT_FAILED;
  }
}
