/** `npm run conformance`: tests a cluster against the contract and ends with the line `N passed, N failed`. */

import type { Protocol, Target } from "./harness/index.ts";
import { ClusterLostError, LocalConformanceCluster } from "./local-cluster.ts";
import { parseOptions, UsageError } from "./options.ts";
import { Report } from "./report.ts";
import { run, testCasesOf } from "./run.ts";
import { operationTables, tables } from "./tables/index.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** @returns whether something passed and nothing failed. Rejects if the cluster is lost. */
async function test(
  target: Target,
  { grep, protocol }: { readonly grep: RegExp | null; readonly protocol: Protocol },
  lost?: Promise<never>,
): Promise<boolean> {
  const some = protocol === "grpc" ? tables : operationTables;
  const testCases = testCasesOf(some, target.endpoints.length, protocol).filter(
    ({ table, title }) => grep?.test(`${table.name}: ${title}`) ?? true,
  );
  const report = new Report(testCases, target.endpoints, (line) => console.log(line));
  await run(target, testCases, (result) => report.add(result), lost);
  return report.finish();
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2), process.env);
  if (options === null) {
    return;
  }
  const cluster = options.target === null ? await LocalConformanceCluster.start() : null;
  try {
    const target = options.target ?? (await cluster?.target());
    if (target === undefined) {
      throw new Error("there is nothing to test");
    }
    process.exitCode = (await test(target, options, cluster?.lost)) ? 0 : EXIT_FAILED;
  } finally {
    await cluster?.remove();
  }
}

try {
  await main();
} catch (error) {
  console.error(`npm run conformance: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
  if (error instanceof ClusterLostError) {
    console.error(error.evidence);
    // Do not wait for entries in progress: they cannot succeed, and may take long to fail.
    process.exit();
  }
}
