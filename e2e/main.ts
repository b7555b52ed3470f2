/**
 * `npm run e2e`: the tests in a real Kubernetes. It uses the cluster that KUBECONFIG names; or that of `npm run e2e:up`,
 * which it leaves as it was; or it starts its own and always removes it at the end. The last line is
 * `N passed, N failed, N skipped`. The exit code is 0 only if something passed and nothing failed. If no cluster is
 * available, it is 1, with one line that gives the reason.
 *
 *     npm run e2e -- --grep "node"                      tests whose title matches a regular expression
 *     npm run e2e -- e2e/kubernetes/cluster.spec.ts     these files
 *     npm run e2e -- --all                              longer: what takes too long for every change
 */

import { globSync } from "node:fs";
import { relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import Mocha from "mocha";
import { NoClusterHere, withCluster } from "./cluster/index.ts";
import { watchDurations } from "./durations.ts";
import { removeScenes } from "./kubernetes/index.ts";

const ROOT = resolve(import.meta.dirname, "..");
const SPECS = "e2e/kubernetes/**/*.spec.ts";
/** Limit of a single test: within it, pods start, and nodes are lost and return. */
const TIMEOUT_MS = 300_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: "boolean" }, grep: { type: "string" } },
});
// Specs run in this process, and read it.
process.env.QUOIN_E2E_ALL = values.all === true ? "1" : "";
const files = positionals.length > 0 ? positionals.map((file) => resolve(file)) : globSync(SPECS, { cwd: ROOT });

/**
 * Runs the specs and returns whether they succeed.
 *
 * @param stays whether the cluster stays afterwards
 */
async function runSpecs(stays: boolean): Promise<boolean> {
  const { grep } = values;
  const mocha = new Mocha({ timeout: TIMEOUT_MS, forbidOnly: true, ...(grep === undefined ? {} : { grep }) });
  for (const file of files.sort()) {
    mocha.addFile(resolve(ROOT, file));
  }
  await mocha.loadFilesAsync();
  const startedMs = performance.now();
  let durations = (): string[] => [];
  const failures: string[] = [];
  const stats = await new Promise<Mocha.Stats>((done) => {
    const runner = mocha.run(() => done(runner.stats as Mocha.Stats));
    durations = watchDurations(runner);
    runner.on("fail", (test, error: Error) => failures.push(...describeFailure(test, error)));
  });
  if (stays) {
    await removeScenes();
  }
  for (const line of durations()) {
    console.log(line);
  }
  for (const line of failures) {
    console.log(line);
  }
  console.log(`tests took ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  console.log(`${stats.passes} passed, ${stats.failures} failed, ${stats.pending} skipped`);
  return stats.passes > 0 && stats.failures === 0;
}

/** What failed, why, and how to repeat it, as the other commands print it. */
function describeFailure(test: Mocha.Runnable, error: Error): string[] {
  const file = relative(ROOT, test.file ?? "");
  const [reason = ""] = error.message.split("\n");
  return [`FAILED ${file}: ${test.fullTitle()}`, `    ${reason}`, `    again: npm run e2e -- --all ${file}`];
}

try {
  process.exitCode = (await withCluster(runSpecs)) ? 0 : 1;
} catch (error) {
  if (!(error instanceof NoClusterHere)) {
    throw error;
  }
  console.error(error.message);
  process.exitCode = 1;
}
