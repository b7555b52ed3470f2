/**
 * The process that runs a batch of spec files, one after the other. The test runner starts it; see `test.ts`.
 *
 * It prints a line per file, and writes events to the file named by `--events`. Besides failing tests it reports four
 * problems: a file without any test; with `QUOIN_TOOLS=all`, which says that this machine has every tool that a test
 * needs, a file that skips all of its tests; a process or a temporary file that outlives its spec file; a batch that
 * does not end by itself because it left something open.
 */
import { readFileSync, rmSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { inspect, parseArgs } from "node:util";
import fc from "fast-check";
import Mocha from "mocha";
import { removeTemporaryDirectories, testSeed } from "../testing/index.ts";
import { repositoryRoot } from "./command.ts";
import { describeProcess, findFiles, findProcesses, killProcesses, RUN_VARIABLE } from "./leftovers.ts";
import { writeEvent } from "./test-events.ts";

const EXIT_LIMIT_MS = 5_000; // Sockets and threads close in a moment, never this late.
/** In `/proc/PID/stat` after the name: user and system time of the process, and of its children. */
const PROCESSOR_FIELDS = [11, 15] as const;
const TICKS_PER_SECOND = 100;

const { values, positionals: files } = parseArgs({
  allowPositionals: true,
  options: { events: { type: "string" }, timeout: { type: "string" }, grep: { type: "string" } },
});
const events = required(values.events, "--events");
const timeoutMs = Number(required(values.timeout, "--timeout"));
const run = required(process.env[RUN_VARIABLE], RUN_VARIABLE);
const hasAllTools = process.env.QUOIN_TOOLS === "all";

fc.configureGlobal({ seed: testSeed() });

function required(value: string | undefined, name: string): string {
  if (value === undefined) {
    throw new Error(`${name} is missing`);
  }
  return value;
}

/** The results of one file. */
interface FileCounts {
  passed: number;
  failed: number;
  skipped: number;
}

function reportFailure(file: string, title: string, message: string): void {
  writeEvent(events, { kind: "fail", failure: { file, title, message } });
}

/** @returns the error as text: the stack, and for a failed comparison also the difference of both values */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) {
    return inspect(error);
  }
  const { actual, expected, showDiff } = error as { actual?: unknown; expected?: unknown; showDiff?: unknown };
  // Mocha's Base reporter has turned both values into text if a comparison makes sense.
  if (typeof actual === "string" && typeof expected === "string" && showDiff !== false) {
    return `${error.stack}\n${Mocha.reporters.Base.generateDiff(actual, expected)}`;
  }
  return inspect(error, { depth: 5 });
}

async function runFile(file: string): Promise<FileCounts> {
  const counts: FileCounts = { passed: 0, failed: 0, skipped: 0 };
  const mocha = new Mocha({ timeout: timeoutMs, forbidOnly: true, color: false, reporter: Mocha.reporters.Base });
  if (values.grep !== undefined) {
    mocha.grep(values.grep);
  }
  mocha.addFile(path.join(repositoryRoot, file));
  try {
    await mocha.loadFilesAsync();
    flushCompileCache(); // For the processes that its tests start, which need much of the same code.
  } catch (error) {
    counts.failed += 1;
    reportFailure(file, "could not be loaded", describeError(error));
    return counts;
  }
  if (mocha.suite.total() === 0) {
    counts.failed += 1;
    reportFailure(file, "has no tests", "A spec file without tests must not count as passed.");
    return counts;
  }
  const { EVENT_TEST_BEGIN, EVENT_TEST_PASS, EVENT_TEST_FAIL, EVENT_TEST_PENDING } = Mocha.Runner.constants;
  await new Promise<void>((resolve) => {
    mocha
      .run(() => resolve())
      .on(EVENT_TEST_BEGIN, (test) => writeEvent(events, { kind: "start", file, title: test.fullTitle() }))
      .on(EVENT_TEST_PASS, () => {
        counts.passed += 1;
        writeEvent(events, { kind: "pass" });
      })
      .on(EVENT_TEST_PENDING, () => {
        counts.skipped += 1;
        writeEvent(events, { kind: "skip" });
      })
      .on(EVENT_TEST_FAIL, (test, error) => {
        counts.failed += 1;
        reportFailure(file, test.fullTitle(), describeError(error));
      });
  });
  if (hasAllTools && counts.passed + counts.failed === 0 && counts.skipped > 0) {
    counts.failed += 1;
    reportFailure(file, "ran no test", "It skipped all of them, though this machine has every tool (QUOIN_TOOLS=all).");
  }
  mocha.dispose(); // Removes its listeners for uncaught errors, which would otherwise accumulate from file to file.
  counts.failed += reportLeftovers(file);
  return counts;
}

/** @returns how many kinds of leftovers the file caused; removes them, so that the next file is not blamed */
function reportLeftovers(file: string): number {
  let kinds = 0;
  const processes = findProcesses(run, process.pid);
  if (processes.length > 0) {
    kinds += 1;
    reportFailure(file, "left processes running", processes.map(describeProcess).join("\n"));
    killProcesses(processes);
  }
  try {
    removeTemporaryDirectories();
  } catch (error) {
    kinds += 1;
    reportFailure(file, "goes on filling a temporary directory", describeError(error));
  }
  const left = findFiles(tmpdir());
  if (left.length > 0) {
    kinds += 1;
    reportFailure(file, "left files in the temporary folder", left.join("\n"));
    for (const name of left) {
      rmSync(path.join(tmpdir(), name), { recursive: true, force: true });
    }
  }
  return kinds;
}

/** Seconds of a processor that this process and its ended children have used; 0 where the system does not tell. */
function processorSeconds(): number {
  if (process.platform !== "linux") {
    return 0;
  }
  // The name of the program, in parentheses, may contain spaces.
  const fields = readFileSync("/proc/self/stat", "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  const ticks = fields.slice(...PROCESSOR_FIELDS).reduce((sum, field) => sum + Number(field), 0);
  return ticks / TICKS_PER_SECOND;
}

function printFile(file: string, counts: FileCounts, durationMs: number, processorSecs: number): void {
  if (values.grep !== undefined && counts.passed + counts.failed + counts.skipped === 0) {
    return;
  }
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
  const verdict =
    counts.failed > 0 ? `FAILED (${counts.failed} failed, ${counts.passed} passed` : `ok (${counts.passed}`;
  const times = `${(durationMs / 1000).toFixed(1)} s, ${processorSecs.toFixed(1)} s of a core`;
  process.stdout.write(`${file} ${verdict}${skipped}) ${times}\n`);
}

for (const file of files) {
  const startedMs = performance.now();
  const usedSecs = processorSeconds();
  const counts = await runFile(file);
  if (counts.failed > 0) {
    process.exitCode = 1;
  }
  const durationMs = performance.now() - startedMs;
  printFile(file, counts, durationMs, processorSeconds() - usedSecs);
  writeEvent(events, { kind: "file", file, durationMs });
}
writeEvent(events, { kind: "end" });
// Does not keep the process alive: it only runs if something else does.
setTimeout(() => {
  const open = process.getActiveResourcesInfo();
  reportFailure(files.join(" "), "the process did not end by itself", `Still open: ${open.join(", ")}`);
  process.exit(1);
}, EXIT_LIMIT_MS).unref();
