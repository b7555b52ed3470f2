/** `npm run conformance`: tests a cluster against the contract and ends with the line `N passed, N failed`. */

import type { Target } from "./harness/index.ts";
import { LocalConformanceCluster } from "./local-cluster.ts";
import { parseOptions, UsageError } from "./options.ts";
import { type Outcome, type Result, run, trialsOf } from "./run.ts";
import { tables } from "./tables/index.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

async function test(target: Target, grep: RegExp | null): Promise<Readonly<Record<Outcome, number>>> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const skipped = new Map<string, number>();
  const trials = trialsOf(tables, target.endpoints.length).filter(
    ({ table, title }) => grep?.test(`${table.name}: ${title}`) ?? true,
  );
  await run(target, trials, ({ trial, outcome, error }: Result) => {
    counts[outcome]++;
    if (outcome === "failed") {
      const { table, title, member } = trial;
      console.log(`FAILED ${table.name}: ${title}\n  at ${target.endpoints[member]}: ${error?.stack}\n`);
    } else if (outcome === "skipped") {
      const reason = error?.message ?? "";
      skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
    }
  });
  for (const [reason, count] of skipped) {
    console.log(`skipped ${count}: ${reason}`);
  }
  return counts;
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
    const { passed, failed, skipped } = await test(target, options.grep);
    console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
    process.exitCode = failed > 0 || passed === 0 ? EXIT_FAILED : 0;
  } finally {
    await cluster?.remove();
  }
}

try {
  await main();
} catch (error) {
  console.error(`npm run conformance: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
}
