/**
 * `npm run check`: all checks that do not run the product: types, lint and format, current generated code and
 * documents, tidiness, and plain English; two at a time. Prints each step with its time, the output of failed steps, and
 * at last the line `N passed, N failed`, with `, N skipped` if this machine lacks a tool for a step.
 */

import { mapWithLimit } from "../testing/index.ts";
import { type Command, repositoryRoot, runCommand, stopOnSignals } from "./command.ts";
import { GoMissing } from "./go/index.ts";
import { findDialect } from "./prose/index.ts";
import { findUntidiness } from "./tidy/index.ts";

const STEPS_AT_A_TIME = 2;
const STEP_LIMIT_MS = 5 * 60_000; // Each takes seconds; only a tool that hangs reaches this limit.

/** One line for each place, without colors. `npm run format` fixes what it can. */
const READABLE = ["--reporter=concise", "--colors=off", "--max-diagnostics=200"];

/** A step returns its complaints: none if it passed. It raises GoMissing if this machine cannot run it. */
interface Step {
  readonly name: string;
  readonly run: () => Promise<string[]>;
}

const STEPS: readonly Step[] = [
  // The longest, so it starts first.
  {
    name: "tests of the tools",
    run: () => runTool(process.execPath, ["scripts/test.ts", "--layer", "tools"]),
  },
  { name: "plain English", run: findDialect },
  {
    name: "types",
    run: async () => [
      ...(await runTool("tsc", ["--noEmit", "--pretty", "false", "-p", "tsconfig.json"])),
      // In a browser there are other names than in Node.
      ...(await runTool("tsc", ["--noEmit", "--pretty", "false", "-p", "console/tsconfig.json"])),
    ],
  },
  {
    name: "generated code",
    run: async () => [
      ...(await runTool(process.execPath, ["proto/scripts/generate.ts", "--check"])),
      ...(await runTool(process.execPath, ["node/scripts/metrics.ts", "--check"])),
      ...(await runTool(process.execPath, ["node/scripts/flags.ts", "--check"])),
      ...(await runTool(process.execPath, ["operator/scripts/generate.ts", "--check"])),
      ...(await runTool(process.execPath, ["operator/scripts/reference.ts", "--check"])),
      ...(await runTool(process.execPath, ["scripts/api/member-texts.ts", "--check"])),
      ...(await runTool(process.execPath, ["node/scripts/openapi.ts", "--check"])),
      ...(await runTool(process.execPath, ["scripts/api/main.ts", "--check"])),
      ...(await runTool(process.execPath, ["scripts/diagrams/main.ts", "--check"])),
    ],
  },
  { name: "lint and format", run: () => runTool("biome", ["ci", "--error-on-warnings", ...READABLE]) },
  {
    name: "tidiness",
    run: async () => findUntidiness(repositoryRoot).map(({ path, message }) => `${path}: ${message}`),
  },
];

async function runTool(program: string, args: Command["args"]): Promise<string[]> {
  const output: string[] = [];
  const { problem } = await runCommand({ program, args, limitMs: STEP_LIMIT_MS, onLine: (line) => output.push(line) });
  return problem === undefined ? [] : [...output, `${program}: ${problem}`];
}

type Outcome = "passed" | "failed" | "skipped";

async function report({ name, run }: Step): Promise<Outcome> {
  const startedMs = performance.now();
  let complaints: string[];
  try {
    complaints = await run();
  } catch (error) {
    if (!(error instanceof GoMissing)) {
      throw error;
    }
    process.stdout.write(`skipped ${name}: ${error.message}\n`);
    return "skipped";
  }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const passed = complaints.length === 0;
  process.stdout.write(`${passed ? "ok" : "FAILED"} ${name} (${seconds} s)\n`);
  for (const line of complaints) {
    process.stdout.write(`    ${line}\n`);
  }
  return passed ? "passed" : "failed";
}

stopOnSignals(() => undefined);
const outcomes = await mapWithLimit(STEPS, STEPS_AT_A_TIME, report);
const countOf = (outcome: Outcome): number => outcomes.filter((one) => one === outcome).length;
const skipped = countOf("skipped");
process.stdout.write(
  `${countOf("passed")} passed, ${countOf("failed")} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`,
);
process.exitCode = countOf("failed") > 0 ? 1 : 0;
