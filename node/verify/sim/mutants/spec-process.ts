/**
 * The process that runs tests against a mutant, or without one. It runs the given spec files one after the other: the
 * tests whose titles contain the text of `--grep`, or match `--pattern`. It ends at the first failure that counts, and
 * reports to its parent.
 *
 * A failure counts if a test says what is wrong. If a module does not load, or a name or a property is missing,
 * something is broken, but no test has noticed the bug. A test that never ends counts if no other test says more.
 */

import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import fc from "fast-check";
import Mocha from "mocha";
import { testSeed } from "../../../../testing/index.ts";
import { repositoryRoot } from "./mutant.ts";
import type { SpecReport } from "./spec-report.ts";

/** Far longer than any of these tests takes on a busy machine. */
const TEST_LIMIT_MS = 20_000;
const LINE_LENGTH_MAX = 160;
const NO_VERDICT = new Set(["SyntaxError", "ReferenceError", "TypeError"]);

const { values, positionals: files } = parseArgs({
  allowPositionals: true,
  options: { grep: { type: "string" }, pattern: { type: "string" } },
});

let passed = 0;
let doubtful: string | null = null;
/** The first test that did not end. */
let unended: SpecReport | null = null;

function sendReport(report: SpecReport): void {
  process.send?.(report, () => process.exit(0));
}

/** The text without the parts that differ between runs or machines. */
function withoutPlaces(text: string): string {
  return text
    .replaceAll(`${tmpdir()}/`, "")
    .replaceAll(`${repositoryRoot}/`, "")
    .replaceAll(/(quoin-[a-z-]+-)\w{6}/g, "$1…");
}

/** The first line of the failure; for two texts, the first line in which they differ. */
function firstLine(error: Error): string {
  const { actual, expected } = error as { actual?: unknown; expected?: unknown };
  if (typeof actual === "string" && typeof expected === "string" && expected.includes("\n")) {
    const [ours, theirs] = [actual.split("\n"), expected.split("\n")];
    const at = theirs.findIndex((line, index) => line !== ours[index]);
    return `line ${at + 1} is "${ours[at] ?? ""}" instead of "${theirs[at] ?? ""}"`.slice(0, LINE_LENGTH_MAX);
  }
  const [line = ""] = error.message.split("\n");
  return withoutPlaces(`${error.name}: ${line}`).slice(0, LINE_LENGTH_MAX);
}

function isLimitExceeded(error: Error): boolean {
  return (error as { code?: unknown }).code === "ERR_MOCHA_TIMEOUT";
}

/** The title of the failed test, or of the test that a hook ran for. */
function titleOf(runnable: Mocha.Runnable): string {
  const test = (runnable as Mocha.Runnable & { ctx?: Mocha.Context }).ctx?.currentTest;
  return (test ?? runnable).fullTitle();
}

async function runFile(file: string): Promise<boolean> {
  const mocha = new Mocha({ timeout: TEST_LIMIT_MS, forbidOnly: true, reporter: Mocha.reporters.Base });
  if (values.grep !== undefined) {
    mocha.fgrep(values.grep);
  } else if (values.pattern !== undefined) {
    mocha.grep(new RegExp(values.pattern));
  }
  mocha.addFile(path.join(repositoryRoot, file));
  await mocha.loadFilesAsync();
  const { EVENT_TEST_PASS, EVENT_TEST_FAIL } = Mocha.Runner.constants;
  return await new Promise<boolean>((resolve) => {
    const runner = mocha.run(() => resolve(false));
    runner.on(EVENT_TEST_PASS, () => {
      passed++;
    });
    runner.on(EVENT_TEST_FAIL, (test, error: Error) => {
      const report: SpecReport = { kind: "failed", file, title: titleOf(test), rule: firstLine(error) };
      if (isLimitExceeded(error)) {
        unended ??= report;
      } else if (NO_VERDICT.has(error.name)) {
        doubtful ??= report.rule;
      } else {
        sendReport(report);
        resolve(true);
      }
    });
  });
}

async function main(): Promise<void> {
  // A killer must catch its mutant each time: random tests draw the same values in each run with the same seed.
  fc.configureGlobal({ seed: testSeed() });
  for (const file of files) {
    if (await runFile(file)) {
      return;
    }
  }
  if (unended !== null) {
    sendReport(unended);
  } else if (doubtful !== null) {
    sendReport({ kind: "doubtful", why: doubtful });
  } else {
    sendReport(passed === 0 ? { kind: "doubtful", why: "no test ran" } : { kind: "passed" });
  }
}

try {
  await main();
} catch (error) {
  sendReport({ kind: "doubtful", why: error instanceof Error ? firstLine(error) : String(error) });
}
